"""What the doctor says of set-ups that are broken on purpose is what docs/troubleshooting.md shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from command_line import opened
from pages import text_of
from try_pages import HOME_SHOWN, Stage, difference, environment

from semantic_search.tools.doctor import CHECKS

PAGE = "docs/troubleshooting.md"
BIN = Path(os.path.dirname(sys.executable))


@dataclass
class Setup:
    """A home that something is done to: where things are in it, and variables of the command."""

    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def index(self) -> Path:
        (found,) = (self.home / ".local/share/semantic-search").glob("index-*.sqlite3")
        return found


def _damage_model(setup: Setup) -> None:
    cache = setup.home / "models"
    shutil.copytree(setup.variables["SS_MODEL_CACHE_DIR"], cache)
    setup.variables["SS_MODEL_CACHE_DIR"] = str(cache)
    (largest,) = sorted(cache.glob("multilingual-e5-small-*/*"), key=lambda path: path.stat().st_size)[-1:]
    with largest.open("r+b") as file:
        file.seek(1000)
        file.write(b"not what it was")


def _damage_index(setup: Setup) -> None:
    with setup.index.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(bytes(4096 * 20))


def _spoil_configuration(setup: Setup) -> None:
    path = setup.home / ".config/semantic-search/config.json"
    path.write_text(path.read_text(encoding="utf-8").replace("[", "", 1), encoding="utf-8")


def _lose_folder(setup: Setup) -> None:
    (setup.home / "notes").rename(setup.home / "moved")


def _change_owner(setup: Setup) -> None:
    """As git sees it: its own tests have this variable for what only root could make."""
    programs = setup.home / "bin"
    programs.mkdir()
    program = programs / "git"
    program.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    setup.variables["PATH"] = f"{programs}{os.pathsep}{BIN}{os.pathsep}{os.defpath}"


def _hide_git(setup: Setup) -> None:
    programs = setup.home / "bin"
    programs.mkdir()
    (programs / "semantic-search").symlink_to(BIN / "semantic-search")
    setup.variables["PATH"] = str(programs)


def _age_program(setup: Setup) -> None:
    with opened(setup.index) as db:
        assert db.execute("UPDATE meta SET value = '999' WHERE key = 'schema'").rowcount == 1


SETUPS: dict[str, Callable[[Setup], None]] = {
    "A file of the model is damaged": _damage_model,
    "The index is damaged": _damage_index,
    "The config file is not JSON": _spoil_configuration,
    "A folder is gone": _lose_folder,
    "A repository belongs to somebody else": _change_owner,
    "git is not installed": _hide_git,
    "The index is of a newer version": _age_program,
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Stage:
    more = {
        "SS_MODEL_CACHE_DIR": str(model_cache),
        "SEMBLE_GRAMMARS_CACHE_DIR": str(model_cache / "grammars"),
    }
    return Stage(tmp_path_factory.mktemp("setups"), BIN, more)


def shown() -> dict[str, list[str]]:
    """The lines that the page shows of the doctor, by the heading above them."""
    found = re.findall(r"^### ([^\n]+)\n\n```text\n(.*?)\n```", text_of(PAGE), flags=re.MULTILINE | re.DOTALL)
    return {heading: block.split("\n") for heading, block in found}


def test_every_set_up_is_shown() -> None:
    assert set(shown()) == set(SETUPS)


@pytest.mark.parametrize("heading", SETUPS)
def test_the_doctor_says_of_it_what_the_page_shows(stage: Stage, model_cache: Path, heading: str) -> None:
    stage.prepare(indexed=True)
    setup = Setup(stage.home, {"SS_MODEL_CACHE_DIR": str(model_cache)})
    SETUPS[heading](setup)
    done = subprocess.run(
        [BIN / "semantic-search", "doctor"],
        env=environment(stage.home, BIN, setup.variables),
        cwd=stage.home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done
    said = [
        [line.rstrip() for line in stream.replace(str(stage.home), HOME_SHOWN).split("\n") if line.strip()]
        for stream in (done.stdout, done.stderr)
    ]
    lines = shown()[heading]
    assert any(line.startswith(("MEND", "semantic-search:")) for line in lines)
    assert not difference(lines, *said), "\n".join([difference(lines, *said), *said[0], *said[1]])


def test_every_check_has_a_row() -> None:
    table = text_of(PAGE).split("## What the doctor checks", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `([a-z]+)` \| [^|]+ \| [^|]+ \| [^|]+ \|$", table, flags=re.MULTILINE)
    assert list(dict.fromkeys(rows)) == list(CHECKS)
