"""The same for the limits of the server."""

from __future__ import annotations

import pytest
from command_line import PATIENCE

from semantic_search.server import verbs


@pytest.fixture(autouse=True)
def unhurried_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first search waits for its index, and a grep comes to its end, however slow the machine is."""
    monkeypatch.setattr(verbs, "FIRST_INDEX_SECONDS", PATIENCE)
    monkeypatch.setattr(verbs, "GREP_SECONDS", PATIENCE)
