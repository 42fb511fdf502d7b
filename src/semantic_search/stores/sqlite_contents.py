"""Everything in an index file, for another store: files as they were written, and vectors."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..types import Chunk, Document, Skip, Skipped, SourceFile
from .rows import Indexed, Kept, text_to_tags
from .sqlite_rows import PASSAGE_COLUMNS, passage_of, unpacked
from .sqlite_search import SqliteArms

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_VECTORS_AT_ONCE = 4096


class SqliteContents(SqliteArms):
    """See `Store` for the public methods."""

    def contents(self, folder: str) -> Iterator[Kept]:
        """See `Store`."""
        rows = self._rows(
            "SELECT f.id, f.path, size, mtime_ns, ctime_ns, inode, seen_ns, sha256, language, reason, "
            "detail, chunks, tags FROM files f JOIN folders d ON d.id = f.folder_id WHERE d.path = ? "
            "ORDER BY f.id",
            (os.fsencode(folder),),
        )
        for (
            id_,
            path,
            size,
            mtime,
            ctime,
            inode,
            seen,
            sha256,
            language,
            reason,
            detail,
            chunks,
            tags,
        ) in rows:
            source = SourceFile(folder, os.fsdecode(path), size, mtime, ctime, int(inode))
            skipped = Skipped(source, Skip(reason), detail) if reason else None
            notes = (detail,) if detail and not reason else ()
            found = self._rows("SELECT text, pages, terms FROM documents WHERE file_id = ?", (id_,))
            indexed = None
            if found and (chunks or not reason):
                text, pages, terms = found[0]
                document = Document(
                    source,
                    sha256,
                    unpacked(text),
                    language,
                    tuple(json.loads(pages)),
                    notes,
                    text_to_tags(tags),
                )
                indexed = self._indexed(id_, document, unpacked(terms))
            yield Kept(source, seen, indexed, skipped)

    def _indexed(self, file_id: int, document: Document, lines: str) -> Indexed:
        rows = self._rows(f"SELECT {PASSAGE_COLUMNS} WHERE p.file_id = ? ORDER BY p.id", (file_id,))
        keys = self._rows(
            "SELECT e.key FROM passages p JOIN embeddings e ON e.id = p.embedding_id WHERE p.file_id = ? "
            "ORDER BY p.id",
            (file_id,),
        )
        passages = [passage_of(row, document.text) for row in rows]
        path_terms, *pairs = lines.split("\n")
        terms = [pair.split("\t") for pair in pairs] if passages else []
        chunks: tuple[Chunk, ...] = tuple(passage.chunk for passage in passages)
        return Indexed(
            document,
            chunks,
            tuple(own for own, _ in terms),
            tuple(context for _, context in terms),
            tuple(passage.script for passage in passages),
            tuple(bytes(key) for (key,) in keys),
            path_terms,
        )

    def stored_vectors(self) -> Iterator[tuple[list[bytes], list[str], npt.NDArray[np.float32]]]:
        """See `Store`."""
        import numpy as np

        from .vectors import unpack

        last = 0
        while True:
            rows: list[tuple[Any, ...]] = self._rows(
                "SELECT e.id, e.key, (SELECT script FROM passages WHERE embedding_id = e.id LIMIT 1), "
                "e.vector FROM embeddings e WHERE e.vector IS NOT NULL AND e.id > ? ORDER BY e.id LIMIT ?",
                (last, _VECTORS_AT_ONCE),
            )
            if not rows:
                return
            last = rows[-1][0]
            keys, scripts = [bytes(row[1]) for row in rows], [str(row[2] or "") for row in rows]
            yield keys, scripts, np.stack([unpack(row[3]) for row in rows])

    def take_vectors(
        self, keys: Sequence[bytes], scripts: Sequence[str], vectors: npt.NDArray[np.float32]
    ) -> None:
        """See `Store`."""
        from .vectors import pack

        with self._writing() as db:
            db.executemany(
                "INSERT INTO embeddings (key, vector) VALUES (?, ?) "
                "ON CONFLICT (key) DO UPDATE SET vector = excluded.vector WHERE vector IS NULL",
                zip(keys, pack(vectors), strict=True),
            )
