"""`--editor` opens a result at its line: the editor here writes down what it was given."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from builders import write_tree
from command_line import Command

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the editor is a script with `#!`")

_EDITOR = """#!{python}
import json, os, sys
given = [os.fsencode(argument).hex() for argument in sys.argv[1:]]
open({record!r}, "a").write(json.dumps(given) + "\\n")
"""


class Editor:
    """A program that records its arguments, under the name of a real editor."""

    def __init__(self, place: Path, name: str) -> None:
        self._record = place / f"{name}.record"
        self.program = place / name
        self.program.write_text(_EDITOR.format(python=sys.executable, record=str(self._record)))
        self.program.chmod(0o755)

    @property
    def given(self) -> list[list[str]]:
        """The arguments of every time it was run."""
        if not self._record.exists():
            return []
        lines = self._record.read_text().splitlines()
        return [[os.fsdecode(bytes.fromhex(part)) for part in json.loads(line)] for line in lines]


@pytest.fixture
def vim(tmp_path: Path) -> Editor:
    return Editor(tmp_path, "vim")


def test_the_first_hit_or_another_is_opened_at_its_line(run: Command, indexed: Path, vim: Editor) -> None:
    (indexed / "late.md").write_text("nothing\n" * 400 + "\n# Walnuts\n\nWalnuts ripen in October.\n")
    env = {"EDITOR": str(vim.program)}
    hits = run("search", "walnuts ripen in the garden", "--json").document
    assert hits[0]["startLine"] > 300
    shown = run("search", "walnuts ripen in the garden", "--editor", env=env).lines
    run("search", "walnuts ripen in the garden", "--editor", "--hit", "2", env=env)
    assert vim.given == [[f"+{hit['startLine']}", hit["filePath"]] for hit in hits[:2]]
    assert len(shown) == len(hits), "the results are shown as well"


def test_grep_related_and_passages_can_be_opened_too(run: Command, indexed: Path, vim: Editor) -> None:
    env = {"VISUAL": f"{vim.program} -R", "EDITOR": "no-such-editor"}
    retry = str(indexed / "retry.md")
    run("grep", "gateway", "--editor", env=env)
    run("related", f"{indexed / 'garden.md'}:1", "--editor", "--in", retry, status=None, env=env)
    run("search", "gateway", "-C", "1", "--editor", env=env)
    run("search", "gateway", "--files", "--editor", env=env)
    assert vim.given[0] == ["-R", "+3", retry]
    assert vim.given[-2:] == [["-R", "+1", retry]] * 2


def test_a_name_of_any_bytes_reaches_the_editor_as_it_is(run: Command, tmp_path: Path, vim: Editor) -> None:
    names = ["--cmd.md", "$(touch pwned) `touch pwned`; touch pwned.md", "сад\n\udcff.md"]
    folder = write_tree(tmp_path / "names", dict.fromkeys(names, "walnut\n"))
    run("add", folder)
    for number in "123":
        run("grep", "walnut", "--editor", "--hit", number, cwd=folder, env={"EDITOR": str(vim.program)})
    assert sorted(vim.given) == sorted(["+1", os.path.join(os.path.realpath(folder), name)] for name in names)
    assert not (folder / "pwned").exists()


def test_the_setting_names_an_editor(run: Command, indexed: Path, tmp_path: Path) -> None:
    helix = Editor(tmp_path, "hx")
    run("config", "editor", str(helix.program))
    run("grep", "seedlings", "--editor", env={"EDITOR": "no-such-editor"})
    assert helix.given == [[f"{indexed / 'garden.md'}:3"]]


def test_a_document_is_opened_without_a_line(run: Command, tmp_path: Path, vim: Editor) -> None:
    page = "<html><body><h1>Walnuts</h1><p>Walnuts ripen in October.</p></body></html>"
    folder = write_tree(tmp_path / "pages", {"a.html": page})
    run("add", folder)
    done = run("grep", "october", "--editor", env={"EDITOR": str(vim.program)})
    assert vim.given == [[str(folder / "a.html")]]
    assert "is a document" in done.stderr


def test_what_cannot_be_opened_is_told(run: Command, indexed: Path, vim: Editor) -> None:
    none = {"EDITOR": None, "VISUAL": None}
    assert "no editor is known" in run("search", "gateway", "--editor", status=2, env=none).stderr
    env = {"EDITOR": str(vim.program)}
    assert (
        "there is no result 9" in run("search", "gateway", "--editor", "--hit", "9", status=2, env=env).stderr
    )
    assert "--hit goes with --editor" in run("grep", "gateway", "--hit", "1", status=2, env=env).stderr
    run("grep", "no such line anywhere", "--editor", status=1, env=env)
    assert vim.given == []
