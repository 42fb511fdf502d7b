"""The installed command, for one case each of what went wrong in tools of this kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Command


@pytest.fixture
def run() -> Command:
    """Runs the installed command."""
    return Command()


@pytest.fixture
def folder(run: Command, tmp_path: Path) -> Path:
    """An empty folder, configured."""
    path = tmp_path / "folder"
    path.mkdir()
    run("add", path)
    return path
