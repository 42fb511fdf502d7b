"""Time limits of ours are those of a machine that has time; a test says so where it is about one."""

from __future__ import annotations

import pytest
from command_line import PATIENCE

from semantic_search import freshness


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search waits until every changed file was read, however slow the machine is."""
    monkeypatch.setattr(freshness, "READ_SECONDS", PATIENCE)
