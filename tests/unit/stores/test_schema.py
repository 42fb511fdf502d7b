"""How an index file is opened."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from semantic_search.errors import IndexBusy, IndexDamaged, IndexTooNew, NoIndex, StoreError
from semantic_search.stores.schema import SCHEMA_VERSION, connect, told


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "index #1?.sqlite3"


def open_and_close(place: Path, *, create: bool = False) -> None:
    connect(str(place), create=create).close()


def change(place: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(place)) as db, db:
        db.execute(statement)


def test_readers_do_not_wait_and_text_is_gone_when_it_is_deleted(place: Path) -> None:
    with contextlib.closing(connect(str(place), create=True)) as db:
        asked = {
            name: db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "foreign_keys", "secure_delete", "auto_vacuum")
        }
    assert asked == {"journal_mode": "wal", "foreign_keys": 1, "secure_delete": 2, "auto_vacuum": 2}


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_permissions_03_the_index_is_private(place: Path) -> None:
    with contextlib.closing(connect(str(place), create=True)) as db:
        db.execute("INSERT INTO meta VALUES ('a', 'b')")
        modes = {stat.S_IMODE(path.stat().st_mode) for path in place.parent.iterdir()}
    assert modes == {0o600}


def test_it_is_made_once_and_opened_again(place: Path) -> None:
    open_and_close(place, create=True)
    open_and_close(place, create=True)
    open_and_close(place)
    with contextlib.closing(sqlite3.connect(place)) as db:
        version = db.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()[0]
    assert version == str(SCHEMA_VERSION)


def test_reading_makes_no_file(place: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be (opened|used)"):
        open_and_close(place)
    assert not place.exists()


def test_an_empty_file_is_no_index(place: Path) -> None:
    place.write_bytes(b"")
    with pytest.raises(NoIndex, match="empty"):
        open_and_close(place)


def test_a_newer_version_is_refused_with_the_way_out(place: Path) -> None:
    open_and_close(place, create=True)
    change(place, "UPDATE meta SET value = '999' WHERE key = 'schema'")
    with pytest.raises(IndexTooNew, match="upgrade semantic-search-mcp"):
        open_and_close(place)


@pytest.mark.parametrize(
    "statement",
    ["UPDATE meta SET value = 'nonsense' WHERE key = 'schema'", "DELETE FROM meta WHERE key = 'schema'"],
)
def test_a_version_that_is_none_is_damage(place: Path, statement: str) -> None:
    open_and_close(place, create=True)
    change(place, statement)
    with pytest.raises(IndexDamaged, match="damaged"):
        open_and_close(place)


@pytest.mark.parametrize("content", [b"not a database " * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_store_03_what_is_no_database_is_damage(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    with pytest.raises(IndexDamaged, match="damaged"):
        open_and_close(place)


def test_an_index_that_another_process_keeps_is_busy(place: Path) -> None:
    open_and_close(place, create=True)
    with (
        contextlib.closing(sqlite3.connect(place)) as writer,
        contextlib.closing(sqlite3.connect(place, timeout=0)) as other,
    ):
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError) as refusal:
            other.execute("BEGIN IMMEDIATE")
    assert isinstance(told(refusal.value, str(place)), IndexBusy)


def test_a_directory_in_its_place_is_an_error(place: Path) -> None:
    place.mkdir()
    for create in (True, False):
        with pytest.raises(StoreError, match="cannot be"):
            open_and_close(place, create=create)


def test_a_new_index_appears_whole(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bug: a search that met an index file in the making failed with "the index is empty"."""
    monkeypatch.setattr("semantic_search.stores.schema._TABLES", "CREATE TABLE half (a); SELECT broken;")
    with pytest.raises(StoreError):
        open_and_close(place, create=True)
    assert not place.exists()
    monkeypatch.undo()
    open_and_close(place, create=True)
    open_and_close(place)
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_an_empty_file_is_no_index_and_becomes_one(place: Path) -> None:
    place.touch()
    with pytest.raises(NoIndex):
        open_and_close(place)
    open_and_close(place, create=True)
    open_and_close(place)
