"""A mistyped name of each kind is answered with the one that was meant, in one and the same words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import Command

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


@pytest.mark.parametrize(("args", "told"), COMMANDS)
def test_a_mistyped_name_is_told_what_was_meant(
    run: Command, indexed: Path, args: list[str], told: str
) -> None:
    assert told in run(*args, status=2).stderr


def test_a_mistyped_path_is_told_the_folder_that_was_meant(run: Command, indexed: Path) -> None:
    near = indexed.parent / "ntoes"
    meant = f"(did you mean {os.path.realpath(indexed)}?)"
    assert meant in run("search", "--in", near, "tomato", status=2).stderr
    assert meant in run("remove", near, status=2).stderr
    for command in ("add", "index", "init"):
        assert f"there is no such folder {meant}" in run(command, near, status=2).stderr


def test_a_mistyped_model_is_told_which_was_meant(run: Command, indexed: Path) -> None:
    run("config", "modelName", "multilingual-e5-smal")
    assert "(did you mean multilingual-e5-small?)" in run("index", status=None).stderr


def test_a_folder_may_be_indexed_by_its_name(run: Command, notes: Path, tmp_path: Path) -> None:
    run("add", notes)
    assert run("index", "notes", "--no-embed", "--json", cwd=tmp_path.parent).document["filesProcessed"] == 3


def test_nothing_is_suggested_where_nothing_is_close(run: Command, indexed: Path) -> None:
    for args in (["xyzzy"], ["search", "--in", "xyzzy", "tomato"], ["config", "xyzzy"], ["list", "--xyzzy"]):
        assert "did you mean" not in run(*args, status=2).stderr
