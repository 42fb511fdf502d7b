"""What a person sees on a terminal, and what a pipe gets instead."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from builders import write_tree
from command_line import PATIENCE, Command, Environment, environment, on_terminal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX's")

ESCAPE = "\x1b"


def test_search_shows_a_table_in_colour(run: Command, indexed: Path) -> None:
    shown, status = on_terminal(run.argv("search", "seedlings", "-k", "2"))
    assert status == 0
    assert ESCAPE + "[" in shown
    plain = on_terminal(run.argv("search", "seedlings", "-k", "2"), {"NO_COLOR": "1"})[0]
    header = next(line for line in plain.split("\r\n") if "preview" in line)
    assert header.split() == ["path", "line", "score", "preview"]
    assert "notes/garden.md" in plain
    assert "Tomato seedlings" in plain
    assert '"filePath"' not in plain


def test_no_colour_when_it_is_not_wanted(run: Command, indexed: Path) -> None:
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown, _ = on_terminal(run.argv("search", "seedlings"), env)
        assert ESCAPE not in shown
    assert ESCAPE not in run("search", "seedlings", env={"TERM": "xterm", "FORCE_COLOR": "1"}).stdout


def test_a_narrow_terminal_cuts_the_preview_not_the_path(run: Command, indexed: Path) -> None:
    shown, _ = on_terminal(run.argv("search", "seedlings", "-k", "1"), {"NO_COLOR": "1"}, columns=60)
    lines = [line for line in shown.split("\r\n") if "garden.md" in line]
    assert lines
    assert all(len(line) <= 60 for line in shown.split("\r\n") if "wait for a vector" not in line)


def test_index_shows_a_bar_and_no_json(run: Command, notes: Path) -> None:
    run("add", notes)
    shown, status = on_terminal(run.argv("index"))
    assert status == 0
    assert "making vectors" in shown
    assert "[1/1] notes" in shown
    assert "total: 3 files indexed" in shown
    assert '{"filesProcessed"' not in shown
    assert '{"filesProcessed"' in on_terminal(run.argv("index", "--json"))[0]


def test_index_with_its_progress_on_a_terminal_and_its_report_in_a_pipe(run: Command, notes: Path) -> None:
    run("add", notes)
    command = shlex.join(os.fsdecode(part) for part in run.argv("index"))
    report = notes.parent / "report"
    shown, status = on_terminal(["sh", "-c", f"{command} > '{report}'"])
    assert status == 0
    assert ESCAPE not in report.read_text()
    assert report.read_text().split("\n")[-2].startswith('{"filesProcessed": 3')
    assert "total:" not in shown


def test_results_piped_to_a_reader_that_has_enough(run: Command, tmp_path: Path) -> None:
    many = write_tree(tmp_path / "many", {f"{n}.md": f"walnut {n} " * 4000 for n in range(12)})
    run("add", many)
    run("index", "--no-embed")
    for arguments in (
        ["search", "--no-refresh", "walnut", "-k", "1000", "--json"],
        ["grep", "walnut"],
        ["cat", "many/1.md"],
        ["gather", "--no-refresh", "walnut", "-k", "1000", "--max-tokens", "1000000"],
        ["index", "--force", "--no-embed"],
    ):
        with subprocess.Popen(
            run.argv(*arguments),
            env=environment(None),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as child:
            assert child.stdout is not None
            assert child.stderr is not None
            child.stdout.read(1)
            child.stdout.close()
            said = child.stderr.read().decode()
            assert child.wait(PATIENCE) == 0, arguments
            assert "Error" not in said
            assert "Traceback" not in said
            assert "Exception" not in said
    assert run("doctor", status=2).stdout.count("MEND") == 1


def test_control_characters_of_files_never_reach_a_terminal(run: Command, tmp_path: Path) -> None:
    evil = "walnut \x1b]0;pwned\x07 \x1b[2J\u202e \x9b31m end\n"
    files: dict[str, str | bytes] = {"a\x1b[31m.md": "walnut one\n", "b\nc.md": "walnut two\n", "d.md": evil}
    folder = write_tree(tmp_path / "evil", files)
    run("add", folder)
    run("index", "--no-embed")
    for arguments in (
        ["search", "walnut"],
        ["search", "walnut", "-C", "1"],
        ["search", "walnut", "--files"],
        ["search", "walnut", "--explain"],
        ["gather", "walnut"],
        ["grep", "walnut"],
        ["cat", "evil/d.md"],
        ["index", "--force", "--no-embed", "--verbose"],
        ["status", "--skipped"],
    ):
        shown, _ = on_terminal(run.argv(*arguments), {"NO_COLOR": "1"})
        for bad in ("\x1b]", "\x1b[2J", "\x1b[31m", "\x07", "\x9b", "\u202e"):
            assert bad not in shown, (arguments, bad)
    listed = run("search", "walnut", "--files", "-k", "9").lines
    assert len(listed) == 3
    assert any("a\\x1b[31m.md" in line for line in listed)
    assert any("b\\nc.md" in line for line in listed)


def test_text_of_any_script_comes_out_whatever_the_locale(run: Command, notes: Path) -> None:
    (notes / "сад.md").write_text("# Сад\n\nРозсаду томатів висаджують у травні.\n")
    run("add", notes)
    run("index", "--no-embed")
    environments: list[Environment] = [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C"},
        {"LC_ALL": "POSIX", "LANG": None},
    ]
    for env in environments:
        assert "Розсаду томатів" in run("search", "розсада", "--no-refresh", env=env).stdout
        assert "Розсаду" in run("cat", "notes/сад.md", env=env).stdout
        assert "сад.md" in run("search", "--json", "--no-refresh", "розсада", env=env).stdout
        assert "немає.md" in run("cat", "немає.md", env=env, status=2).stderr
