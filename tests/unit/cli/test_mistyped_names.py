"""A mistyped name of each kind is answered with the one that was meant, in one and the same words."""

from __future__ import annotations

import os
from pathlib import Path

import click
import pytest
from builders import write_tree
from click.testing import CliRunner

from semantic_search.cli import command
from semantic_search.errors import SemanticSearchError

COMMANDS = [
    (["serach", "tomato"], "there is no command serach (did you mean search?)"),
    (["--hlep"], "there is no option --hlep (did you mean --help?)"),
    (["search", "tomato", "--explian"], "there is no option --explian (did you mean --explain?)"),
    (["config", "defaultTopk"], "there is no setting defaultTopk (did you mean defaultTopK?)"),
    (["config", "chunk.targetToken", "100"], "(did you mean chunk.targetTokens?)"),
    (["config", "storeBackend", "sqlitee"], '"sqlitee" (did you mean sqlite?)'),
    (["status", "--store", "lancdb"], "(did you mean lancedb?)"),
    (["init", "--client", "claude-cod"], "(did you mean claude-code?)"),
    (["completion", "bsh"], "(did you mean bash?)"),
    (["remove", "nots"], "nots: not a configured folder (did you mean notes?)"),
    (["search", "--in", "ntoes", "tomato"], "ntoes: not in an indexed folder (did you mean notes?)"),
    (["search", "--lang", "pyhton", "tomato"], "(did you mean python?)"),
    (["index", "--engine", "ry"], "there is no engine ry (did you mean ray?)"),
]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A configured folder that is not indexed: none of these comes so far."""
    folder = write_tree(tmp_path / "notes", {"a.md": "Tomato seedlings go outdoors in May.\n"})
    assert told("add", folder) == ""
    return folder


def told(*args: str | Path) -> str:
    """The error that a command ends with, "" where there is none; in this process, for speed."""
    ran = CliRunner().invoke(command, [os.fspath(arg) for arg in args], standalone_mode=False)
    if isinstance(ran.exception, click.ClickException):
        return ran.exception.format_message()
    assert ran.exception is None or isinstance(ran.exception, SemanticSearchError)
    return str(ran.exception or "")


@pytest.mark.parametrize(("args", "message"), COMMANDS)
def test_a_mistyped_name_is_told_what_was_meant(notes: Path, args: list[str], message: str) -> None:
    assert message in told(*args)


def test_a_mistyped_path_is_told_the_folder_that_was_meant(notes: Path) -> None:
    near = notes.parent / "ntoes"
    meant = f"(did you mean {os.path.realpath(notes)}?)"
    assert meant in told("search", "--in", near, "tomato")
    assert meant in told("remove", near)
    for name in ("add", "index", "init"):
        assert f"there is no such folder {meant}" in told(name, near)


def test_a_mistyped_model_is_told_which_was_meant(notes: Path, tmp_path: Path) -> None:
    assert told("config", "modelName", "multilingual-e5-smal") == ""
    ran = CliRunner().invoke(command, ["index"], standalone_mode=False)
    assert "(did you mean multilingual-e5-small?)" in f"{ran.output}{ran.exception}"


def test_a_folder_may_be_indexed_by_its_name(notes: Path) -> None:
    ran = CliRunner().invoke(command, ["index", "notes", "--no-embed", "--json"], standalone_mode=False)
    assert '"filesProcessed": 1' in ran.output


def test_nothing_is_suggested_where_nothing_is_close(notes: Path) -> None:
    for args in (["xyzzy"], ["search", "--in", "xyzzy", "tomato"], ["config", "xyzzy"], ["list", "--xyzzy"]):
        message = told(*args)
        assert "xyzzy" in message
        assert "did you mean" not in message
