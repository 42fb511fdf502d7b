"""Rows of a spreadsheet as tables: the first row of a run is its header, every row begins with its number."""

from __future__ import annotations

from collections.abc import Mapping

from .blocks import Block, Full, heading_of, paragraph_of, row_of, rule_of
from .outcome import clean

MOST_COLUMNS = 1_000
MOST_REPEATED = 100


class Sheet:
    """Takes rows in their order and holds no more than one; `blocks` has the text so far.

    Rows that follow each other are a table; an empty one ends it. A single cell above a table is a paragraph.
    """

    def __init__(self, name: str, room: int) -> None:
        self.blocks: list[Block] = [heading_of(1, clean(name).strip() or "Sheet")]
        self.written = 0
        self.notes: list[str] = []
        self._room = room
        self._waiting: tuple[int, dict[int, str]] | None = None
        self._columns: range | None = None
        self._last = 0

    def add(self, number: int, cells: Mapping[int, str]) -> None:
        """Take in the row of this number (from 1): texts by column (from 0). Raises `Full`."""
        filled = {column: text for column, cell in cells.items() if (text := " ".join(clean(cell).split()))}
        if any(column >= MOST_COLUMNS for column in filled):
            self._note(f"of some rows only the first {MOST_COLUMNS} columns were kept")
            filled = {column: text for column, text in filled.items() if column < MOST_COLUMNS}
        if not filled:
            return
        if number != self._last + 1:
            self._end_table()
        self._last = number
        if self._columns is not None:
            self._write_row(number, filled)
        elif self._waiting is None:
            self._waiting = (number, filled)
        elif len(self._waiting[1]) == 1:
            self._alone()
            self._waiting = (number, filled)
        else:
            above, header = self._waiting
            self._waiting = None
            self._columns = range(min(header), max(header) + 1)
            self._write_row(above, header, first=True)
            self._write_row(number, filled)

    def add_repeated(self, number: int, cells: Mapping[int, str], times: int) -> None:
        """Take in so many rows with the same cells, from this number on. Raises `Full`."""
        if times > MOST_REPEATED and any(cells.values()):
            self._note(f"rows that are repeated are there {MOST_REPEATED} times at most")
        for each in range(number, number + min(times, MOST_REPEATED)):
            self.add(each, cells)

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def finish(self) -> list[Block]:
        """Every block; the heading alone where there were no rows."""
        self._end_table()
        return self.blocks

    def _end_table(self) -> None:
        self._columns = None
        if self._waiting is not None:
            self._alone()

    def _alone(self) -> None:
        if self._waiting is not None:
            _, cells = self._waiting
            self._waiting = None
            self._put(paragraph_of("; ".join(text for _, text in sorted(cells.items()))))

    def _write_row(self, number: int, cells: Mapping[int, str], *, first: bool = False) -> None:
        assert self._columns is not None
        texts = [
            cells.get(column, "")
            for column in range(self._columns.start, max(self._columns.stop, max(cells) + 1))
        ]
        # What stands left of the header has no column of its own.
        texts[0] = " ".join(
            [*(text for column, text in sorted(cells.items()) if column < self._columns.start), texts[0]]
        )
        if first:
            # The header's own corner stays empty, so that the header is the names of the columns.
            self._put(row_of(["", *texts], first=True))
            self._put(rule_of(len(texts) + 1))
        else:
            self._put(row_of([str(number), *texts]))

    def _put(self, block: Block) -> None:
        self.written += len(block.text) + 1
        self.blocks.append(block)
        if self.written > self._room:
            raise Full
