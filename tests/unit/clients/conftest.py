"""The installed command, in a home of the test's own."""

from __future__ import annotations

import pytest
from command_line import Command


@pytest.fixture
def run() -> Command:
    """Runs the installed command."""
    return Command()
