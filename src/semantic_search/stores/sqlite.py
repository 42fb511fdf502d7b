"""The SQLite store: one file with stamps, texts, FTS5 over our own terms, and vectors."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import StoreError
from ..types import Skip
from . import sqlite_write as writing
from .rows import Filter, FolderCounts, Indexed, Known, Passage, SkippedFile, Stored
from .schema import connect
from .selection import files_wanted
from .sqlite_rows import PASSAGE_COLUMNS, passage_of, unpacked

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..types import Skipped, SourceFile
    from .vectors import VectorTable

# SQLite's default limit on bound values is 32 766 since 3.32.
_VALUES = 10_000


class SqliteStore:
    """See `Store`. One connection; calls from several threads take turns."""

    def __init__(self, path: str, *, create: bool, any_version: bool = False) -> None:
        self.path = path
        self._connection = connect(path, create=create, any_version=any_version)
        self._lock = threading.RLock()
        self._depth = 0
        self._vectors: tuple[tuple[int, int], VectorTable] | None = None

    def close(self) -> None:
        """Ends the use of the store."""
        with self._lock:
            self._connection.close()

    # Transactions

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, _translated(self.path):
            if self._depth:
                yield self._connection
                return
            self._connection.execute(begin)
            self._depth += 1
            try:
                yield self._connection
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
            else:
                self._connection.execute("COMMIT")
            finally:
                self._depth -= 1

    def snapshot(self) -> contextlib.AbstractContextManager[None]:
        """See `Store`."""
        return self._snapshot()

    @contextlib.contextmanager
    def _snapshot(self) -> Iterator[None]:
        with self._transaction("BEGIN"):
            yield

    def _writing(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        return self._transaction("BEGIN IMMEDIATE")

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock, _translated(self.path):
            return self._connection.execute(sql, values).fetchall()

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
        except StoreError as error:
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
            for item in indexed:
                writing.replace_file(db, folder_id, item, seen_ns)
            for skip in skipped:
                writing.record_skip(db, folder_id, skip, seen_ns, keep_passages=keep_passages)
            for source in touched:
                writing.renew_stamp(db, folder_id, source, seen_ns)

    def forget(self, folder: str, paths: Sequence[str]) -> None:
        """See `Store`."""
        with self._writing() as db:
            folder_id = writing.folder_id(db, folder)
            for path in paths:
                writing.remove_file(db, folder_id, path)

    def move_files(self, source: str, target: str, prefix: str) -> None:
        """See `Store`."""
        with self._writing() as db:
            old, new = writing.folder_id(db, source), writing.folder_id(db, target)
            rows = db.execute("SELECT id, path FROM files WHERE folder_id = ?", (old,)).fetchall()
            for id_, path in rows:
                moved = os.fsencode(prefix) + path
                writing.remove_file(db, new, os.fsdecode(moved))
                db.execute("UPDATE files SET folder_id = ?, path = ? WHERE id = ?", (new, moved, id_))
            db.execute("DELETE FROM folders WHERE id = ?", (old,))

    def remove_folder(self, folder: str) -> None:
        """See `Store`."""
        with self._writing() as db:
            folder_id = writing.folder_id(db, folder)
            paths = db.execute("SELECT path FROM files WHERE folder_id = ?", (folder_id,)).fetchall()
            for (path,) in paths:
                writing.remove_file(db, folder_id, os.fsdecode(path))
            db.execute("DELETE FROM folders WHERE id = ?", (folder_id,))
            # Somebody who removes a folder means to leave nothing of it behind.
            writing.drop_orphans(db)
            db.execute("INSERT INTO lexical(lexical) VALUES ('optimize')")
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
        with self._lock, _translated(self.path):
            self._connection.execute("PRAGMA incremental_vacuum").fetchall()
            with contextlib.suppress(sqlite3.OperationalError):  # a reader is using the log: next time
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # Vectors to come

    def pending_count(self) -> int:
        """See `Store`."""
        return int(self._rows(f"SELECT count(*) {_PENDING}")[0][0])

    def pending(self, limit: int) -> list[tuple[int, str]]:
        """See `Store`."""
        rows = self._rows(
            'SELECT e.id, p.file_id, p.start, p."end", p.heading, p.symbol, '
            f"(SELECT text FROM documents WHERE file_id = p.file_id) FROM (SELECT id {_PENDING} LIMIT ?) e "
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
        with self._lock, _translated(self.path):
            self._connection.execute("ATTACH DATABASE ? AS other", (path,))
            try:
                self._connection.execute(
                    "INSERT OR IGNORE INTO main.embeddings (key, vector) "
                    "SELECT key, vector FROM other.embeddings WHERE vector IS NOT NULL"
                )
            finally:
                self._connection.execute("DETACH DATABASE other")

    # The two arms

    def match(self, terms: Sequence[str], wanted: Filter, k: int) -> list[tuple[int, float]]:
        """See `Store`."""
        within = "rowid IN (SELECT id FROM passages WHERE file_id IN (SELECT id FROM wanted))"
        return self._matches("lexical", CONTEXT_WEIGHT, within, terms, wanted, k)

    def match_files(
        self, terms: Sequence[str], wanted: Filter, k: int
    ) -> list[tuple[tuple[str, str], float]]:
        """See `Store`."""
        with self.snapshot():
            within = "rowid IN (SELECT id FROM wanted)"
            found = self._matches("whole", WHOLE_PATH_WEIGHT, within, terms, wanted, k)
            names = self._file_names([id_ for id_, _ in found])
        return [(names[id_], score) for id_, score in found]

    def _matches(
        self, table: str, context: float, within: str, terms: Sequence[str], wanted: Filter, k: int
    ) -> list[tuple[int, float]]:
        quoted = " OR ".join('"' + term.replace('"', '""') + '"' for term in dict.fromkeys(terms))
        if not quoted:
            return []
        with self.snapshot():
            files = self._files(wanted)
            if files is not None:
                self._fill_wanted(files)
            rows = self._rows(
                f"SELECT rowid, -bm25({table}, 1.0, {context}) AS score FROM {table} WHERE {table} MATCH ? "
                f"{'' if files is None else 'AND ' + within} ORDER BY score DESC, rowid LIMIT ?",
                (quoted, k),
            )
        return [(int(id_), float(score)) for id_, score in rows]

    def _file_names(self, ids: Sequence[int]) -> dict[int, tuple[str, str]]:
        names: dict[int, tuple[str, str]] = {}
        for start in range(0, len(ids), _VALUES):
            part = ids[start : start + _VALUES]
            rows = self._rows(
                "SELECT f.id, d.path, f.path FROM files f JOIN folders d ON d.id = f.folder_id "
                f"WHERE f.id IN ({','.join('?' * len(part))})",
                part,
            )
            names.update((id_, (os.fsdecode(folder), os.fsdecode(path))) for id_, folder, path in rows)
        return names

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """See `Store`."""
        with self.snapshot():
            found = {
                term: self._rows("SELECT doc FROM lexical_terms WHERE term = ?", (term,))
                for term in dict.fromkeys(terms)
            }
        return {term: int(rows[0][0]) if rows else 0 for term, rows in found.items()}

    def passage_count(self) -> int:
        """See `Store`."""
        return int(self._rows("SELECT count(*) FROM passages")[0][0])

    def symbols(self, files: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
        """See `Store`."""
        with self.snapshot():
            return {
                (folder, path): [
                    str(symbol)
                    for (symbol,) in self._rows(
                        "SELECT p.symbol FROM passages p JOIN files f ON f.id = p.file_id "
                        "JOIN folders d ON d.id = f.folder_id "
                        "WHERE d.path = ? AND f.path = ? AND p.symbol != '' ORDER BY p.id",
                        (os.fsencode(folder), os.fsencode(path)),
                    )
                ]
                for folder, path in dict.fromkeys(files)
            }

    def _fill_wanted(self, files: Sequence[int]) -> None:
        db = self._connection
        db.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (id INTEGER PRIMARY KEY)")
        db.execute("DELETE FROM wanted")
        db.executemany("INSERT INTO wanted VALUES (?)", ((file,) for file in files))

    def nearest(self, vector: npt.NDArray[np.float32], wanted: Filter, k: int) -> list[tuple[int, float]]:
        """See `Store`."""
        with self.snapshot():
            files = self._files(wanted)
            table = self._vector_table()
        return table.nearest(vector, k, files)

    def _vector_table(self) -> VectorTable:
        """The vectors of this snapshot, read again only after somebody wrote."""
        from .vectors import VectorTable

        with self._lock, _translated(self.path):
            version = self._connection.execute("PRAGMA data_version").fetchone()[0]
            state = (int(version), self._connection.total_changes)
            if self._vectors is None or self._vectors[0] != state:
                rows = self._connection.execute(
                    "SELECT p.id, p.file_id, p.script, e.vector FROM passages p "
                    "JOIN embeddings e ON e.id = p.embedding_id WHERE e.vector IS NOT NULL"
                ).fetchall()
                ids, files, scripts, blobs = zip(*rows, strict=True) if rows else ((), (), (), ())
                self._vectors = (state, VectorTable.of(ids, files, scripts, blobs))
            return self._vectors[1]

    def _files(self, wanted: Filter) -> list[int] | None:
        """Ids of the files a filter lets through, None when it lets everything through."""
        if wanted.empty:
            return None
        rows = self._rows(
            "SELECT f.id, d.path, f.path, f.language FROM files f JOIN folders d ON d.id = f.folder_id "
            "WHERE f.chunks > 0"
        )
        return files_wanted(
            ((id_, os.fsdecode(folder), os.fsdecode(path), language) for id_, folder, path, language in rows),
            wanted,
        )

    def passages(self, ids: Sequence[int]) -> dict[int, Passage]:
        """See `Store`."""
        found: dict[int, Passage] = {}
        texts: dict[int, str] = {}
        with self.snapshot():
            for start in range(0, len(ids), _VALUES):
                part = ids[start : start + _VALUES]
                marks = ",".join("?" * len(part))
                rows = self._rows(f"SELECT {PASSAGE_COLUMNS} WHERE p.id IN ({marks})", part)
                for row in rows:
                    file_id = int(row[1])
                    if file_id not in texts:
                        blob = self._rows("SELECT text FROM documents WHERE file_id = ?", (file_id,))
                        texts[file_id] = unpacked(blob[0][0])
                    passage = passage_of(row, texts[file_id])
                    found[passage.id] = passage
        return found


CONTEXT_WEIGHT = 0.5
WHOLE_PATH_WEIGHT = 3.0
_PENDING = "FROM embeddings WHERE vector IS NULL AND id IN (SELECT embedding_id FROM passages)"


@contextlib.contextmanager
def _translated(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise StoreError(_explain(error, path)) from error


def _explain(error: sqlite3.DatabaseError, path: str) -> str:
    text = str(error)
    if "full" in text:
        return f"the disk is full: nothing that was indexed is lost; free some space for {path} and run again"
    if "malformed" in text or "not a database" in text:
        return f"the index {path} is damaged: run `semantic-search index --force` to build it afresh"
    if "locked" in text:
        return f"the index {path} is being written by another process; try again when it is done"
    return f"the index {path} cannot be used: {text}"
