"""Time limits of ours are those of a machine that has time; a test says so where it is about one."""

from __future__ import annotations

import pytest
from command_line import PATIENCE

from semantic_search import freshness
from semantic_search.tools import on_demand


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search waits until every changed file was read and embedded, however slow the machine is."""
    for module, name in (
        (freshness, "READ_SECONDS"),
        (freshness, "EMBED_SECONDS"),
        (on_demand, "EMBED_SECONDS"),
    ):
        monkeypatch.setattr(module, name, PATIENCE)
