"""Word 97 to 2003 documents: text, headings by their styles, lists, tables, notes and comments."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator

import olefile

from ..encodings import decode
from ..types import Skip
from . import docx, html, rtf
from .blocks import Block, Full, Table, heading_of, join, paragraph_of
from .doc_layout import Layout, Paragraph
from .outcome import CUT_NOTE, Extracted, Refused, clean
from .package import COMPOUND_FILE, Refusal

MAX_CHARACTERS = 20_000_000

_IDENTITY = 0xA5EC
_FIRST_VERSION = 0x00C0  # 8.0, of Word 97
_ENCRYPTED, _SECOND_TABLE = 0x0100, 0x0200
# Characters of the main text, footnotes, headers, macros, comments, endnotes, text boxes, those of headers.
_COUNTS = 0x004C
_PARTS = 8
_HEADERS = (2, 7)

_CELL = "\x07"
_ENDS = re.compile("[\r\x07\x0c\x0e]")
_MEANT = str.maketrans({"\x0b": "\n", "\x1e": "-", "\x1f": "", "\xa0": " ", "\ufffe": "", "\u00ad": ""})
_MOST_INDENT = 6


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The text of a document as Markdown, without what is deleted or hidden; headers and footers come last.

    RTF, HTML, plain text or a newer document under the old name is read as what it is. Refuses what is
    encrypted, damaged, or of Word 95 and before. Notes say what was cut.
    """
    if not data.startswith(COMPOUND_FILE):
        return _of_another_format(data)
    try:
        layout, counts = _opened(data)
        return _read(layout, counts, max_characters)
    except Refusal as refusal:
        return Refused(refusal.reason, refusal.detail)
    except Exception as error:  # olefile's own checks end in errors of any kind
        return Refused(Skip.DAMAGED, f"not a Word document, or one cut short ({type(error).__name__})")


def _of_another_format(data: bytes) -> Extracted | Refused:
    """Many a program writes another format under this name."""
    start = data[:1024].lstrip(b"\xef\xbb\xbf \r\n\t")
    if start.startswith(b"{\\rtf"):
        return rtf.extract(data)
    if start.startswith(b"PK\x03\x04"):
        return docx.extract(data)
    if re.match(rb"<(?:!doctype html|html)", start, re.IGNORECASE):
        return html.extract(data)
    decoded = decode(data)
    if decoded is None:
        return Refused(Skip.DAMAGED, "not a Word document")
    return Extracted(clean(decoded.text)) if decoded.text.strip() else Refused(Skip.NO_TEXT, "")


def _opened(data: bytes) -> tuple[Layout, tuple[int, ...]]:
    with olefile.OleFileIO(io.BytesIO(data)) as container:
        if container.exists("EncryptedPackage"):
            raise Refusal(Skip.ENCRYPTED, "")
        if not container.exists("WordDocument"):
            raise Refusal(Skip.DAMAGED, "not a Word document")
        document = container.openstream("WordDocument").read()
        identity, version = struct.unpack_from("<HH", document, 0)
        if identity != _IDENTITY or version < _FIRST_VERSION:
            raise Refusal(Skip.DAMAGED, "of Word 95 or before; save it as .docx")
        (flags,) = struct.unpack_from("<H", document, 0x0A)
        if flags & _ENCRYPTED:
            raise Refusal(Skip.ENCRYPTED, "")
        table = container.openstream("1Table" if flags & _SECOND_TABLE else "0Table").read()
    return Layout(document, table), struct.unpack_from(f"<{_PARTS}I", document, _COUNTS)


def _read(layout: Layout, counts: tuple[int, ...], room: int) -> Extracted | Refused:
    notes: list[str] = []
    texts: list[str] = []
    pieces: list[tuple[int, int]] = []
    length = 0
    for number, piece in enumerate(layout.pieces):
        text = layout.text(piece, room - length)
        pieces.append((length, number))
        texts.append(text)
        length += len(text)
        if len(text) < piece.last - piece.first:
            notes.append(CUT_NOTE if length >= room else "the document ends in the middle")
            break
    text = "".join(texts)
    reader = _Reader(layout, pieces, text, room)
    try:
        for first, last in _parts(counts, len(text)):
            reader.read(first, last)
    except Full:
        if CUT_NOTE not in notes:
            notes.append(CUT_NOTE)
    whole = clean(join(reader.blocks))
    return Extracted(whole, (), tuple(notes)) if whole.strip() else Refused(Skip.NO_TEXT, "")


def _parts(counts: tuple[int, ...], length: int) -> list[tuple[int, int]]:
    """Where the parts of a document begin and end in its text: those of headers last, macros not at all."""
    found: list[tuple[int, int, int]] = []
    at = 0
    for number, count in enumerate(counts):
        found.append((number in _HEADERS, at, min(at + count, length)))
        at += count
    del found[3]
    return [(first, last) for _, first, last in sorted(found) if first < last]


class _Reader:
    """Paragraphs of the text as blocks. Raises `Full` where they are longer than `room`."""

    def __init__(self, layout: Layout, pieces: list[tuple[int, int]], text: str, room: int) -> None:
        self.blocks: list[Block] = []
        self._layout = layout
        self._pieces = pieces
        self._text = text
        self._room = room
        self._at = 0
        self._table: Table | None = None
        self._cell: list[Block] = []
        self._seen: set[str] = set()

    def read(self, first: int, last: int) -> None:
        """Take in a part; a header that was there before adds nothing."""
        for start, end in self._paragraphs(first, last):
            mark = self._text[end] if end < last else "\r"
            paragraph = self._layout.paragraph(self._place(end))
            text = _shown(self._text[start:end])
            self._room -= len(text)
            if self._room < 0:
                raise Full
            if mark == _CELL or paragraph.in_table:
                self._in_table(text, paragraph, mark)
            else:
                self._end_table()
                self._add(self._block(text, paragraph), once=first > 0)
        self._end_table()

    def _paragraphs(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        start = first
        for match in _ENDS.finditer(self._text, first, last):
            yield start, match.start()
            start = match.end()
        if start < last:
            yield start, last

    def _place(self, character: int) -> int:
        """Where a character is in the file. They come in the order of the text, part by part."""
        pieces = self._pieces
        if pieces[self._at][0] > character:
            self._at = 0
        while self._at + 1 < len(pieces) and pieces[self._at + 1][0] <= character:
            self._at += 1
        start, number = pieces[self._at]
        piece = self._layout.pieces[number]
        return piece.place(piece.first + character - start)

    def _block(self, text: str, paragraph: Paragraph) -> Block:
        styles = self._layout.styles
        style = styles[paragraph.style] if paragraph.style < len(styles) else None
        if style is not None and style.level:
            return heading_of(style.level, text)
        if paragraph.indent is not None or (style is not None and style.item):
            indent = "    " * min(paragraph.indent or 0, _MOST_INDENT)
            return Block("item", f"{indent}- ", text.replace("\n", f"\n{indent}  "))
        return paragraph_of(text)

    def _in_table(self, text: str, paragraph: Paragraph, mark: str) -> None:
        if self._table is None:
            self._table = Table(nested=False)
        if paragraph.row_end and mark == _CELL:
            self.blocks += self._table.end_row()
            self._table.row = []
            return
        if text.strip():
            self._cell.append(self._block(text, paragraph))
        if mark == _CELL:
            self._table.end_cell(self._cell)
            self._cell = []

    def _end_table(self) -> None:
        if self._table is None:
            return
        if self._cell:
            self._table.end_cell(self._cell)
            self._cell = []
        if self._table.row:
            self.blocks += self._table.end_row()
        self.blocks += self._table.end()
        self._table = None

    def _add(self, block: Block, *, once: bool) -> None:
        if not clean(block.text).strip() or (once and block.text in self._seen):
            return
        if once:
            self._seen.add(block.text)
        self.blocks.append(block)


def _shown(text: str) -> str:
    """What a reader sees of a paragraph: of fields the result, of marks nothing."""
    if "\x13" in text or "\x14" in text or "\x15" in text:
        text = _without_instructions(text)
    return clean(text.translate(_MEANT)).strip()


def _without_instructions(text: str) -> str:
    """A field is an instruction, U+0014, its result; a paragraph may hold the end of an earlier one."""
    shown: list[str] = []
    silent: list[bool] = []
    for part in re.split("([\x13\x14\x15])", text):
        if part == "\x13":
            silent.append(True)
        elif part == "\x14" and silent:
            silent[-1] = False
        elif part == "\x15":
            if silent:
                silent.pop()
        elif part != "\x14" and not any(silent):
            shown.append(part)
    return "".join(shown)
