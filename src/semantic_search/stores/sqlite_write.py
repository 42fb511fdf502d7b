"""Statements that change an index file. Each runs inside a transaction of the caller's."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from ..types import Skipped, SourceFile
from .rows import Indexed, tags_to_text
from .sqlite_rows import packed, unpacked

_FILES_AT_ONCE = 64  # of files to be removed: their terms are in memory together
_UPSERT = """
INSERT INTO files (folder_id, path, size, mtime_ns, ctime_ns, inode, seen_ns, sha256, language, reason,
  detail, chunks, tags)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (folder_id, path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns,
  ctime_ns = excluded.ctime_ns, inode = excluded.inode, seen_ns = excluded.seen_ns, sha256 = excluded.sha256,
  language = excluded.language, reason = excluded.reason, detail = excluded.detail, chunks = excluded.chunks,
  tags = excluded.tags
RETURNING id
"""


def folder_id(db: sqlite3.Connection, folder: str) -> int:
    """The id of a folder's row, made where there is none."""
    path = os.fsencode(folder)
    db.execute("INSERT OR IGNORE INTO folders (path) VALUES (?)", (path,))
    return int(db.execute("SELECT id FROM folders WHERE path = ?", (path,)).fetchone()[0])


def replace_files(db: sqlite3.Connection, folder: int, items: Sequence[Indexed], seen_ns: int) -> None:
    """Writes the passages of documents in the place of whatever their files had."""
    if not items:
        return
    removed = _removed(db, folder, [item.document.source.path for item in items])
    embeddings = _embedding_ids(db, [key for item in items for key in item.keys])
    next_id = int(db.execute("SELECT coalesce(max(id), 0) + 1 FROM passages").fetchone()[0])
    file_ids = []
    for item in items:
        document, detail = item.document, "; ".join(item.document.notes)
        tags = tags_to_text(document.tags)
        facts = (document.sha256, document.language, "", detail, len(item.chunks), tags)
        file_ids.append(_upsert(db, folder, document.source, seen_ns, *facts))
    db.executemany(
        "INSERT INTO documents VALUES (?, ?, ?, ?)",
        (
            (id_, packed(item.document.text), json.dumps(item.document.pages), packed(_lines(item)))
            for id_, item in zip(file_ids, items, strict=True)
        ),
    )
    passages = [
        row for id_, item in zip(file_ids, items, strict=True) for row in _passage_rows(id_, item, embeddings)
    ]
    ids = range(next_id, next_id + len(passages))
    db.executemany(
        'INSERT INTO passages (id, file_id, start, "end", first_line, last_line, heading, symbol, kind, '
        "page, script, embedding_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((id_, *row) for id_, row in zip(ids, passages, strict=True)),
    )
    _forget_terms(db, removed)
    db.executemany(
        "INSERT INTO whole (rowid, terms, context) VALUES (?, ?, ?)",
        (
            (id_, " ".join(item.terms), item.path_terms)
            for id_, item in sorted(zip(file_ids, items, strict=True), key=itemgetter(0))
        ),
    )
    terms = (pair for item in items for pair in zip(item.terms, item.context, strict=True))
    db.executemany(
        "INSERT INTO lexical (rowid, terms, context) VALUES (?, ?, ?)",
        ((id_, *pair) for id_, pair in zip(ids, terms, strict=True)),
    )


def _lines(item: Indexed) -> str:
    pairs = zip(item.terms, item.context, strict=True)
    return item.path_terms + "\n" + "\n".join(f"{terms}\t{context}" for terms, context in pairs)


def _passage_rows(
    file_id: int, item: Indexed, embeddings: dict[bytes, int]
) -> Iterator[tuple[int | str | None, ...]]:
    for chunk, key, script in zip(item.chunks, item.keys, item.scripts, strict=True):
        yield (
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
        "SELECT sha256, language, chunks, tags FROM files WHERE folder_id = ? AND path = ?",
        (folder, os.fsencode(source.path)),
    ).fetchone()
    if keep_passages and row and row[2]:
        _upsert(db, folder, source, seen_ns, *row[:2], skipped.reason.value, skipped.detail, *row[2:])
        return
    drop_passages(db, folder, [source.path])
    _upsert(db, folder, source, seen_ns, "", "", skipped.reason.value, skipped.detail, 0, "")


def renew_stamp(db: sqlite3.Connection, folder: int, source: SourceFile, seen_ns: int) -> None:
    """Notes the new stamp of a file whose content is as it was."""
    db.execute(
        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, seen_ns = ? "
        "WHERE folder_id = ? AND path = ?",
        (*source.stamp[:3], str(source.inode), seen_ns, folder, os.fsencode(source.path)),
    )


_Terms = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class _Removed:
    """What the full-text tables hold of passages that are gone: (row id, terms, context) of each row."""

    whole: list[_Terms]
    lexical: list[_Terms]


def drop_passages(db: sqlite3.Connection, folder: int, paths: Sequence[str]) -> None:
    """Removes the text, passages and terms of files; their rows stay."""
    _forget_terms(db, _removed(db, folder, paths))


def _removed(db: sqlite3.Connection, folder: int, paths: Sequence[str]) -> _Removed:
    """Removes the text and passages of files; gives what the full-text tables must still forget of them."""
    removed = _Removed([], [])
    for path in paths:
        row = db.execute(
            "SELECT t.file_id, t.terms FROM files f JOIN documents t ON t.file_id = f.id "
            "WHERE f.folder_id = ? AND f.path = ?",
            (folder, os.fsencode(path)),
        ).fetchone()
        if row is None:
            continue
        file_id, blob = row
        ids = [
            id_ for (id_,) in db.execute("SELECT id FROM passages WHERE file_id = ? ORDER BY id", (file_id,))
        ]
        # A table without content of its own must be told what it indexed. That is kept beside the text, since
        # terms made again by a later analyser would leave ghosts behind.
        of_path, *lines = unpacked(blob).split("\n")
        pairs = [line.split("\t") for line in lines] if ids else []
        removed.whole.append((file_id, " ".join(terms for terms, _ in pairs), of_path))
        removed.lexical.extend(
            (id_, terms, context) for id_, (terms, context) in zip(ids, pairs, strict=True)
        )
        db.execute("DELETE FROM passages WHERE file_id = ?", (file_id,))
        db.execute("DELETE FROM documents WHERE file_id = ?", (file_id,))
    return removed


def _forget_terms(db: sqlite3.Connection, removed: _Removed) -> None:
    # Full text comes last: FTS5 writes out what it has gathered whenever another kind of statement follows,
    # or a row id is lower than the one before.
    for table, rows in (("whole", removed.whole), ("lexical", removed.lexical)):
        db.executemany(
            f"INSERT INTO {table} ({table}, rowid, terms, context) VALUES ('delete', ?, ?, ?)", sorted(rows)
        )


def remove_files(db: sqlite3.Connection, folder: int, paths: Sequence[str]) -> None:
    """Removes files with everything of their own."""
    for start in range(0, len(paths), _FILES_AT_ONCE):
        part = paths[start : start + _FILES_AT_ONCE]
        removed = _removed(db, folder, part)
        db.executemany(
            "DELETE FROM files WHERE folder_id = ? AND path = ?",
            ((folder, os.fsencode(path)) for path in part),
        )
        _forget_terms(db, removed)


_ORPHANS = "FROM embeddings WHERE id NOT IN (SELECT embedding_id FROM passages)"


def embedding_counts(db: sqlite3.Connection) -> tuple[int, int]:
    """How many embeddings there are, and how many of them no passage refers to."""
    total = db.execute("SELECT count(*) FROM embeddings").fetchone()[0]
    orphans = db.execute(f"SELECT count(*) {_ORPHANS}").fetchone()[0]
    return int(total), int(orphans)


def drop_orphans(db: sqlite3.Connection) -> None:
    """Removes embeddings that no passage refers to."""
    db.execute(f"DELETE {_ORPHANS}")
