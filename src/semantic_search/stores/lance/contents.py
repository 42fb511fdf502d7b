"""Everything in a LanceDB index, for another store: files as they were written."""

from __future__ import annotations

from collections.abc import Iterator

from ...types import Document, Skip, Skipped
from ..rows import Indexed, Kept, text_to_tags
from ..sqlite_rows import unpacked
from .failures import translated
from .search import LanceArms
from .tables import (
    FILE,
    FILE_COLUMNS,
    PASSAGE,
    PASSAGE_COLUMNS,
    Row,
    any_of,
    chunk_of,
    file_row_id,
    name_to_text,
    quoted,
    source_of,
)

_FILES_AT_ONCE = 256


class LanceContents(LanceArms):
    """See `Store` for the public methods."""

    def contents(self, folder: str) -> Iterator[Kept]:
        """See `Store`."""
        condition = f"kind = {FILE} AND folder = {quoted(name_to_text(folder))}"
        numbers = sorted(self._table(["file"], condition)["file"].to_pylist())
        for start in range(0, len(numbers), _FILES_AT_ONCE):
            part = numbers[start : start + _FILES_AT_ONCE]
            columns = [*FILE_COLUMNS, "file", "pages", "path_terms", "text"]
            files = self._rows(columns, any_of("id", map(file_row_id, part)))
            passages: dict[int, list[Row]] = {}
            condition = f"kind = {PASSAGE} AND {any_of('file', part)}"
            for row in self._rows([*PASSAGE_COLUMNS, "text_terms", "words"], condition):
                passages.setdefault(row["file"], []).append(row)
            for row in sorted(files, key=lambda row: int(row["id"])):
                own = sorted(passages.get(row["file"], []), key=lambda passage: int(passage["id"]))
                yield self._kept_file(row, own)

    def _kept_file(self, row: Row, passages: list[Row]) -> Kept:
        source, reason, detail = source_of(row), row["reason"], row["detail"]
        skipped = Skipped(source, Skip(reason), detail) if reason else None
        indexed = None
        if row["text"] is not None and (passages or not reason):
            notes = (detail,) if detail and not reason else ()
            with translated(self.path):
                text = unpacked(row["text"])
            document = Document(
                source,
                row["sha256"],
                text,
                row["language"],
                tuple(row["pages"] or ()),
                notes,
                text_to_tags(row["tags"]),
            )
            indexed = _indexed(row, document, passages)
        return Kept(source, row["seen_ns"], indexed, skipped)


def _indexed(file: Row, document: Document, passages: list[Row]) -> Indexed:
    words = [(row["words"].split(" ") if row["words"] else [], row["text_terms"]) for row in passages]
    return Indexed(
        document,
        tuple(chunk_of(row, document.text) for row in passages),
        tuple(" ".join(terms[:split]) for terms, split in words),
        tuple(" ".join(terms[split:]) for terms, split in words),
        tuple(row["script"] for row in passages),
        tuple(bytes.fromhex(row["key"]) for row in passages),
        file["path_terms"],
    )
