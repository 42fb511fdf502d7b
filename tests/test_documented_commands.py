"""Every command that README and docs/ show is run, and prints what they show."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from pages import blocks, body_of, commands, pages
from try_pages import NEEDS, PROGRAMS, Stage, difference, program_of

# Programs of others that a page tells a reader to run: each may only be shown with what it needs.
OTHERS = {
    "pip": "a network",
    "pipx": "a network",
    "uvx": "a network",
    "make": "a network",
    "npx": "a network",
}
SHOWN = [command for page in pages() for command in commands(page)]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Stage:
    """A home for the pages, with the installed command and the model cache of this run."""
    more = {
        "SS_MODEL_CACHE_DIR": str(model_cache),
        "SEMBLE_GRAMMARS_CACHE_DIR": str(model_cache / "grammars"),
        "HF_HUB_OFFLINE": "1",
    }
    return Stage(tmp_path_factory.mktemp("pages"), Path(os.path.dirname(sys.executable)), more)


# A page in another language shows the same commands (test_docs.py), and they are run once.
PAGES = [page for page in pages() if commands(page) and not page.endswith(".uk.md")]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_do_and_print_what_it_shows(stage: Stage, page: str) -> None:
    troubles = stage.troubles(page)
    assert not troubles, "\n" + "\n".join(troubles)


def test_what_is_not_run_says_what_it_needs() -> None:
    """What of ours is not run is still parsed by the real command, in test_docs.py."""
    left = [command for command in SHOWN if command.needs]
    assert left
    for command in left:
        where = f"{command.page}:{command.line}: {command.text}"
        assert command.needs in NEEDS, f"{where}: needs one of {list(NEEDS)}"
        program = program_of(command)
        if program not in PROGRAMS:
            assert OTHERS.get(program) == command.needs, where
    assert {command.needs for command in left} == set(NEEDS), "a need that no command has any more"


def test_most_of_what_is_shown_is_run() -> None:
    run = [command for command in SHOWN if not command.needs]
    assert len(run) > len(SHOWN) - len(run)
    assert sum(command.shown is not None for command in run) >= 1


def test_no_command_hides_in_a_block_of_text() -> None:
    for page in pages():
        for block in blocks(page):
            if block.language not in ("sh", "console"):
                for line in block.text.split("\n"):
                    assert not line.startswith(("$ ", "semantic-search ")), f"{page}:{block.line}: {line}"


PAGE = """
```console
$ echo 'the score is 0.517 # of one'; echo second
the score is 0.223 # of one
second
$ printf 'a\\nb\\nc\\n' && false  # exit status 1
a
…
$ export GREETING=hello
$ echo "$GREETING $HOME/x"
hello /home/me/x
```
"""


def test_a_page_that_is_right_has_no_trouble(stage: Stage) -> None:
    assert stage.troubles("README.md", PAGE) == []


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("\nsecond\n", "\nthird\n", "the page shows 'third' where it printed 'second'"),
        ("\nsecond\n", "\n", "it printed 'second', which the page does not show"),
        ("status 1", "status 0", "exit status 1, the page says 0"),
        ("is 0.223", "was 0.223", "the page shows 'the score was 0.223"),
        ("…\n", "", "it printed 'b', which the page does not show"),
        ("hello /home/me/x", "hello /home/you/x", "the page shows 'hello /home/you/x'"),
    ],
)
def test_a_page_that_is_wrong_is_told_where(stage: Stage, right: str, wrong: str, told: str) -> None:
    text = PAGE.replace(right, wrong)
    assert text != PAGE
    (trouble,) = stage.troubles("README.md", text)
    assert told in trouble
    assert trouble.startswith("README.md:")


def test_a_command_of_another_program_is_refused_before_anything_runs(stage: Stage) -> None:
    with pytest.raises(ValueError, match="say what it needs"):
        stage.troubles("README.md", "```sh\necho ran > ran\nrm -r ran\n```\n")
    assert not (stage.home / "semantic-search" / "ran").exists()


def test_notes_on_stderr_may_be_shown_and_need_not() -> None:
    assert difference(("found",), ("found",), ("a note",)) == ""
    assert difference(("found", "a note"), ("found",), ("a note",)) == ""
    assert difference(("found", "another note"), ("found",), ("a note",)) != ""
    assert difference(("…", "last"), ("first", "last"), ()) == ""
    assert difference(("…", "first"), ("first", "last"), ()) != ""


def test_a_comment_is_not_a_part_of_a_command() -> None:
    (command,) = commands("x.md", "```sh\nsemantic-search search '# heading'  # needs a network; why\n```\n")
    assert body_of(command.text) == "semantic-search search '# heading'"
    assert command.needs == "a network"
