"""The installed command, in a home of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import write_tree
from command_line import Command

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
