"""What a person sees on a terminal, and what a pipe gets instead."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest
from builders import write_tree
from command_line import PATIENCE, Command, Environment, environment, on_terminal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX's")

ESCAPE = "\x1b"
MATCH, END = "\x1b[1;31m", "\x1b[0m"


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
    """The rules are those of `tests/unit/cli/test_style.py`; here they reach every command that colours."""
    place = f"{indexed / 'garden.md'}:1"
    for arguments in (["search", "seedlings"], ["grep", "seedlings"], ["related", place]):
        for env in ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, {"TERM": "dumb"}):
            assert ESCAPE not in on_terminal(run.argv(*arguments), env)[0]
        assert ESCAPE not in run(*arguments, env={"TERM": "xterm", "VTE_VERSION": "7600"}).stdout
    assert ESCAPE not in on_terminal(run.argv("search", "seedlings", "--color", "never"))[0]


def test_colour_in_a_pipe_for_whoever_asks_for_it(run: Command, indexed: Path) -> None:
    """What is beside the colours is what a pipe gets without them."""
    for arguments in (["search", "seedlings"], ["grep", "seedlings"], ["search", "seedlings", "-C", "1"]):
        plain = run(*arguments).stdout
        for coloured in (
            run(*arguments, env={"FORCE_COLOR": "1"}).stdout,
            run(*arguments, "--color", "always", env={"NO_COLOR": "1"}).stdout,
        ):
            assert f"{MATCH}seedlings{END}" in coloured
            assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain
    assert ESCAPE not in run("search", "seedlings", "--json", "--color", "always").stdout


def test_words_are_brought_out_whatever_their_ending(run: Command, tmp_path: Path) -> None:
    folder = write_tree(
        tmp_path / "words",
        {
            "uk.md": "Розсаду висаджують у травні, коли розсада вже міцна.\n",
            "ru.md": "Резервные копии хранятся месяц; без резервной копии базу не вернуть.\n",
            "en.md": "The gateway was retrying; it retries five times, and every retry waits.\n",
            "code.py": "def restart_worker_pool(pool):\n    return RestartPolicy(pool)\n",
        },
    )
    run("add", folder)
    run("index", "--no-embed")
    for question, words in {
        "розсади": ["Розсаду", "розсада"],
        "резервную копию": ["Резервные", "копии", "резервной", "копии"],
        "retried": ["retrying", "retries", "retry"],
        "restarts": ["restart", "Restart"],
    }.items():
        shown, _ = on_terminal(run.argv("search", "--no-refresh", "-k", "1", question), columns=200)
        assert re.findall(rf"{re.escape(MATCH)}([^\x1b]+)", shown)[-len(words) :] == words, question
        piped = run("search", "--no-refresh", "-k", "1", question, "--color", "always").stdout
        assert re.findall(rf"{re.escape(MATCH)}([^\x1b]+)", piped) == words, question


def test_words_that_say_nothing_are_not_brought_out(run: Command, indexed: Path) -> None:
    (indexed / "more.md").write_text("The bench is by the pond, and the hedge is by the road.\n")
    shown, _ = on_terminal(run.argv("search", "the books of the month"), columns=200)
    found = set(re.findall(rf"{re.escape(MATCH)}([^\x1b]+)", shown))
    assert {"books", "month"} <= {word.lower() for word in found}
    assert "the" not in {word.lower() for word in found}


def test_grep_brings_out_what_matched(run: Command, indexed: Path) -> None:
    shown, _ = on_terminal(run.argv("grep", "se+d[a-z]+|may"))
    assert re.findall(rf"{re.escape(MATCH)}([^\x1b]+)", shown) == ["seedlings", "May"]
    shown, _ = on_terminal(run.argv("grep", "-F", "times,"))
    assert f"{MATCH}times,{END}" in shown


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_results_fit_the_terminal(run: Command, tmp_path: Path, columns: int) -> None:
    long = "seedlings " + "in a greenhouse of glass and wood " * 30
    files = {f"{'directory-with-a-name/' * 3}a-file-with-quite-a-long-name.md": f"# Garden\n\n{long}\n"}
    run("add", write_tree(tmp_path / "notes", {**files, "сад.md": f"# Сад\n\nseedlings {'слово ' * 90}\n"}))
    run("index", "--no-embed")
    shown, _ = on_terminal(
        run.argv("search", "seedlings", "--no-refresh"), {"NO_COLOR": "1"}, columns=columns
    )
    results = [line for line in shown.split("\r\n") if "vector" not in line]
    assert max(len(line) for line in results) <= columns
    assert sum("seedlings" in line for line in results) == 2
    assert len(results) < 24
    assert "directory-with-a-name/" in shown


def test_a_line_of_grep_is_one_row_of_the_terminal_around_the_match(run: Command, tmp_path: Path) -> None:
    text = f"{'before ' * 20}walnut {'after ' * 20}\n"
    run("add", write_tree(tmp_path / "notes", {"a.md": text}))
    shown, _ = on_terminal(run.argv("grep", "walnut"), {"NO_COLOR": "1"}, columns=80)
    (line,) = shown.rstrip().split("\r\n")
    assert len(line) <= 80
    assert "walnut" in line
    assert run("grep", "walnut").stdout.rstrip().endswith(text.strip())


def test_places_lead_to_their_files_where_the_terminal_has_links(run: Command, tmp_path: Path) -> None:
    names = [b"\xd1\x81\xd0\xb0\xd0\xb4 #1?.md", b"not utf-8 \xff.md"]
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in zip(names, ("A walnut tree.\n", "Cakes need one walnut each.\n"), strict=True):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text(text)
    run("add", folder)
    run("index", "--no-embed")
    wanted = {
        f"file://{quote(socket.gethostname())}{quote(os.fsencode(folder.resolve()))}/{quoted}"
        for quoted in ("%D1%81%D0%B0%D0%B4%20%231%3F.md", "not%20utf-8%20%FF.md")
    }
    for arguments, columns in (
        (["search", "walnut"], 50),
        (["search", "walnut"], 100),
        (["search", "walnut", "--files"], 100),
        (["grep", "walnut"], 100),
    ):
        shown, _ = on_terminal(run.argv(*arguments), {"VTE_VERSION": "7600"}, columns=columns)
        assert set(re.findall(r"\x1b]8;[^;]*;(file:[^\x1b\x07]+)\x1b\\", shown)) == wanted, arguments
        assert shown.count("\x1b]8;;\x1b\\") * 2 == shown.count("\x1b]8;")
        assert ESCAPE not in run(*arguments, env={"FORCE_HYPERLINK": "1"}).stdout
    for env in (
        {},
        {"VTE_VERSION": "7600", "FORCE_HYPERLINK": "0"},
        {"VTE_VERSION": "7600", "NO_COLOR": "1"},
    ):
        assert "\x1b]8;" not in on_terminal(run.argv("search", "walnut"), env)[0]


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
