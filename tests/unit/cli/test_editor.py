"""How an editor is found, and how it is told of a line."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from semantic_search.cli.editor import EDITORS, editor_command, open_in_editor, place_arguments
from semantic_search.errors import SettingsError

posix = pytest.mark.skipif(os.name != "posix", reason="scripts with `#!`")


@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("vim", ["+12", "/n/a b.md"]),
        ("/usr/bin/nvim", ["+12", "/n/a b.md"]),
        ("nano", ["+12", "/n/a b.md"]),
        ("emacs", ["+12", "/n/a b.md"]),
        ("emacs-29.4", ["+12", "/n/a b.md"]),
        ("kak", ["+12", "/n/a b.md"]),
        ("hx", ["/n/a b.md:12"]),
        ("subl", ["/n/a b.md:12"]),
        ("zed", ["/n/a b.md:12"]),
        ("code", ["--goto", "/n/a b.md:12"]),
        ("Code.exe", ["--goto", "/n/a b.md:12"]),
        ("code.cmd", ["--goto", "/n/a b.md:12"]),
        ("cursor", ["--goto", "/n/a b.md:12"]),
        ("idea", ["--line", "12", "/n/a b.md"]),
        ("idea64.exe", ["--line", "12", "/n/a b.md"]),
        ("pycharm.sh", ["--line", "12", "/n/a b.md"]),
        ("notepad++.exe", ["-n12", "/n/a b.md"]),
        ("mate", ["-l", "12", "/n/a b.md"]),
        ("ed", ["/n/a b.md"]),
    ],
)
def test_each_editor_is_told_of_a_line_in_its_own_way(program: str, arguments: list[str]) -> None:
    assert place_arguments(program, "/n/a b.md", 12) == arguments
    assert place_arguments(program, "/n/a b.md", None) == ["/n/a b.md"]


@pytest.mark.parametrize("name", EDITORS)
def test_the_file_and_the_line_are_in_what_an_editor_is_given(name: str) -> None:
    given = place_arguments(name, "/{line}/a", 345)
    assert sum("/{line}/a" in part for part in given) == 1
    assert sum("345" in part for part in given) == 1


def script(place: Path, name: str, body: str) -> Path:
    place.mkdir(exist_ok=True)
    path = place / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@posix
def test_the_setting_goes_before_visual_and_visual_before_editor(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        script(tmp_path / "bin", name, "exit 0")
    env = {"PATH": str(tmp_path / "bin"), "VISUAL": "two", "EDITOR": "three"}
    found = [
        editor_command("one -w", env),
        editor_command("", env),
        editor_command("", {**env, "VISUAL": " "}),
    ]
    assert [[os.path.basename(words[0]), *words[1:]] for words in found] == [
        ["one", "-w"],
        ["two"],
        ["three"],
    ]


@posix
def test_an_editor_may_have_arguments_and_a_path_with_blanks(tmp_path: Path) -> None:
    path = script(tmp_path / "my editors", "ed", "exit 0")
    assert editor_command(f"'{path}' --wait 'a b'", {}) == [str(path), "--wait", "a b"]
    assert editor_command(str(path), {}) == [str(path)]


@pytest.mark.parametrize(
    ("env", "told"),
    [
        ({}, "no editor is known: set $VISUAL or $EDITOR"),
        ({"EDITOR": "no-such-editor -w"}, "the editor no-such-editor of $EDITOR is not there"),
        ({"VISUAL": "vim 'unclosed"}, "is not a command"),
    ],
)
def test_what_is_wrong_with_an_editor_is_told(env: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError) as error:
        editor_command("", {"PATH": os.environ["PATH"], **env})
    assert told in str(error.value)


@posix
def test_an_editor_that_fails_is_an_error(tmp_path: Path) -> None:
    failing = script(tmp_path, "vim", "exit 3")
    with pytest.raises(SettingsError, match="ended with exit status 3"):
        open_in_editor([str(failing)], "/n/a.md", 1)
    with pytest.raises(SettingsError, match="cannot be run"):
        open_in_editor([str(tmp_path)], "/n/a.md", 1)


def test_a_batch_file_is_not_given_a_name_that_would_act() -> None:
    with pytest.raises(SettingsError, match="a batch file cannot be given this name"):
        open_in_editor(["C:\\code.CMD"], "C:\\notes\\a&calc.md", 1)
