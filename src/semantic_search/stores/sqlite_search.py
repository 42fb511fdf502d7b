"""The vector arm over an index file, passages by id, and what ranking asks of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from .rows import Filter, Passage
from .sqlite_rows import END_COLUMN, PASSAGE_COLUMNS, passage_of, unpacked_until
from .sqlite_words import VALUES, SqliteWords

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .vectors import VectorTable

_VECTORS_AT_ONCE = 10_000


class SqliteArms(SqliteWords):
    """See `Store` for the public methods."""

    _vectors: tuple[tuple[int, int], VectorTable] | None = None

    def symbols(self, files: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
        """See `Store`."""
        # One statement for each file: SQLite compiles one for all of them longer than it runs these.
        sql = (
            "SELECT p.symbol FROM passages p JOIN files f ON f.id = p.file_id "
            "JOIN folders d ON d.id = f.folder_id "
            "WHERE d.path = ? AND f.path = ? AND p.symbol != '' ORDER BY p.id"
        )
        found: dict[tuple[str, str], list[str]] = {}
        with self.snapshot():
            for folder, path in dict.fromkeys(files):
                rows = self._connection.execute(sql, (os.fsencode(folder), os.fsencode(path)))
                found[folder, path] = [str(symbol) for (symbol,) in rows]
        return found

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
            self._vectors = None  # two tables at once would take twice the memory
            rows = self._batches(
                "SELECT p.id, p.file_id, p.script, e.vector FROM passages p "
                "JOIN embeddings e ON e.id = p.embedding_id WHERE e.vector IS NOT NULL",
                _VECTORS_AT_ONCE,
            )
            self._vectors = (state, VectorTable.of(rows))
        return self._vectors[1]

    def passages(self, ids: Sequence[int]) -> dict[int, Passage]:
        """See `Store`."""
        found: dict[int, Passage] = {}
        with self.snapshot():
            for start in range(0, len(ids), VALUES):
                part = ids[start : start + VALUES]
                rows = self._rows(f"SELECT {PASSAGE_COLUMNS} WHERE p.id IN ({_marks(part)})", part)
                ends: dict[int, int] = {}
                for _, file, *_, end in (row[: END_COLUMN + 1] for row in rows):
                    ends[file] = max(end, ends.get(file, 0))
                texts = self._texts(ends)
                found.update((int(row[0]), passage_of(row, texts[row[1]])) for row in rows)
        return found

    def _texts(self, ends: Mapping[int, int]) -> dict[int, str]:
        """The texts of files by id, each up to where the last passage wanted of it ends."""
        rows = self._rows(
            f"SELECT file_id, text FROM documents WHERE file_id IN ({_marks(ends)})", list(ends)
        )
        return {id_: unpacked_until(blob, ends[id_]) for id_, blob in rows}

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


def _marks(values: Collection[object]) -> str:
    return ",".join("?" * len(values))
