"""The installed command, in a home of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import write_tree
from changed_tree import ChangedTree
from command_line import Command
from forking import Forks

NOTES: dict[str, str | bytes] = {
    "retry.md": "# Retry budget\n\nThe gateway retries a request five times, then it gives up.\n",
    "garden.md": "# Garden\n\nTomato seedlings go outdoors in the middle of May.\n",
    "src/ledger.py": 'def close_ledger(month):\n    """Closes the books of a month."""\n    return month\n',
}


@pytest.fixture
def run() -> Command:
    """Runs the installed command."""
    return Command()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of three short files, neither configured nor indexed."""
    return write_tree(tmp_path / "notes", NOTES)


@pytest.fixture
def indexed(run: Command, notes: Path) -> Path:
    """The folder of three files, configured and searchable by words."""
    run("add", notes)
    run("index", "--no-embed")
    return notes


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    """Commands in processes forked from one that has all modules loaded."""
    started = Forks()
    yield started
    started.close()


@pytest.fixture
def tree(tmp_path: Path, forks: Forks) -> ChangedTree:
    """A folder that operations change, in a place of its own."""
    return ChangedTree(tmp_path, forks)
