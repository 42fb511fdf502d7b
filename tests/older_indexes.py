"""Index files as earlier releases made them, out of one of today."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from semantic_search.stores.schema import SCHEMA_VERSION
from semantic_search.stores.sqlite_rows import unpacked

OLDER = tuple(range(1, SCHEMA_VERSION))

_TOKENIZER = "ascii tokenchars '!#$%&()*+,-./:;<=>?@[]^_`{|}~'"
_FILES = (
    "id, folder_id, path, size, mtime_ns, ctime_ns, inode, seen_ns, sha256, language, reason, detail, chunks"
)
_PASSAGES = 'id, file_id, start, "end", first_line, last_line, heading, symbol, kind, page, '


def _tables(version: int) -> str:
    script = "script TEXT NOT NULL," if version >= 2 else ""
    of_files = (
        "CREATE VIRTUAL TABLE lexical_terms USING fts5vocab(lexical, row);"
        f"CREATE VIRTUAL TABLE whole USING fts5(terms, context, content='', tokenize=\"{_TOKENIZER}\");"
        if version >= 3
        else ""
    )
    return f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE folders (
  id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, last_run TEXT NOT NULL DEFAULT ''
);
CREATE TABLE files (
  id INTEGER PRIMARY KEY, folder_id INTEGER NOT NULL REFERENCES folders(id), path BLOB NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode TEXT NOT NULL,
  seen_ns INTEGER NOT NULL, sha256 TEXT NOT NULL, language TEXT NOT NULL, reason TEXT NOT NULL,
  detail TEXT NOT NULL, chunks INTEGER NOT NULL, UNIQUE (folder_id, path)
);
CREATE TABLE documents (
  file_id INTEGER PRIMARY KEY REFERENCES files(id), text BLOB NOT NULL,
  pages TEXT NOT NULL, terms BLOB NOT NULL
);
CREATE TABLE embeddings (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, vector BLOB);
CREATE TABLE passages (
  id INTEGER PRIMARY KEY, file_id INTEGER NOT NULL REFERENCES files(id),
  start INTEGER NOT NULL, "end" INTEGER NOT NULL, first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
  heading TEXT NOT NULL, symbol TEXT NOT NULL, kind TEXT NOT NULL, page INTEGER, {script}
  embedding_id INTEGER NOT NULL REFERENCES embeddings(id)
);
CREATE INDEX passages_of_file ON passages(file_id);
CREATE INDEX passages_of_embedding ON passages(embedding_id);
CREATE INDEX embeddings_pending ON embeddings(id) WHERE vector IS NULL;
CREATE VIRTUAL TABLE lexical USING fts5(terms, context, content='', tokenize="{_TOKENIZER}");
{of_files}
"""


def age(current: Path, version: int, fingerprint: str = "0123456789ab") -> Path:
    """Puts an index file of an earlier schema in the place of one of today, under a name of its own."""
    older = current.with_name(f"index-{fingerprint}.sqlite3")
    passages = _PASSAGES + ("script, " if version >= 2 else "") + "embedding_id"
    with contextlib.closing(sqlite3.connect(older, isolation_level=None)) as db:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(_tables(version))
        db.execute("ATTACH DATABASE ? AS today", (str(current),))
        db.execute("BEGIN")
        for table, columns in (
            ("meta", "key, value"),
            ("folders", "id, path, last_run"),
            ("files", _FILES),
            ("documents", "file_id, text, pages, terms"),
            ("embeddings", "id, key, vector"),
            ("passages", passages),
        ):
            db.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM today.{table}")
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (str(version),))
        for file_id, blob in db.execute("SELECT file_id, terms FROM main.documents").fetchall():
            of_path, *lines = unpacked(blob).split("\n")
            pairs = [line.split("\t") for line in lines]
            ids = db.execute("SELECT id FROM main.passages WHERE file_id = ? ORDER BY id", (file_id,))
            db.executemany(
                "INSERT INTO lexical (rowid, terms, context) VALUES (?, ?, ?)",
                [(id_, *pair) for (id_,), pair in zip(ids.fetchall(), pairs, strict=False)],
            )
            if version >= 3:
                whole = " ".join(terms for terms, *_ in pairs)
                db.execute(
                    "INSERT INTO whole (rowid, terms, context) VALUES (?, ?, ?)", (file_id, whole, of_path)
                )
        db.execute("COMMIT")
        db.execute("DETACH DATABASE today")
    for ending in ("", "-wal", "-shm"):
        current.with_name(current.name + ending).unlink(missing_ok=True)
    return older
