"""The tables of an index file, and how a connection to one is opened."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from urllib.parse import quote

from ..errors import NoIndex, StoreError
from ..private_files import make_private_file
from .trouble import busy, check_version, damaged, disk_full

SCHEMA_VERSION = 4

# The `ascii` tokenizer cuts at ASCII characters outside tokenchars and leaves everything above ASCII whole,
# so our own terms, joined by spaces, come through unchanged whatever Unicode tables the SQLite build has.
_TOKENIZER = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[]^_`{|}~'"

_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE folders (
  id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, last_run TEXT NOT NULL DEFAULT ''
);
CREATE TABLE files (
  id INTEGER PRIMARY KEY,
  folder_id INTEGER NOT NULL REFERENCES folders(id),
  path BLOB NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode TEXT NOT NULL,
  seen_ns INTEGER NOT NULL,
  sha256 TEXT NOT NULL, language TEXT NOT NULL, reason TEXT NOT NULL, detail TEXT NOT NULL,
  chunks INTEGER NOT NULL, tags TEXT NOT NULL DEFAULT '',
  UNIQUE (folder_id, path)
);
CREATE TABLE documents (
  file_id INTEGER PRIMARY KEY REFERENCES files(id),
  text BLOB NOT NULL, pages TEXT NOT NULL, terms BLOB NOT NULL
);
CREATE TABLE passages (
  id INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL REFERENCES files(id),
  start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
  heading TEXT NOT NULL, symbol TEXT NOT NULL, kind TEXT NOT NULL, page INTEGER,
  script TEXT NOT NULL,
  embedding_id INTEGER NOT NULL REFERENCES embeddings(id)
);
CREATE INDEX passages_of_file ON passages(file_id);
CREATE INDEX passages_of_embedding ON passages(embedding_id);
CREATE TABLE embeddings (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB);
CREATE INDEX embeddings_pending ON embeddings(id) WHERE vector IS NULL;
CREATE VIRTUAL TABLE lexical USING fts5(terms, context, content='', tokenize="{_TOKENIZER}");
CREATE VIRTUAL TABLE lexical_terms USING fts5vocab(lexical, row);
CREATE VIRTUAL TABLE whole USING fts5(terms, context, content='', tokenize="{_TOKENIZER}");
"""


def connect(path: str, *, create: bool, any_version: bool = False) -> sqlite3.Connection:
    """A connection to an index file, its tables made when asked to.

    Writes go to a write-ahead log: readers never wait and never see half a batch. A new file appears whole:
    nobody ever opens one that has no tables yet.

    Raises NoIndex for an empty file, IndexDamaged for one that is no index, IndexTooNew, IndexOutdated (not
    with `any_version`), and StoreError where it cannot be opened.
    """
    try:
        if create:
            if not os.path.exists(path):
                _make(path)
            make_private_file(path)
        try:
            return _open(path, create=create, any_version=any_version)
        except sqlite3.OperationalError as error:
            if create or _primary_code(error) not in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                raise
            return _open(path, create=False, any_version=any_version, alone=True)
    except OSError as error:
        raise StoreError(f"the index {path} cannot be opened: {error}") from error
    except sqlite3.Error as error:
        raise told(error, path) from error


def _make(path: str) -> None:
    # One process at a time gets here: writers hold the index lock. What a killed one left is written anew.
    unfinished = path + ".new"
    for ending in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished + ending)
    make_private_file(unfinished)
    _open(unfinished, create=True, any_version=False).close()
    os.replace(unfinished, path)


def _uri(path: str) -> str:
    # `Path.as_uri` loads a client of HTTP from Python 3.14 on.
    place = os.path.abspath(path).replace(os.sep, "/")
    return "file://" + ("" if place.startswith("/") else "/") + quote(os.fsencode(place), safe="/:")


def _open(path: str, *, create: bool, any_version: bool, alone: bool = False) -> sqlite3.Connection:
    # mode=rw: plain connect would make an empty file where there is none.
    connection = sqlite3.connect(
        _uri(path) + "?mode=rw",
        uri=True,
        timeout=30.0,
        check_same_thread=False,
        isolation_level=None,
    )
    try:
        if alone:
            # Reading beside others takes a shared-memory file, for which a full disk has no room.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        _prepare(connection, path, create=create, any_version=any_version)
    except BaseException:
        connection.close()
        raise
    return connection


def _primary_code(error: sqlite3.Error) -> int | None:
    # Errors of the module itself have none. The low byte is the kind, the others are particulars.
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def told(error: sqlite3.Error, path: str) -> StoreError:
    """An error of SQLite as one of ours that says what to do. Only a damaged file is called damaged."""
    code = _primary_code(error)
    if (
        code == sqlite3.SQLITE_FULL
        or getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_SHMSIZE
    ):
        return disk_full(path)
    if code in (None, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path, error)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return busy(path)
    if "no such module" in str(error):
        return StoreError(
            "the SQLite of this Python lacks FTS5, which finds words: use another build of Python, or "
            "choose the store lancedb"
        )
    return StoreError(f"the index {path} cannot be used: {error}")


def _prepare(connection: sqlite3.Connection, path: str, *, create: bool, any_version: bool) -> None:
    if create and connection.execute("PRAGMA page_count").fetchone() == (0,):
        # Only here: in a file that has tables it changes nothing, and still writes to one of a newer version.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA cache_size = -32768")
    connection.execute("PRAGMA secure_delete = FAST")
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'meta'").fetchone()
    if tables:
        row = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
        check_version(path, str(row[0]) if row else "", SCHEMA_VERSION, any_version=any_version)
    elif create:
        version = f"INSERT INTO meta VALUES ('schema', '{SCHEMA_VERSION}');"
        connection.executescript("BEGIN IMMEDIATE;" + _TABLES + version + "COMMIT;")
    else:
        raise NoIndex("the index is empty: run `semantic-search index`")
