"""The tables of an index file, and how a connection to one is opened."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from ..errors import NoIndex, StoreError
from ..private_files import make_private_file

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

    Writes go to a write-ahead log: readers never wait and never see half a batch. Raises StoreError when the
    file is no index, is damaged, or was written by another version (with `any_version`: by a newer one).

    A new file appears whole: nobody ever opens one that has no tables yet. Raises NoIndex for an empty file.
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
        raise StoreError(explain(error, path)) from error


def _make(path: str) -> None:
    # One process at a time gets here: writers hold the index lock. What a killed one left is written anew.
    unfinished = path + ".new"
    for ending in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(unfinished + ending)
    make_private_file(unfinished)
    _open(unfinished, create=True, any_version=False).close()
    os.replace(unfinished, path)


def _open(path: str, *, create: bool, any_version: bool, alone: bool = False) -> sqlite3.Connection:
    # mode=rw: plain connect would make an empty file where there is none.
    connection = sqlite3.connect(
        Path(path).as_uri() + "?mode=rw",
        uri=True,
        timeout=30.0,
        check_same_thread=False,
        isolation_level=None,
    )
    try:
        if alone:
            # Reading beside others takes a shared-memory file, for which a full disk has no room.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        _prepare(connection, create=create, any_version=any_version)
    except BaseException:
        connection.close()
        raise
    return connection


def _primary_code(error: sqlite3.Error) -> int | None:
    # Errors of our own have none. The low byte is the kind, the others are particulars.
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def explain(error: sqlite3.Error, path: str) -> str:
    """What is wrong with an index file, and what to do. Only a damaged one is said to be damaged."""
    code = _primary_code(error)
    if (
        code == sqlite3.SQLITE_FULL
        or getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_SHMSIZE
    ):
        return f"the disk is full: nothing that was indexed is lost; free some space for {path} and run again"
    if code in (None, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return (
            f"the index {path} is damaged ({error}): run `semantic-search index --force` to build it afresh"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"the index {path} is being written by another process; try again when it is done"
    if "no such module" in str(error):
        return (
            "the SQLite of this Python lacks FTS5, which finds words: use another build of Python, or "
            "choose the store lancedb"
        )
    return f"the index {path} cannot be used: {error}"


def _prepare(connection: sqlite3.Connection, *, create: bool, any_version: bool) -> None:
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
        _check_version(connection, any_version=any_version)
    elif create:
        version = f"INSERT INTO meta VALUES ('schema', '{SCHEMA_VERSION}');"
        connection.executescript("BEGIN IMMEDIATE;" + _TABLES + version + "COMMIT;")
    else:
        raise NoIndex("the index is empty: run `semantic-search index`")


def _check_version(connection: sqlite3.Connection, *, any_version: bool) -> None:
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
    if not row or not row[0].isdecimal():
        raise sqlite3.DatabaseError("its version is missing")
    version = int(row[0])
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"the index was written by a newer version (schema {version}, this one knows {SCHEMA_VERSION}): "
            "upgrade semantic-search-mcp, or point SS_INDEX_DIR elsewhere"
        )
    if version < SCHEMA_VERSION and not any_version:
        raise StoreError("the index was written by an older version: run `semantic-search index` to renew it")
