"""A filter that lets many files through made a search take seconds: FTS5 was asked once for each passage."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from builders import FOLDER, indexed

from semantic_search.stores import Filter, open_store
from semantic_search.stores.sqlite import SqliteStore


def test_a_filter_is_applied_to_what_matches_and_not_the_other_way_round(tmp_path: Path) -> None:
    store = open_store("sqlite", str(tmp_path / "index.sqlite3"), create=True)
    assert isinstance(store, SqliteStore)
    store.write(FOLDER, [indexed("a.md", "walrus one"), indexed("b.txt", "walrus two")], seen_ns=1)
    asked: list[str] = []
    store._connection.set_trace_callback(asked.append)
    wanted = Filter(globs=("*.md",))
    assert len(store.match(["walrus"], wanted, 5)) == 1
    assert len(store.match_files(["a", "walrus"], wanted, 5)) == 1
    store._connection.set_trace_callback(None)
    searches = [sql for sql in asked if " MATCH " in sql and sql.startswith("SELECT rowid")]
    assert len(searches) == 2
    for sql in searches:
        assert "wanted" in sql
        assert not any("=" in step for step in _of_virtual_tables(store._connection, sql))
    store.close()


def _of_virtual_tables(db: sqlite3.Connection, sql: str) -> list[str]:
    """How virtual tables are gone through: `0:M…` by a match alone, with `=` by rowid as well."""
    return [
        row[3].partition("INDEX ")[2]
        for row in db.execute(f"EXPLAIN QUERY PLAN {sql}")
        if "VIRTUAL" in row[3]
    ]
