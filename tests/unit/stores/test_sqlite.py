"""What is the SQLite store's own; what every store does is in tests/contracts."""

from __future__ import annotations

from pathlib import Path

import pytest

from semantic_search.errors import IndexDamaged, StoreError
from semantic_search.stores.sqlite import SqliteStore


def test_a_check_that_cannot_be_made_now_finds_no_damage(tmp_path: Path) -> None:
    """Bug: whatever kept it from reading was told as what is wrong with the index, and cost the index."""
    store = SqliteStore(str(tmp_path / "index.sqlite3"), create=True)
    store._connection.set_progress_handler(lambda: 1, 1)  # every statement is broken off
    with pytest.raises(StoreError, match="cannot be used") as trouble:
        store.check()
    assert not isinstance(trouble.value, IndexDamaged)
    store._connection.set_progress_handler(None, 1)
    assert store.check() == ""
    store.close()
