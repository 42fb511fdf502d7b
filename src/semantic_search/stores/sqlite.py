"""The SQLite store: one file with stamps, texts, FTS5 over our own terms, and vectors."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import IndexDamaged
from ..types import Skip
from . import sqlite_write as writing
from .rows import EVERYTHING, Filter, FolderCounts, Indexed, Known, SkippedFile, Stored
from .sqlite_contents import SqliteContents
from .sqlite_rows import unpacked
from .sqlite_session import translated

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..types import Skipped, SourceFile

# Not `id IN (SELECT …)`: that lists the embedding of every passage first, also when none waits.
_PENDING = (
    "FROM embeddings WHERE vector IS NULL "
    "AND EXISTS (SELECT 1 FROM passages WHERE embedding_id = embeddings.id{})"
)


class SqliteStore(SqliteContents):
    """See `Store`. What is remembered and written is here, the arms and the connection below it."""

    # What is remembered

    def meta(self, key: str) -> str:
        """See `Store`."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else ""

    def set_meta(self, key: str, value: str) -> None:
        """See `Store`."""
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def folders(self) -> list[str]:
        """See `Store`."""
        return [os.fsdecode(path) for (path,) in self._rows("SELECT path FROM folders ORDER BY path")]

    def known(self, folder: str) -> dict[str, Known]:
        """See `Store`."""
        rows = self._rows(
            "SELECT f.path, size, mtime_ns, ctime_ns, inode, seen_ns, sha256, reason, chunks "
            "FROM files f JOIN folders d ON d.id = f.folder_id WHERE d.path = ?",
            (os.fsencode(folder),),
        )
        return {
            os.fsdecode(path): Known(
                (size, mtime, ctime, int(inode)), seen, sha256, Skip(reason) if reason else None, chunks
            )
            for path, size, mtime, ctime, inode, seen, sha256, reason, chunks in rows
        }

    def document(self, folder: str, path: str) -> Stored | None:
        """See `Store`."""
        rows = self._rows(
            "SELECT t.text, t.pages, f.language, f.sha256, size, mtime_ns, ctime_ns, inode FROM documents t "
            "JOIN files f ON f.id = t.file_id JOIN folders d ON d.id = f.folder_id "
            "WHERE d.path = ? AND f.path = ?",
            (os.fsencode(folder), os.fsencode(path)),
        )
        if not rows:
            return None
        text, pages, language, sha256, size, mtime, ctime, inode = rows[0]
        return Stored(
            unpacked(text),
            tuple(json.loads(str(pages))),
            str(language),
            str(sha256),
            (size, mtime, ctime, int(inode)),
        )

    def counts(self) -> list[FolderCounts]:
        """See `Store`."""
        with self.snapshot():
            totals = self._rows(
                "SELECT d.id, d.path, d.last_run, count(f.id), total(f.chunks) FROM folders d "
                "LEFT JOIN files f ON f.folder_id = d.id AND f.chunks > 0 GROUP BY d.id ORDER BY d.path"
            )
            skips = self._rows(
                "SELECT folder_id, reason, count(*) FROM files WHERE reason != '' GROUP BY folder_id, reason"
            )
            waiting: dict[int, int] = dict(
                self._rows(
                    "SELECT f.folder_id, count(*) FROM embeddings e JOIN passages p ON p.embedding_id = e.id "
                    "JOIN files f ON f.id = p.file_id WHERE e.vector IS NULL GROUP BY f.folder_id"
                )
            )
        return [
            FolderCounts(
                os.fsdecode(path),
                int(files),
                int(chunks),
                waiting.get(id_, 0),
                {str(reason): int(n) for folder, reason, n in skips if folder == id_},
                str(last_run),
            )
            for id_, path, last_run, files, chunks in totals
        ]

    def skipped(self) -> list[SkippedFile]:
        """See `Store`."""
        rows = self._rows(
            "SELECT d.path, f.path, reason, detail FROM files f JOIN folders d ON d.id = f.folder_id "
            "WHERE reason != '' ORDER BY d.path, f.path"
        )
        return [
            SkippedFile(os.fsdecode(folder), os.fsdecode(path), Skip(reason), str(detail))
            for folder, path, reason, detail in rows
        ]

    def check(self) -> str:
        """See `Store`."""
        try:
            for pragma in ("integrity_check(1)", "foreign_key_check"):
                rows = self._rows(f"PRAGMA {pragma}")
                if rows and rows != [("ok",)]:
                    return f"the index {self.path} is damaged: {rows[0]}"
            (passages,), (terms,) = (
                self._rows(f"SELECT count(*) FROM {table}")[0] for table in ("passages", "lexical_docsize")
            )
        except IndexDamaged as error:
            return str(error)
        return "" if passages == terms else f"{passages} passages but {terms} are searchable by words"

    # Writes

    def write(
        self,
        folder: str,
        indexed: Sequence[Indexed] = (),
        skipped: Sequence[Skipped] = (),
        touched: Sequence[SourceFile] = (),
        *,
        seen_ns: int,
        keep_passages: bool = False,
    ) -> None:
        """See `Store`."""
        with self._writing() as db:
            folder_id = writing.folder_id(db, folder)
            for skip in skipped:
                writing.record_skip(db, folder_id, skip, seen_ns, keep_passages=keep_passages)
            for source in touched:
                writing.renew_stamp(db, folder_id, source, seen_ns)
            writing.replace_files(db, folder_id, indexed, seen_ns)

    def forget(self, folder: str, paths: Sequence[str]) -> None:
        """See `Store`."""
        with self._writing() as db:
            folder_id = writing.folder_id(db, folder)
            writing.remove_files(db, folder_id, paths)

    def move_files(self, source: str, target: str, prefix: str) -> None:
        """See `Store`."""
        with self._writing() as db:
            old, new = writing.folder_id(db, source), writing.folder_id(db, target)
            rows = db.execute("SELECT id, path FROM files WHERE folder_id = ?", (old,)).fetchall()
            moved = [(id_, os.fsencode(prefix) + path) for id_, path in rows]
            writing.remove_files(db, new, [os.fsdecode(path) for _, path in moved])
            db.executemany(
                "UPDATE files SET folder_id = ?, path = ? WHERE id = ?",
                ((new, path, id_) for id_, path in moved),
            )
            db.execute("DELETE FROM folders WHERE id = ?", (old,))

    def remove_folder(self, folder: str) -> None:
        """See `Store`."""
        with self._writing() as db:
            folder_id = writing.folder_id(db, folder)
            paths = db.execute("SELECT path FROM files WHERE folder_id = ?", (folder_id,)).fetchall()
            writing.remove_files(db, folder_id, [os.fsdecode(path) for (path,) in paths])
            db.execute("DELETE FROM folders WHERE id = ?", (folder_id,))
            # Somebody who removes a folder means to leave nothing of it behind.
            writing.drop_orphans(db)
            for table in ("lexical", "whole"):
                db.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")
        self._reclaim()

    def record_run(self, folder: str, when: str) -> None:
        """See `Store`."""
        with self._writing() as db:
            folder_id = writing.folder_id(db, folder)
            db.execute("UPDATE folders SET last_run = ? WHERE id = ?", (when, folder_id))

    def tidy(self) -> None:
        """See `Store`. Vectors of vanished text are kept until they outnumber the live ones, so that a
        change of branch and back embeds nothing again."""
        with self._writing() as db:
            total, orphans = writing.embedding_counts(db)
            if orphans > max(1000, total - orphans):
                writing.drop_orphans(db)
        self._reclaim()

    def _reclaim(self) -> None:
        with self._lock, translated(self.path):
            # It frees a page a step; `execute` takes one step of a statement without columns.
            self._connection.executescript("PRAGMA incremental_vacuum")
            with contextlib.suppress(sqlite3.OperationalError):  # a reader is using the log: next time
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # Vectors to come

    def has_vectors(self) -> bool:
        """See `Store`."""
        return bool(self._rows("SELECT 1 FROM embeddings WHERE vector IS NOT NULL LIMIT 1"))

    def pending_count(self, wanted: Filter = EVERYTHING) -> int:
        """See `Store`."""
        with self.snapshot():
            # Mostly nothing waits, and this is asked at every search: no file need be looked at then.
            if not wanted.empty and not self.pending_count():
                return 0
            return int(self._rows(f"SELECT count(*) {self._waiting(wanted)}")[0][0])

    def _waiting(self, wanted: Filter) -> str:
        """What waits, as the end of a statement, for the snapshot that it is asked for in."""
        files = self._files(wanted)
        if files is None:
            return _PENDING.format("")
        self._fill_wanted(files)
        return _PENDING.format(" AND file_id IN (SELECT id FROM wanted)")

    def pending(self, limit: int, wanted: Filter = EVERYTHING) -> list[tuple[int, str]]:
        """See `Store`."""
        with self.snapshot():
            rows = self._rows(
                'SELECT e.id, p.file_id, p.start, p."end", p.heading, p.symbol, '
                "(SELECT text FROM documents WHERE file_id = p.file_id) "
                f"FROM (SELECT id {self._waiting(wanted)} ORDER BY id LIMIT ?) e "
                "JOIN passages p ON p.id = (SELECT min(id) FROM passages WHERE embedding_id = e.id)",
                (limit,),
            )
        texts: dict[object, str] = {}
        found = []
        for id_, file_id, start, end, heading, symbol, blob in rows:
            if file_id not in texts:
                texts[file_id] = unpacked(blob)
            header = heading or symbol
            text = texts[file_id][start:end]
            found.append((int(id_), f"{header}\n{text}" if header else text))
        return found

    def put_vectors(self, ids: Sequence[int], vectors: npt.NDArray[np.float32]) -> None:
        """See `Store`."""
        from .vectors import pack

        with self._writing() as db:
            db.executemany(
                "UPDATE embeddings SET vector = ? WHERE id = ?", zip(pack(vectors), ids, strict=True)
            )

    def adopt_vectors(self, path: str) -> None:
        """See `Store`."""
        with self._lock, translated(path):
            self._connection.execute("ATTACH DATABASE ? AS other", (path,))
            try:
                self._connection.execute(
                    "INSERT OR IGNORE INTO main.embeddings (key, vector) "
                    "SELECT key, vector FROM other.embeddings WHERE vector IS NOT NULL"
                )
            finally:
                self._connection.execute("DETACH DATABASE other")
