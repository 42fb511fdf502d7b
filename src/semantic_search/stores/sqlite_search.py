"""The two arms over an index file, and what ranking asks of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .rows import Filter, Passage
from .selection import files_wanted
from .sqlite_rows import PASSAGE_COLUMNS, passage_of, unpacked
from .sqlite_session import SqliteSession

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .vectors import VectorTable

# SQLite's default limit on bound values is 32 766 since 3.32.
_VALUES = 10_000

# How much a term of a passage's surroundings (path, heading, symbol) counts against one of its text; the
# same for the path against the text of a whole file.
CONTEXT_WEIGHT = 0.5
WHOLE_PATH_WEIGHT = 3.0


class SqliteArms(SqliteSession):
    """See `Store` for the public methods."""

    _vectors: tuple[tuple[int, int], VectorTable] | None = None

    def match(self, terms: Sequence[str], wanted: Filter, k: int) -> list[tuple[int, float]]:
        """See `Store`."""
        within = "+rowid IN (SELECT id FROM passages WHERE file_id IN (SELECT id FROM wanted))"
        return self._matches("lexical", CONTEXT_WEIGHT, within, terms, wanted, k)

    def match_files(
        self, terms: Sequence[str], wanted: Filter, k: int
    ) -> list[tuple[tuple[str, str], float]]:
        """See `Store`."""
        with self.snapshot():
            within = "+rowid IN (SELECT id FROM wanted)"
            found = self._matches("whole", WHOLE_PATH_WEIGHT, within, terms, wanted, k)
            names = self._file_names([id_ for id_, _ in found])
        return [(names[id_], score) for id_, score in found]

    def _matches(
        self, table: str, context: float, within: str, terms: Sequence[str], wanted: Filter, k: int
    ) -> list[tuple[int, float]]:
        quoted = " OR ".join('"' + term.replace('"', '""') + '"' for term in dict.fromkeys(terms))
        if not quoted:
            return []
        # The plus in `within` keeps SQLite from asking FTS5 once for each wanted rowid, which takes seconds.
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

        state = self._state()
        if self._vectors is None or self._vectors[0] != state:
            rows = self._rows(
                "SELECT p.id, p.file_id, p.script, e.vector FROM passages p "
                "JOIN embeddings e ON e.id = p.embedding_id WHERE e.vector IS NOT NULL"
            )
            ids, files, scripts, blobs = zip(*rows, strict=True) if rows else ((), (), (), ())
            self._vectors = (state, VectorTable.of(ids, files, scripts, blobs))
        return self._vectors[1]

    def _files(self, wanted: Filter) -> list[int] | None:
        """Ids of the files a filter lets through, None when it lets everything through."""
        if wanted.empty:
            return None
        rows = self._rows(
            "SELECT f.id, d.path, f.path, f.language, f.tags FROM files f "
            "JOIN folders d ON d.id = f.folder_id WHERE f.chunks > 0"
        )
        found = files_wanted(
            ((id_, os.fsdecode(folder), os.fsdecode(path), *facts) for id_, folder, path, *facts in rows),
            wanted,
        )
        return None if len(found) == len(rows) else found

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

    def passages_of(self, folder: str, path: str) -> list[Passage]:
        """See `Store`."""
        with self.snapshot():
            rows = self._rows(
                "SELECT p.id FROM passages p JOIN files f ON f.id = p.file_id "
                "JOIN folders d ON d.id = f.folder_id WHERE d.path = ? AND f.path = ? ORDER BY p.id",
                (os.fsencode(folder), os.fsencode(path)),
            )
            found = self.passages([id_ for (id_,) in rows])
        return [found[id_] for (id_,) in rows]

    def vector_of(self, passage: int) -> npt.NDArray[np.float32] | None:
        """See `Store`."""
        from .vectors import unpack

        rows = self._rows(
            "SELECT e.vector FROM passages p JOIN embeddings e ON e.id = p.embedding_id "
            "WHERE p.id = ? AND e.vector IS NOT NULL",
            (passage,),
        )
        return unpack(rows[0][0]) if rows else None
