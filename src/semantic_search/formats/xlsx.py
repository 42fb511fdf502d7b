"""Excel workbooks (ECMA-376): the values of every sheet, rows as tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from ..types import Skip
from .blocks import Full, join
from .outcome import CUT_NOTE, Extracted, Refused, clean, of_parts
from .package import Package, Refusal, plain, relation_id
from .sheets import Sheet

MAX_CHARACTERS = 20_000_000
MAX_STRINGS = 100_000_000

_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_QUOTED = re.compile(r'"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|_.')
_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_TIMES = frozenset((18, 19, 20, 21, 32, 33, 45, 46, 47, 55, 56))


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The values of a workbook as Markdown, a table for each run of rows, its sheets the pages.

    Every row begins with its number in the sheet. Values of formulas are those that were saved; dates are in
    ISO 8601. Refuses as `docx.extract` does. Notes say what was cut or could not be read.
    """
    try:
        return _Workbook(Package(data, "Excel workbook", ".xlsx"), max_characters).read()
    except Refusal as refusal:
        return Refused(refusal.reason, refusal.detail)


class _Workbook:
    def __init__(self, package: Package, room: int) -> None:
        self._package = package
        self._room = room
        self._notes: list[str] = []
        self._sheets: list[tuple[str, str]] = []
        self._since_1904 = False

    def read(self) -> Extracted | Refused:
        main = self._package.main("xl/workbook.xml")
        root = ""

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            nonlocal root
            root = root or tag
            if tag == "s:workbookPr":
                self._since_1904 = plain(attributes, "date1904") in ("1", "true")
            elif tag == "s:sheet":
                self._sheets.append((plain(attributes, "name"), relation_id(attributes)))

        self._package.parse(main, start)
        if root != "s:workbook":
            raise self._package.foreign()
        relations = self._package.relations(main)
        parts = {each.id: each.part for each in relations if each.kind == "worksheet"}
        strings, styles = _Strings(), _Styles()
        for each in relations:
            if each.kind == "sharedStrings":
                self._optional(each.part, "texts", strings)
            elif each.kind == "styles":
                self._optional(each.part, "styles", styles)
        texts = []
        for name, id_ in self._sheets:
            if id_ in parts:
                texts.append(self._sheet(name, parts[id_], strings.texts, styles.formats()))
            if self._room <= 0:
                break
        return of_parts(texts, self._notes)

    def _sheet(self, name: str, part: str, strings: list[str], formats: list[str]) -> str:
        sheet = Sheet(name, self._room)
        cells = _Cells(sheet, strings, formats, since_1904=self._since_1904)
        try:
            self._package.parse(part, cells.start, cells.end, cells.text)
        except Full:
            self._notes.append(CUT_NOTE)
        except Refusal as refusal:
            if refusal.reason is not Skip.DAMAGED:
                raise
            self._notes.append(f"the sheet {name!r} could not be read to its end")
        self._room -= sheet.written
        self._notes += [note for note in sheet.notes if note not in self._notes]
        blocks = sheet.finish()
        return clean(join(blocks)) if len(blocks) > 1 else ""

    def _optional(self, part: str, what: str, reader: _Strings | _Styles) -> None:
        try:
            self._package.parse(part, reader.start, reader.end, reader.text)
        except Refusal as refusal:
            if refusal.reason is not Skip.DAMAGED:
                raise
            self._notes.append(f"the workbook's {what} could not be read")


class _Strings:
    """The shared strings, by number."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._pieces: list[str] = []
        self._collecting = False
        self._skipped = False
        self._room = MAX_STRINGS

    def start(self, tag: str, _: Mapping[str, str]) -> None:
        if tag == "s:rPh":  # readings of Japanese characters
            self._skipped = True
        self._collecting = tag == "s:t" and not self._skipped

    def end(self, tag: str) -> None:
        self._collecting = False
        if tag == "s:rPh":
            self._skipped = False
        elif tag == "s:si":
            self.texts.append("".join(self._pieces))
            self._pieces.clear()

    def text(self, data: str) -> None:
        if self._collecting:
            self._room -= len(data)
            if self._room < 0:
                raise Refusal(Skip.TOO_COMPLEX, f"more than {MAX_STRINGS} characters of shared text")
            self._pieces.append(data)


class _Styles:
    """Which cell formats show dates and times."""

    def __init__(self) -> None:
        self._codes: dict[int, str] = {}
        self._numbers: list[int] = []
        self._in_cells = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "s:numFmt":
            self._codes[_whole(plain(attributes, "numFmtId"))] = plain(attributes, "formatCode")
        elif tag == "s:cellXfs":
            self._in_cells = True
        elif tag == "s:xf" and self._in_cells:
            self._numbers.append(_whole(plain(attributes, "numFmtId")))

    def end(self, tag: str) -> None:
        if tag == "s:cellXfs":
            self._in_cells = False

    def text(self, _: str) -> None: ...

    def formats(self) -> list[str]:
        """For each style `date`, `time`, or nothing."""
        return [self._format(number) for number in self._numbers]

    def _format(self, number: int) -> str:
        code = self._codes.get(number)
        if code is None:
            return "time" if number in _TIMES else "date" if number in _DATES else ""
        bare = _QUOTED.sub("", code.partition(";")[0]).lower()
        if "d" in bare or "y" in bare:
            return "date"
        return "time" if "h" in bare or "s" in bare.replace("general", "") else ""


class _Cells:
    """Handlers for a sheet's XML: gives its rows to `sheet`."""

    def __init__(self, sheet: Sheet, strings: list[str], formats: list[str], *, since_1904: bool) -> None:
        self._sheet = sheet
        self._strings = strings
        self._formats = formats
        self._epoch = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)
        self._row = 0
        self._column = -1
        self._cells: dict[int, str] = {}
        self._kind = ""
        self._style = 0
        self._pieces: list[str] = []
        self._collecting = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "s:row":
            self._row = _whole(attributes.get("r", "")) or self._row + 1
            self._column = -1
            self._cells = {}
        elif tag == "s:c":
            match = _REFERENCE.fullmatch(attributes.get("r", ""))
            self._column = _column(match[1]) if match is not None else self._column + 1
            self._kind = attributes.get("t", "n")
            self._style = _whole(attributes.get("s", ""))
            self._pieces = []
        self._collecting = tag in ("s:v", "s:t")

    def end(self, tag: str) -> None:
        self._collecting = False
        if tag == "s:c" and self._pieces:
            self._cells[self._column] = self._value("".join(self._pieces))
        elif tag == "s:row":
            self._sheet.add(self._row, self._cells)

    def text(self, data: str) -> None:
        if self._collecting:
            self._pieces.append(data)

    def _value(self, raw: str) -> str:
        if self._kind == "s":
            number = _whole(raw)
            return self._strings[number] if number < len(self._strings) else ""
        if self._kind == "b":
            return "TRUE" if raw.strip() == "1" else "FALSE"
        if self._kind != "n":
            return raw
        try:
            value = float(raw)
        except ValueError:
            return raw
        shown = self._formats[self._style] if self._style < len(self._formats) else ""
        if shown and 0 <= value < 2_958_466:
            return self._moment(value, shown)
        return f"{value:.15g}"

    def _moment(self, days: float, shown: str) -> str:
        moment = self._epoch + timedelta(seconds=round(days * 86_400))
        if days < 1 or (shown == "time" and days < 2):
            return moment.strftime("%H:%M:%S").removesuffix(":00")
        text = moment.isoformat(" ")
        return text.removesuffix(" 00:00:00") if shown == "date" else text


def _whole(value: str) -> int:
    """A whole number from 0, which is also what nonsense stands for."""
    value = value.strip()
    return int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else 0


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1
