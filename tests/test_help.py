"""The help of every command: it fits a terminal, and its examples do what they say."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from command_line import PROGRAM
from try_pages import write_folders

from semantic_search.cli import COMMANDS, command
from semantic_search.cli.examples import EXAMPLES

ALL = [(name, example) for name in EXAMPLES for example in EXAMPLES[name]]
# It goes on until Ctrl-C; `tests/end_to_end/test_cli_watch.py` runs it.
NEVER_END = {"watch"}
# What asks before it writes is answered.
ANSWERS = {"semantic-search init": "y\n"}


def help_of(name: str, columns: int) -> str:
    argv = [name, "--help"] if name else ["--help"]
    done = CliRunner(env={"COLUMNS": str(columns)}).invoke(command, argv, prog_name="semantic-search")
    assert done.exit_code == 0, done.output
    return done.output


def test_every_command_has_examples() -> None:
    assert set(EXAMPLES) == {"", *COMMANDS}
    for name, examples in EXAMPLES.items():
        assert 2 <= len(examples) <= 4, name


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_help_shows_the_examples_as_they_are_typed(name: str) -> None:
    text = help_of(name, 80)
    assert text.count("\nExamples:\n") == 1
    for said, lines in EXAMPLES[name]:
        assert f"  # {said}\n" in text
        for line in lines.split("\n"):
            assert f"  {line}\n" in text


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_help_fits_in_80_columns_and_in_a_wider_terminal(name: str) -> None:
    for columns in (80, 100, 200):
        longest = max(help_of(name, columns).split("\n"), key=len)
        assert len(longest) <= min(columns, 100), longest


def test_the_help_is_shown_on_a_narrow_terminal() -> None:
    for name in EXAMPLES:
        assert "Options:" in help_of(name, 40)


@pytest.mark.parametrize(("name", "example"), ALL, ids=[f"{name or 'group'}-{e[0]}" for name, e in ALL])
def test_an_example_is_a_command_that_can_be_given(name: str, example: tuple[str, str]) -> None:
    (line,) = [line for line in example[1].split("\n") if "semantic-search" in line]
    words = shlex.split(line.removeprefix('eval "$(').removesuffix(')"').partition(" > ")[0])
    assert words[0] == "semantic-search"
    assert name in ("", words[1]), "an example of another command"
    context = click.Context(command, info_name="semantic-search")
    found = command.get_command(context, words[1])
    assert found is not None
    found.make_context(words[1], words[2:], parent=context)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with `~/notes` and `~/code/my-api`, what the examples write into, and an editor."""
    write_folders(tmp_path)
    for directory in (".zfunc", ".config/fish/completions", ".local/share/bash-completion/completions"):
        (tmp_path / directory).mkdir(parents=True)
    editor = tmp_path / "vim"
    editor.write_text(f"#!{sys.executable}\nimport sys\nsys.exit(not sys.argv[1].startswith('+'))\n")
    editor.chmod(0o755)
    for variable, value in {
        "HOME": str(tmp_path),
        # One that is not on this machine: indexing ends with the words.
        "SS_MODEL_NAME": "paraphrase-multilingual-MiniLM-L12-v2",
        "EDITOR": str(editor),
        "PATH": os.pathsep.join([os.path.dirname(PROGRAM), os.environ["PATH"]]),
    }.items():
        monkeypatch.setenv(variable, value)
    monkeypatch.chdir(tmp_path / "code" / "my-api")
    return tmp_path


def run_example(lines: str) -> tuple[int, str]:
    """The exit status of an example and what it printed; in this process where it needs no shell."""
    words = shlex.split(lines)
    if words[1] == "mcp" or set(lines) & set("$>\n"):
        shell = shutil.which("bash") or "/bin/sh"
        done = subprocess.run(
            [shell, "-c", f"set -e\n{lines}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr
    # As bash does it: at the beginning of a word, and after the first `=` in it.
    arguments = ["=".join(map(os.path.expanduser, word.split("=", 1))) for word in words[1:]]
    ran = CliRunner().invoke(command, arguments, input=ANSWERS.get(lines, ""), standalone_mode=False)
    status = ran.return_value if isinstance(ran.return_value, int) else 0
    return (2 if ran.exception else status), f"{ran.output}{ran.exception or ''}"


@pytest.mark.skipif(os.name != "posix", reason="lines of a POSIX shell")
def test_every_example_does_what_it_says(home: Path) -> None:
    """In the order of the table, which is one that a user might take."""
    failures = []
    for name, (said, lines) in ALL:
        if name in NEVER_END:
            continue
        status, printed = run_example(lines)
        if status != (2 if name == "doctor" else 0):
            failures.append(f"{said}: {lines}\nexit status {status}\n{printed}")
        if name == "remove":
            run_example("semantic-search add ~/notes ~/code/my-api")
            run_example("semantic-search index")
    assert not failures, "\n\n".join(failures)
    assert (home / ".zfunc" / "_semantic-search").read_text().startswith("#compdef semantic-search")
    assert (home / ".config/fish/completions/semantic-search.fish").stat().st_size > 0
    assert (home / ".local/share/bash-completion/completions/semantic-search").stat().st_size > 0
