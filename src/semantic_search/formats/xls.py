"""Excel 97 to 2003 workbooks: the values of every sheet, rows as tables, as `xlsx` gives them."""

from __future__ import annotations

import io

import xlrd

from ..types import Skip
from . import html, xlsx
from .blocks import Full, join
from .outcome import CUT_NOTE, Extracted, Refused, clean, of_parts
from .package import COMPOUND_FILE
from .sheets import Sheet

MAX_CHARACTERS = 20_000_000


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The values of a workbook as Markdown, a table for each run of rows, its sheets the pages.

    Every row begins with its number in the sheet. Values of formulas are those that were saved; dates are in
    ISO 8601. A newer workbook or an HTML table under the old name is read as what it is. Refuses what is
    encrypted or damaged. Notes say what was cut.
    """
    if data.startswith(b"PK\x03\x04"):
        return xlsx.extract(data, max_characters=max_characters)
    if data[:1024].lstrip(b"\xef\xbb\xbf \r\n\t")[:5].lower() in (b"<html", b"<!doc", b"<tabl"):
        return html.extract(data)
    try:
        # Its warnings about the file go nowhere.
        book = xlrd.open_workbook(file_contents=data, logfile=io.StringIO(), on_demand=True)
        texts, notes = _read(book, max_characters)
    except Exception as error:  # the library's own checks end in errors of any kind
        if "encrypted" in str(error).lower():
            return Refused(Skip.ENCRYPTED, "")
        what = "cut short" if data.startswith(COMPOUND_FILE) else "something else"
        return Refused(Skip.DAMAGED, f"not an Excel workbook, or {what} ({type(error).__name__})")
    return of_parts(texts, notes)


def _read(book: xlrd.book.Book, room: int) -> tuple[list[str], list[str]]:
    texts: list[str] = []
    notes: list[str] = []
    for number in range(book.nsheets):
        source = book.sheet_by_index(number)
        sheet = Sheet(source.name, room)
        try:
            for row in range(source.nrows):
                cells = {at: _value(book, cell) for at, cell in enumerate(source.row(row)) if cell.ctype}
                sheet.add(row + 1, cells)
        except Full:
            notes.append(CUT_NOTE)
        room -= sheet.written
        notes += [note for note in sheet.notes if note not in notes]
        blocks = sheet.finish()
        texts.append(clean(join(blocks)) if len(blocks) > 1 else "")
        book.unload_sheet(number)
        if room <= 0:
            break
    return texts, notes


def _value(book: xlrd.book.Book, cell: xlrd.sheet.Cell) -> str:
    value = cell.value
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        return f"{value:.15g}"
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if value else "FALSE"
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(value, ""))
    if cell.ctype != xlrd.XL_CELL_DATE:
        return str(value)
    try:
        moment = xlrd.xldate_as_datetime(value, book.datemode)
    except (ValueError, OverflowError):
        return f"{value:.15g}"
    if value < 1:
        return str(moment.strftime("%H:%M:%S").removesuffix(":00"))
    return str(moment.isoformat(" ", "seconds").removesuffix(" 00:00:00"))
