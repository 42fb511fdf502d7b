"""Markdown blocks of a document: paragraphs, list items, table rows, and how they stand together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_LOOKS_LIKE_MARKUP = re.compile(r"^(?=#{1,6}\s|```|~~~)", re.MULTILINE)
_TOGETHER = {("item", "item"), ("table", "row"), ("row", "row")}


class Full(Exception):
    """The text has reached the limit; what was read so far is in the reader."""


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document. `mark` is its Markdown markup, `kind` says what it stands together with.

    Kinds: `heading`, `paragraph`, `item` of a list, `table` for the first row of one and `row` for the
    others, `code`, `note`.
    """

    kind: str
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{self.mark}{self.text}"


@dataclass(slots=True)
class Table:
    """A table being read: gives its rows as they end, and holds no more than one.

    The first row waits for a second, for one cell alone is a frame around text. A table inside a cell
    (`nested`) gives text for that cell instead of rows.
    """

    nested: bool
    span: int = 1
    row: list[list[Block]] = field(default_factory=list)
    _held: list[list[Block]] | None = None
    _rows: int = 0

    def end_cell(self, blocks: list[Block]) -> None:
        """Take in a cell, and empty ones for the further columns that it spans."""
        self.row += [blocks, *([] for _ in range(self.span - 1))]

    def end_row(self) -> list[Block]:
        """What the row that ended adds to the text."""
        if not any(self.row):
            return []
        self._rows += 1
        if self._rows == 1:
            self._held = self.row
            return []
        return [*self._release(), self._line(self.row)]

    def end(self) -> list[Block]:
        """What is left when the table ends."""
        if self._held is not None and len(self._held) == 1:
            return self._held[0]
        return self._release()

    def _release(self) -> list[Block]:
        row, self._held = self._held, None
        if row is None:
            return []
        if self.nested:
            return [self._line(row)]
        return [self._line(row, first=True), rule_of(len(row))]

    def _line(self, row: list[list[Block]], *, first: bool = False) -> Block:
        cells = [flat(cell) for cell in row]
        if self.nested:
            return Block("paragraph", "", "; ".join(cell for cell in cells if cell))
        return row_of(cells, first=first)


def heading_of(level: int, text: str) -> Block:
    """A heading, 1 the outermost; Markdown has six levels."""
    return Block("heading", "#" * min(max(level, 1), 6) + " ", " ".join(text.split()))


def paragraph_of(text: str) -> Block:
    """A paragraph that says the same when it is read as Markdown."""
    return Block("paragraph", "", _LOOKS_LIKE_MARKUP.sub(r"\\", text))


def row_of(cells: Iterable[str], *, first: bool = False) -> Block:
    """A row of a table."""
    escaped = (" ".join(cell.split()).replace("|", r"\|") for cell in cells)
    return Block("table" if first else "row", "", "| " + " | ".join(escaped) + " |")


def rule_of(columns: int) -> Block:
    """What stands below the first row of a table."""
    return Block("row", "", "| " + " | ".join(["---"] * columns) + " |")


def flat(blocks: Iterable[Block]) -> str:
    """Blocks as one line, without the markup of headings."""
    parts = (block.text if block.kind == "heading" else str(block) for block in blocks)
    return " ".join(" ".join(parts).split())


def join(blocks: Iterable[Block]) -> str:
    """Blocks as text: items of a list and rows of a table on lines that follow each other, others apart."""
    return "".join(_joined(blocks)).strip("\n")


def _joined(blocks: Iterable[Block]) -> Iterator[str]:
    last = ""
    for block in blocks:
        yield "\n" if (last, block.kind) in _TOGETHER else "\n\n"
        yield str(block)
        last = block.kind
