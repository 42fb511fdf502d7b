"""What commands share, and how what they found is shown."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from builders import write_tree
from click.testing import CliRunner
from fakes import configure
from hypothesis import given
from hypothesis import strategies as st

from semantic_search.cli.cat import cat_command
from semantic_search.cli.index import counts
from semantic_search.cli.interrupt import until_interrupted
from semantic_search.cli.progress import Reporter, format_seconds
from semantic_search.cli.results import excerpt, preview, show_hit
from semantic_search.cli.session import note, open_corpus, show, show_json
from semantic_search.cli.style import Style
from semantic_search.errors import FolderError
from semantic_search.folders import Folder
from semantic_search.runs import FolderReport, Step
from semantic_search.types import Chunk, Hit, Skip

Captured = pytest.CaptureFixture[str]
posix = pytest.mark.skipif(os.name == "nt", reason="a colon is no part of a name on Windows")


def cat(*args: str) -> tuple[int, str]:
    """The exit status and stdout of `cat`."""
    try:
        done = CliRunner().invoke(cat_command, list(args), standalone_mode=False, catch_exceptions=False)
    except FolderError as error:
        return 2, str(error)
    return done.exit_code, done.stdout


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("a.md", "one\ntwo\nthree\n"),
        ("a.md:2", "two\n"),
        ("a.md:2-3", "two\nthree\n"),
        ("notes/a.md:2-99", "two\nthree\n"),
        pytest.param("a.md:1-2:1", "whole\n", marks=posix),
        pytest.param("a.md:7", "named\n", marks=posix),
        pytest.param("a.md:7:1", "named\n", marks=posix),
    ],
)
def test_cat_a_range_after_a_name_or_a_name_that_looks_like_one(
    tmp_path: Path, own_environment: Path, argument: str, expected: str
) -> None:
    folder = write_tree(tmp_path / "notes", {"a.md": "one\ntwo\nthree\n"})
    if os.name == "posix":
        write_tree(folder, {"a.md:1-2": "whole\nrest\n", "a.md:7": "named\n"})
    configure(own_environment, [folder])
    assert cat(argument) == (0, expected)
    assert cat("b.md:2")[0] == 2


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (10**6, "277 h 46 min"),
    ],
)
def test_a_span_of_time(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


def test_results_go_to_stdout_and_notes_to_stderr(capsys: Captured) -> None:
    show("result\nforged\x1b[2J")
    show_json({"a": "ж\ud800"})
    note("note\x1b[2J")
    found = capsys.readouterr()
    assert found.out == 'result\\nforged\\x1b[2J\n{"a": "ж\ufffd"}\n'
    assert found.err == "note\\x1b[2J\n"


HIT = Hit("/notes", "notes", "a\nb.md", "markdown", Chunk(0, 9, 3, 4, "two\n\twords", "A > B"), 0.5)


def test_a_hit_is_one_line_with_tabs_between_its_fields(capsys: Captured) -> None:
    show_hit(HIT, ["word"], Style())
    (line,) = capsys.readouterr().out.splitlines()
    where, score, place, text = line.split("\t")
    assert where.endswith("a\\nb.md:3")
    assert (score, place, text) == ("0.500", "A > B", "two words")


@given(st.text(), st.integers(2, 40))
def test_a_preview_is_one_line_of_a_width(text: str, width: int) -> None:
    shown = preview(Hit("/f", "f", "a", "text", Chunk(0, len(text), 1, 1, text), 1.0), width)
    assert len(shown) <= width
    assert shown.splitlines() in ([], [shown])


@given(
    st.text(st.characters(categories=("L", "Zs")), max_size=300),
    st.lists(st.integers(0, 290), max_size=6),
    st.integers(40, 120),
)
def test_an_excerpt_is_a_part_of_the_text_with_what_was_found_in_it(
    text: str, starts: list[int], width: int
) -> None:
    spans = [(n, n + 3) for n in sorted({n // 5 * 5 for n in starts}) if n + 3 <= len(text)]
    part, inside = excerpt(text, spans, width)
    assert len(part) <= width
    assert part.removeprefix("…").removesuffix("…") in text
    assert {part[a:b] for a, b in inside} <= {text[a:b] for a, b in spans}


def test_an_excerpt_shows_where_most_of_the_question_is() -> None:
    text = "tomato " + "filler " * 60 + "seedlings want water and sun " + "filler " * 60
    at = text.index("seedlings")
    spans = [(0, 6), (at, at + 9), (at + 15, at + 20)]
    part, inside = excerpt(text, spans, 60)
    assert part.startswith("…")
    assert part.endswith("…")
    assert [part[a:b] for a, b in inside] == ["seedlings", "water"]
    assert excerpt("short", [(0, 5)], 60) == ("short", [(0, 5)])


def test_progress_the_report_goes_to_stdout_and_nothing_else(capsys: Captured) -> None:
    report = FolderReport("notes", "/notes", processed=1, chunks=2, skipped={"empty": 1}, notes=["told"])
    with Reporter(verbose=False, quiet=False) as reporter:
        reporter.folder_starts(1, 3, Folder("notes", "/notes"))
        reporter.step(Step("a.md", None, 2, 1, 3, 5, 9))
        reporter.step(Step("same.md", None, 0, 2, 3, 7, 9))
        reporter.step(Step("b.md", Skip.EMPTY, 0, 3, 3, 9, 9))
        reporter.folder_ends(report)
        reporter.embedding(0, 2)
        reporter.embedding(2, 2)
    found = capsys.readouterr()
    lines = found.out.splitlines()
    assert lines[0] == "[1/3] notes  /notes"
    assert lines[1] == "  a.md  (2 passages)"
    assert lines[2] == f"  {counts(report)}"
    assert len(lines) == 3
    assert found.err == "told\n"


def test_progress_verbose_names_skipped_files_and_quiet_nothing(capsys: Captured) -> None:
    step = Step("b.md", Skip.EMPTY, 0, 1, 1, 1, 1)
    with Reporter(verbose=True, quiet=False) as reporter:
        reporter.step(step)
    assert capsys.readouterr().out == "  b.md  skipped: no text in it\n"
    with Reporter(verbose=True, quiet=True) as reporter:
        reporter.folder_starts(1, 1, Folder("notes", "/notes"))
        reporter.step(step)
        reporter.folder_ends(FolderReport("notes", "/notes", error="broken"))
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err == "broken\n"


def test_counts_in_words() -> None:
    report = FolderReport("n", "/n", processed=2, unchanged=3, touched=1, deleted=4, failed=1, chunks=9)
    report.skipped = {"empty": 2, "binary": 1}
    text = counts(report)
    for part in (
        "2 files indexed (9 passages)",
        "4 unchanged",
        "4 deleted",
        "3 skipped",
        "1 binary, 2 empty",
        "1 failed",
    ):
        assert part in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_the_first_signal_asks_and_the_second_ends(
    number: signal.Signals, capsys: Captured
) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), until_interrupted() as stop:
        assert not stop()
        signal.raise_signal(number)
        assert stop()
        signal.raise_signal(number)
    assert signal.getsignal(number) is before
    assert "stopping" in capsys.readouterr().err


def test_session_unknown_keys_are_told(own_environment: Path, capsys: Captured) -> None:
    configure(own_environment, defaultTopk=7)
    with open_corpus() as corpus:
        assert corpus.settings.top_k == 5
    assert "defaultTopk (did you mean defaultTopK?)" in capsys.readouterr().err
