"""Statements that change an index file. Each runs inside a transaction of the caller's."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence

from ..types import Skipped, SourceFile
from .rows import Indexed
from .sqlite_rows import packed, unpacked

_UPSERT = """
INSERT INTO files (folder_id, path, size, mtime_ns, ctime_ns, inode, seen_ns, sha256, language, reason,
  detail, chunks)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (folder_id, path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns,
  ctime_ns = excluded.ctime_ns, inode = excluded.inode, seen_ns = excluded.seen_ns, sha256 = excluded.sha256,
  language = excluded.language, reason = excluded.reason, detail = excluded.detail, chunks = excluded.chunks
RETURNING id
"""


def folder_id(db: sqlite3.Connection, folder: str) -> int:
    """The id of a folder's row, made where there is none."""
    path = os.fsencode(folder)
    db.execute("INSERT OR IGNORE INTO folders (path) VALUES (?)", (path,))
    return int(db.execute("SELECT id FROM folders WHERE path = ?", (path,)).fetchone()[0])


def replace_file(db: sqlite3.Connection, folder: int, item: Indexed, seen_ns: int) -> None:
    """Writes a document's passages in the place of whatever the file had."""
    document = item.document
    drop_passages(db, folder, document.source.path)
    detail = "; ".join(document.notes)
    file_id = _upsert(
        db, folder, document.source, seen_ns, document.sha256, document.language, "", detail, len(item.chunks)
    )
    whole = " ".join(item.terms)
    db.execute(
        "INSERT INTO whole (rowid, terms, context) VALUES (?, ?, ?)", (file_id, whole, item.path_terms)
    )
    lines = (
        item.path_terms
        + "\n"
        + "\n".join(f"{terms}\t{context}" for terms, context in zip(item.terms, item.context, strict=True))
    )
    db.execute(
        "INSERT INTO documents VALUES (?, ?, ?, ?)",
        (file_id, packed(document.text), json.dumps(document.pages), packed(lines)),
    )
    embeddings = _embedding_ids(db, item.keys)
    parts = zip(item.chunks, item.keys, item.terms, item.context, item.scripts, strict=True)
    for chunk, key, terms, context, script in parts:
        cursor = db.execute(
            'INSERT INTO passages (file_id, start, "end", first_line, last_line, heading, symbol, kind, '
            "page, script, embedding_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                file_id,
                chunk.start,
                chunk.end,
                chunk.first_line,
                chunk.last_line,
                chunk.heading,
                chunk.symbol,
                chunk.kind,
                chunk.page,
                script,
                embeddings[key],
            ),
        )
        db.execute(
            "INSERT INTO lexical (rowid, terms, context) VALUES (?, ?, ?)", (cursor.lastrowid, terms, context)
        )


def _upsert(
    db: sqlite3.Connection,
    folder: int,
    source: SourceFile,
    seen_ns: int,
    *facts: str | int,
) -> int:
    values = (folder, os.fsencode(source.path), *source.stamp[:3], str(source.inode), seen_ns, *facts)
    return int(db.execute(_UPSERT, values).fetchone()[0])


def _embedding_ids(db: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, int]:
    distinct = list(dict.fromkeys(keys))
    db.executemany("INSERT OR IGNORE INTO embeddings (key) VALUES (?)", ((key,) for key in distinct))
    found: dict[bytes, int] = {}
    for start in range(0, len(distinct), 500):
        part = distinct[start : start + 500]
        marks = ",".join("?" * len(part))
        found.update(db.execute(f"SELECT key, id FROM embeddings WHERE key IN ({marks})", part))
    return found


def record_skip(
    db: sqlite3.Connection, folder: int, skipped: Skipped, seen_ns: int, *, keep_passages: bool
) -> None:
    """Notes why a file has no passages; what it had goes, unless the cause is thought to pass."""
    source = skipped.source
    row = db.execute(
        "SELECT sha256, language, chunks FROM files WHERE folder_id = ? AND path = ?",
        (folder, os.fsencode(source.path)),
    ).fetchone()
    if keep_passages and row and row[2]:
        _upsert(db, folder, source, seen_ns, *row[:2], skipped.reason.value, skipped.detail, row[2])
        return
    drop_passages(db, folder, source.path)
    _upsert(db, folder, source, seen_ns, "", "", skipped.reason.value, skipped.detail, 0)


def renew_stamp(db: sqlite3.Connection, folder: int, source: SourceFile, seen_ns: int) -> None:
    """Notes the new stamp of a file whose content is as it was."""
    db.execute(
        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, seen_ns = ? "
        "WHERE folder_id = ? AND path = ?",
        (*source.stamp[:3], str(source.inode), seen_ns, folder, os.fsencode(source.path)),
    )


def drop_passages(db: sqlite3.Connection, folder: int, path: str) -> None:
    """Removes a file's text, passages and terms; its row stays."""
    row = db.execute(
        "SELECT t.file_id, t.terms FROM files f JOIN documents t ON t.file_id = f.id "
        "WHERE f.folder_id = ? AND f.path = ?",
        (folder, os.fsencode(path)),
    ).fetchone()
    if row is None:
        return
    file_id, blob = row
    ids = [id_ for (id_,) in db.execute("SELECT id FROM passages WHERE file_id = ? ORDER BY id", (file_id,))]
    # A table without content of its own must be told what it indexed. That is kept beside the text, since
    # terms made again by a later analyser would leave ghosts behind.
    of_path, *lines = unpacked(blob).split("\n")
    pairs = [line.split("\t") for line in lines] if ids else []
    whole = " ".join(terms for terms, _ in pairs)
    db.execute(
        "INSERT INTO whole (whole, rowid, terms, context) VALUES ('delete', ?, ?, ?)",
        (file_id, whole, of_path),
    )
    for id_, (terms, context) in zip(ids, pairs, strict=True):
        db.execute(
            "INSERT INTO lexical (lexical, rowid, terms, context) VALUES ('delete', ?, ?, ?)",
            (id_, terms, context),
        )
    db.execute("DELETE FROM passages WHERE file_id = ?", (file_id,))
    db.execute("DELETE FROM documents WHERE file_id = ?", (file_id,))


def remove_file(db: sqlite3.Connection, folder: int, path: str) -> None:
    """Removes a file with everything of its own."""
    drop_passages(db, folder, path)
    db.execute("DELETE FROM files WHERE folder_id = ? AND path = ?", (folder, os.fsencode(path)))


_ORPHANS = "FROM embeddings WHERE id NOT IN (SELECT embedding_id FROM passages)"


def embedding_counts(db: sqlite3.Connection) -> tuple[int, int]:
    """How many embeddings there are, and how many of them no passage refers to."""
    total = db.execute("SELECT count(*) FROM embeddings").fetchone()[0]
    orphans = db.execute(f"SELECT count(*) {_ORPHANS}").fetchone()[0]
    return int(total), int(orphans)


def drop_orphans(db: sqlite3.Connection) -> None:
    """Removes embeddings that no passage refers to."""
    db.execute(f"DELETE {_ORPHANS}")
