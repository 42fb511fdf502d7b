"""When colours and links are wanted, and how they are written."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_search.cli.style import Style, colour_wanted, file_uri, links_wanted, style_for

Environment = dict[str, str]


@pytest.mark.parametrize(
    ("when", "environment", "terminal", "wanted"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "3", "TERM": "dumb"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, True, False),
        ("auto", {"FORCE_COLOR": ""}, False, False),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_when_colours_are_wanted(when: str, environment: Environment, terminal: bool, wanted: bool) -> None:
    assert colour_wanted(when, environment, terminal=terminal) is wanted


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({"TERM": "xterm-256color"}, False),
        ({"VTE_VERSION": "5000"}, False),
        ({"VTE_VERSION": "5202"}, True),
        ({"VTE_VERSION": "7600"}, True),
        ({"VTE_VERSION": "new"}, False),
        ({"KONSOLE_VERSION": "200800"}, False),
        ({"KONSOLE_VERSION": "220401"}, True),
        ({"WT_SESSION": "4a4c"}, True),
        ({"KITTY_WINDOW_ID": "1"}, True),
        ({"TERM": "xterm-kitty"}, True),
        ({"TERM": "alacritty"}, True),
        ({"TERM": "foot-extra"}, True),
        ({"TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.0.15"}, False),
        ({"TERM_PROGRAM": "iTerm.app", "TERM_PROGRAM_VERSION": "3.4.23"}, True),
        ({"TERM_PROGRAM": "vscode", "TERM_PROGRAM_VERSION": "1.71.2"}, False),
        ({"TERM_PROGRAM": "vscode", "TERM_PROGRAM_VERSION": "1.96.0"}, True),
        ({"TERM_PROGRAM": "WezTerm", "TERM_PROGRAM_VERSION": "20240203-110809-5046fc22"}, True),
        ({"TERM_PROGRAM": "ghostty"}, True),
        ({"TERM_PROGRAM": "Apple_Terminal", "TERM_PROGRAM_VERSION": "453"}, False),
        ({"VTE_VERSION": "7600", "CI": "true"}, False),
        ({"VTE_VERSION": "7600", "STY": "1.pts-0"}, False),
        ({"VTE_VERSION": "7600", "FORCE_HYPERLINK": "0"}, False),
        ({"FORCE_HYPERLINK": "1"}, True),
        ({"FORCE_HYPERLINK": "", "VTE_VERSION": "7600"}, True),
    ],
)
def test_which_terminals_have_links(environment: Environment, wanted: bool) -> None:
    assert links_wanted(environment, terminal=True) is wanted
    assert links_wanted(environment, terminal=False) is (environment.get("FORCE_HYPERLINK") == "1")


def test_links_never_come_without_colours() -> None:
    forced = {"FORCE_HYPERLINK": "1", "VTE_VERSION": "7600"}
    assert style_for("auto", forced, terminal=False) == Style()
    assert style_for("auto", {**forced, "NO_COLOR": "1"}, terminal=True) == Style()
    assert style_for("auto", forced, terminal=True).links
    assert style_for("always", forced, terminal=False).links


@pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/home/me/a.md", "file://box/home/me/a.md"),
        ("/home/me/my notes/a;b#c?.md", "file://box/home/me/my%20notes/a%3Bb%23c%3F.md"),
        ("/сад/ї.md", "file://box/%D1%81%D0%B0%D0%B4/%D1%97.md"),
        ("/a\udcff\n\x1b\\", "file://box/a%FF%0A%1B%5C"),
        ("/100%", "file://box/100%25"),
    ],
)
def test_the_address_of_a_file(path: str, uri: str) -> None:
    assert file_uri(path, "box") == uri


def test_the_host_of_an_address_is_this_machine_or_the_distribution_that_windows_knows() -> None:
    forced = {"FORCE_HYPERLINK": "1"}
    assert style_for("auto", forced, terminal=True).host
    under_windows = {**forced, "WSL_DISTRO_NAME": "Ubuntu 24.04"}
    assert style_for("auto", under_windows, terminal=True).host == "wsl$/Ubuntu%2024.04"


@given(st.text(st.characters(codec="utf-8", exclude_characters="\x1b")), st.data())
def test_marks_change_nothing_of_a_text(text: str, data: st.DataObject) -> None:
    ends = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    spans = list(zip(ends[::2], ends[1::2], strict=False))
    marked = Style(colour=True).marked(text, spans)
    assert marked.replace("\x1b[1;31m", "").replace("\x1b[0m", "") == text
    assert marked.count("\x1b[1;31m") == len(spans)
    assert Style().marked(text, spans) == text
    assert Style().place(text, "/a") == text
