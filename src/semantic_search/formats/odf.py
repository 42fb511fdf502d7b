"""OpenDocument texts, spreadsheets and presentations (ISO 26300) as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..types import Skip
from .blocks import Block, Full, Table, flat, heading_of, join, paragraph_of
from .outcome import CUT_NOTE, Extracted, Refused, clean, of_parts
from .package import Package, Refusal, plain
from .sheets import MOST_COLUMNS, Sheet

MAX_CHARACTERS = 20_000_000

_BODIES = ("office:text", "office:spreadsheet", "office:presentation", "office:drawing")
# Deleted text, what fields repeat, forms, and what only a program reads.
_SILENT = """
text:tracked-changes office:forms office:event-listeners text:note-citation presentation:footer
presentation:date-time text:sequence-decls text:variable-decls table:tracked-changes table:shapes draw:image
text:hidden-text
"""
_SKIPPED = frozenset(_SILENT.split())
_MOST_SPACES = 100
_MOST_LEVELS = 6


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The text of a document: headings, lists, tables a row a line, notes and comments.

    The pages of a spreadsheet are its sheets, with rows as `xlsx.extract` gives them; those of a presentation
    its slides, each with its notes. A text document has none. Refuses as `docx.extract` does.
    """
    try:
        return _read(Package(data, "OpenDocument file", ".odt, .ods or .odp"), max_characters)
    except Refusal as refusal:
        return Refused(refusal.reason, refusal.detail)


def _read(package: Package, room: int) -> Extracted | Refused:
    if _is_encrypted(package):
        raise Refusal(Skip.ENCRYPTED, "")
    if "content.xml" not in package:
        raise package.foreign()
    reader = _Reader(room)
    notes = []
    try:
        package.parse("content.xml", reader.start, reader.end, reader.text)
    except Full:
        notes.append(CUT_NOTE)
    if reader.body not in _BODIES:
        raise package.foreign()
    texts = reader.finish()
    outcome = of_parts(texts, [*reader.notes, *notes])
    if isinstance(outcome, Extracted) and reader.body == "office:text":
        return Extracted(outcome.text, (), outcome.notes)
    return outcome


def _is_encrypted(package: Package) -> bool:
    found = False

    def start(tag: str, _: Mapping[str, str]) -> None:
        nonlocal found
        found = found or tag == "manifest:encryption-data"

    if "META-INF/manifest.xml" in package:
        package.parse("META-INF/manifest.xml", start, typed=True)
    return found


class _Reader:
    """Handlers for `content.xml`. A part is a slide, a sheet, or the whole of a text."""

    def __init__(self, room: int) -> None:
        self.body = ""
        self.notes: list[str] = []
        self._room = room
        self._written = 0
        self._skipped = 0
        self._parts: list[str] = []
        self._containers: list[list[Block]] = [[]]
        self._paragraphs: list[list[str]] = []
        self._levels: list[int] = []
        self._aside: list[Block] = []
        self._lists = 0
        self._is_item = False
        self._tables: list[Table] = []
        self._open_cells = 0
        self._title = ""
        self._is_title = False
        self._sheet: Sheet | None = None
        self._depth = 0
        self._row = 0
        self._rows = 1
        self._column = 0
        self._columns = 1
        self._value = ""
        self._cells: dict[int, str] = {}

    def finish(self) -> list[str]:
        """The text of each part."""
        if self._sheet is not None:
            self._end_sheet()
        blocks = [block for container in self._containers for block in container]
        if blocks:
            self._parts.append(clean(join(blocks)))
        return self._parts

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._skipped or tag in _SKIPPED:
            self._skipped += 1
        elif tag in _BODIES and not self.body:
            self.body = tag
        elif self.body and tag in _STARTS:
            _STARTS[tag](self, attributes)

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif self.body and tag in _ENDS:
            _ENDS[tag](self)

    def text(self, data: str) -> None:
        if self._paragraphs and not self._skipped:
            self._write(data)

    def _write(self, text: str) -> None:
        if self._paragraphs:
            self._written += len(text)
            self._paragraphs[-1].append(text)
            if self._written > self._room:
                raise Full

    def _start_paragraph(self, attributes: Mapping[str, str]) -> None:
        self._paragraphs.append([])
        level = plain(attributes, "outline-level")
        self._levels.append(int(level) if level.isascii() and level.isdigit() and len(level) < 3 else 0)

    def _start_heading(self, attributes: Mapping[str, str]) -> None:
        self._start_paragraph(attributes)
        self._levels[-1] = self._levels[-1] or 1

    def _end_paragraph(self) -> None:
        if not self._paragraphs:
            return
        text, level = clean("".join(self._paragraphs.pop())).strip(), self._levels.pop()
        if text:
            self._add(text, level)
        if not self._paragraphs:
            self._release_notes()

    def _add(self, text: str, level: int) -> None:
        if self._is_title and not self._title:
            self._title = " ".join(text.split())
        elif level:
            self._containers[-1].append(heading_of(level, text))
        elif self._lists:
            indent = "    " * (min(self._lists, _MOST_LEVELS) - 1)
            mark = "- " if self._is_item else "  "
            self._is_item = False
            self._containers[-1].append(Block("item", indent + mark, text))
        else:
            self._containers[-1].append(paragraph_of(text))

    def _spaces(self, attributes: Mapping[str, str]) -> None:
        count = plain(attributes, "c")
        self._write(
            " "
            * (min(int(count), _MOST_SPACES) if count.isascii() and count.isdigit() and len(count) < 5 else 1)
        )

    def _tab(self, _: Mapping[str, str]) -> None:
        self._write("\t")

    def _line_break(self, _: Mapping[str, str]) -> None:
        self._write("\n")

    def _start_list(self, _: Mapping[str, str]) -> None:
        self._lists += 1

    def _end_list(self) -> None:
        self._lists -= 1

    def _start_item(self, _: Mapping[str, str]) -> None:
        self._is_item = True

    # Notes and comments follow the paragraph that they stand in.

    def _start_note(self, _: Mapping[str, str]) -> None:
        self._containers.append([])

    def _end_note(self) -> None:
        if len(self._containers) < 2:
            return
        text = flat(self._containers.pop())
        if text:
            self._aside.append(Block("note", "> ", text))
        if not self._paragraphs:
            self._release_notes()

    def _release_notes(self) -> None:
        self._containers[-1] += self._aside
        self._aside = []

    # Tables of texts and slides; those of a spreadsheet are its sheets.

    def _start_table(self, attributes: Mapping[str, str]) -> None:
        if self.body == "office:spreadsheet":
            if self._sheet is None:
                self._sheet = Sheet(plain(attributes, "name"), self._room - self._written)
                self._row = 0
            self._depth += 1
        else:
            self._tables.append(Table(nested=self._open_cells > 0))

    def _end_table(self) -> None:
        if self._sheet is not None:
            self._depth -= 1
            if not self._depth:
                self._end_sheet()
        elif self._tables:
            self._containers[-1] += self._tables.pop().end()

    def _end_sheet(self) -> None:
        assert self._sheet is not None
        sheet, self._sheet = self._sheet, None
        self._written += sheet.written
        blocks = sheet.finish()
        self.notes += [note for note in sheet.notes if note not in self.notes]
        self._parts.append(clean(join(blocks)) if len(blocks) > 1 else "")

    def _start_row(self, attributes: Mapping[str, str]) -> None:
        self._rows = _repeated(attributes, "number-rows-repeated")
        self._column = 0
        self._cells = {}
        if self._tables:
            self._tables[-1].row = []

    def _end_row(self) -> None:
        if self._sheet is not None:
            self._sheet.add_repeated(self._row + 1, self._cells, self._rows)
            self._row += self._rows
        elif self._tables:
            self._containers[-1] += self._tables[-1].end_row()

    def _start_cell(self, attributes: Mapping[str, str]) -> None:
        self._open_cells += 1
        self._containers.append([])
        self._columns = _repeated(attributes, "number-columns-repeated")
        self._value = plain(attributes, "date-value").removesuffix("T00:00:00").replace("T", " ")
        if self._tables:
            self._tables[-1].span = min(_repeated(attributes, "number-columns-spanned"), 64)

    def _end_cell(self) -> None:
        self._open_cells -= 1
        if len(self._containers) < 2:
            return
        blocks = self._containers.pop()
        if self._sheet is None:
            if self._tables:
                self._tables[-1].end_cell(blocks)
            return
        text = self._value or flat(blocks)
        if text:
            for column in range(self._column, min(self._column + self._columns, MOST_COLUMNS + 1)):
                self._cells[column] = text
        self._column += self._columns

    # Slides.

    def _start_page(self, _: Mapping[str, str]) -> None:
        self._title = ""
        self._containers = [[]]

    def _start_frame(self, attributes: Mapping[str, str]) -> None:
        self._is_title = plain(attributes, "class") == "title"

    def _end_frame(self) -> None:
        self._is_title = False

    def _start_notes(self, _: Mapping[str, str]) -> None:
        self._is_title = False
        self._containers.append([])

    def _end_notes(self) -> None:
        if len(self._containers) < 2:
            return
        said = self._containers.pop()
        self._containers[-1] += [
            Block("note", "" if n else "Notes: ", block.text) for n, block in enumerate(said)
        ]

    def _end_page(self) -> None:
        blocks = [block for container in self._containers for block in container]
        self._containers = [[]]
        if blocks or self._title:
            blocks = [heading_of(1, self._title or f"Slide {len(self._parts) + 1}"), *blocks]
        self._parts.append(clean(join(blocks)))


def _repeated(attributes: Mapping[str, str], name: str) -> int:
    value = plain(attributes, name)
    return int(value) if value.isascii() and value.isdecimal() and 0 < len(value) < 9 and int(value) else 1


_STARTS: dict[str, Callable[[_Reader, Mapping[str, str]], None]] = {
    "text:p": _Reader._start_paragraph,
    "text:h": _Reader._start_heading,
    "text:s": _Reader._spaces,
    "text:tab": _Reader._tab,
    "text:line-break": _Reader._line_break,
    "text:list": _Reader._start_list,
    "text:list-item": _Reader._start_item,
    "text:note": _Reader._start_note,
    "office:annotation": _Reader._start_note,
    "table:table": _Reader._start_table,
    "table:table-row": _Reader._start_row,
    "table:table-cell": _Reader._start_cell,
    "table:covered-table-cell": _Reader._start_cell,
    "draw:page": _Reader._start_page,
    "draw:frame": _Reader._start_frame,
    "presentation:notes": _Reader._start_notes,
}
_ENDS: dict[str, Callable[[_Reader], None]] = {
    "text:p": _Reader._end_paragraph,
    "text:h": _Reader._end_paragraph,
    "text:list": _Reader._end_list,
    "text:note": _Reader._end_note,
    "office:annotation": _Reader._end_note,
    "table:table": _Reader._end_table,
    "table:table-row": _Reader._end_row,
    "table:table-cell": _Reader._end_cell,
    "table:covered-table-cell": _Reader._end_cell,
    "draw:page": _Reader._end_page,
    "draw:frame": _Reader._end_frame,
    "presentation:notes": _Reader._end_notes,
}
