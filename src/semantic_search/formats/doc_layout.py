"""Where things are in a Word 97 to 2003 file: pieces of text, hidden runs, paragraphs, styles.

Structures by the names and offsets of [MS-DOC], Word (.doc) Binary File Format. The file says itself where
each lies; a place outside of it is an error of `struct`, an index or a value.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_PAGE = 512
_COMPRESSED = 0x4000_0000
_PIECE = 8
_PROPERTIES_OF_PARAGRAPH = 13

# Where FibRgFcLcb97 holds an offset into the table stream, its size behind it.
_STYLES = 0x00A2
_CHARACTER_PAGES = 0x00FA
_PARAGRAPH_PAGES = 0x0102
_PIECES = 0x01A2

# Single property modifiers that matter here.
_DELETED = 0x0800
_HIDDEN = 0x083C
_IN_TABLE = 0x2416
_ROW_END = 0x2417
_LIST_LEVEL = 0x260A
_LIST = 0x460B
_NO_LISTS = (0, 0xF801)
_LONG_TABLE = 0xD608
# By the three highest bits of a modifier: how long what follows it is; 0: its first byte says so.
_OPERANDS = (1, 1, 2, 4, 2, 2, 0, 3)

_HEADINGS = range(1, 10)
_LIST_STYLES = range(47, 62)
_TITLE = 62
_MOST_STYLES = 4096
_MOST_BASES = 12


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph is by its style: the level of a heading (0: none), whether an item of a list."""

    level: int = 0
    item: bool = False


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph's own properties. `indent` is that of an item of a list, None where it is none."""

    style: int = 0
    in_table: bool = False
    row_end: bool = False
    indent: int | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text that lies together: where it begins in the text and in the file, and its width."""

    first: int
    last: int
    offset: int
    wide: bool

    def place(self, character: int) -> int:
        """Where a character of the text is in the file."""
        return self.offset + (character - self.first) * (2 if self.wide else 1)


class Layout:
    """The structures of a file, by its two streams. Raises struct.error, IndexError or ValueError."""

    def __init__(self, document: bytes, table: bytes) -> None:
        self._document = document
        self._table = table
        self.pieces = list(self._pieces())
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._paragraphs: list[Paragraph] = []
        for start, end, properties in sorted(self._runs(_PARAGRAPH_PAGES, _PROPERTIES_OF_PARAGRAPH)):
            self._starts.append(start)
            self._ends.append(end)
            self._paragraphs.append(_paragraph(properties))
        self.unseen = sorted(
            (start, end) for start, end, properties in self._runs(_CHARACTER_PAGES, 1) if _unseen(properties)
        )
        self.styles = self._styles()

    def text(self, piece: Piece, most: int) -> str:
        """The text of a piece, up to so many characters; U+FFFE for each that is deleted or hidden."""
        last = min(piece.last, piece.first + most)
        raw = self._document[piece.offset : piece.place(last)]
        # Half of a pair at the edge of a piece becomes whole with the next one.
        text = raw.decode("utf-16-le", "surrogatepass") if piece.wide else raw.decode("cp1252", "replace")
        width = 2 if piece.wide else 1
        at = bisect_right(self.unseen, (piece.offset, 1 << 40)) - 1
        for start, end in self.unseen[max(at, 0) :]:
            if start >= piece.place(last):
                break
            first = max(start - piece.offset, 0) // width
            after = max(end - piece.offset, 0) // width
            text = text[:first] + "\ufffe" * (min(after, len(text)) - first) + text[after:]
        return text

    def paragraph(self, place: int) -> Paragraph:
        """The properties of the paragraph whose end is at a place in the file."""
        at = bisect_right(self._starts, place) - 1
        return self._paragraphs[at] if at >= 0 and place < self._ends[at] else Paragraph()

    def _part(self, field: int) -> bytes:
        offset, size = struct.unpack_from("<II", self._document, field)
        return self._table[offset : offset + size]

    def _pieces(self) -> Iterator[Piece]:
        data = self._part(_PIECES)
        at = 0
        while data[at] == 1:  # changes that pieces refer to; those of style are not needed
            at += 3 + struct.unpack_from("<H", data, at + 1)[0]
        if data[at] != 2:
            raise ValueError("no table of pieces")
        count = (struct.unpack_from("<I", data, at + 1)[0] - 4) // (4 + _PIECE)
        edges = struct.unpack_from(f"<{count + 1}I", data, at + 5)
        for number in range(count):
            (fc,) = struct.unpack_from("<I", data, at + 5 + 4 * (count + 1) + _PIECE * number + 2)
            offset = fc & (_COMPRESSED - 1)
            wide = not fc & _COMPRESSED
            if edges[number] < edges[number + 1]:
                yield Piece(edges[number], edges[number + 1], offset if wide else offset // 2, wide)

    def _runs(self, field: int, width: int) -> Iterator[tuple[int, int, bytes]]:
        """Places in the file with the properties that hold from one to the next: FKP pages."""
        data = self._part(field)
        count = (len(data) - 4) // 8
        seen: set[int] = set()
        for number in struct.unpack_from(f"<{max(count, 0)}I", data, 4 * (count + 1)) if count > 0 else ():
            start = _PAGE * (number & 0x3F_FFFF)
            page = self._document[start : start + _PAGE]
            if len(page) < _PAGE or start in seen:
                continue
            seen.add(start)
            runs = page[-1]
            if 4 * (runs + 1) + width * runs > _PAGE:
                continue
            edges = struct.unpack_from(f"<{runs + 1}I", page, 0)
            for each in range(runs):
                yield (
                    edges[each],
                    edges[each + 1],
                    _properties(page, page[4 * (runs + 1) + width * each], width),
                )

    def _styles(self) -> list[Style]:
        data = self._part(_STYLES)
        if len(data) < 4:
            return []
        header, count = struct.unpack_from("<HH", data, 0)
        at = 2 + header
        found: list[tuple[int, int]] = []
        for _ in range(min(count, _MOST_STYLES)):
            if at + 2 > len(data):
                break
            (size,) = struct.unpack_from("<H", data, at)
            kind, base = (
                struct.unpack_from("<HH", data, at + 2) if size >= 4 and at + 6 <= len(data) else (0, 0xFFF0)
            )
            found.append((kind & 0x0FFF if size else 0x0FFF, base >> 4))
            at += 2 + size + size % 2
        return [_style(found, number) for number in range(len(found))]


def _style(styles: list[tuple[int, int]], number: int) -> Style:
    """What a style is by itself, or by the one that it is based on."""
    for _ in range(_MOST_BASES):
        kind, base = styles[number]
        if kind in _HEADINGS or kind == _TITLE:
            return Style(level=1 if kind == _TITLE else kind)
        if kind in _LIST_STYLES:
            return Style(item=True)
        if base >= len(styles):
            break
        number = base
    return Style()


def _properties(page: bytes, where: int, width: int) -> bytes:
    """What a page says of a run: modifiers, for a paragraph after two bytes with its style."""
    if not where:
        return b""
    at = 2 * where
    if width == 1:
        return page[at + 1 : at + 1 + page[at]]
    if page[at]:
        return page[at + 1 : at + 2 * page[at]]
    return page[at + 2 : at + 2 + 2 * page[at + 1]]


def _modifiers(data: bytes) -> Iterator[tuple[int, int]]:
    """Each modifier with its operand as a number, the first two bytes of a longer one."""
    at = 0
    while at + 3 <= len(data):
        (modifier,) = struct.unpack_from("<H", data, at)
        at += 2
        size = _OPERANDS[modifier >> 13]
        if modifier == _LONG_TABLE:
            size = 1 + int.from_bytes(data[at : at + 2], "little")
        elif not size:
            size = 1 + data[at]
        yield modifier, int.from_bytes(data[at : at + min(size, 2)], "little")
        at += size


def _paragraph(properties: bytes) -> Paragraph:
    if len(properties) < 2:
        return Paragraph()
    found = dict(_modifiers(properties[2:]))
    listed = found.get(_LIST, 0) not in _NO_LISTS
    return Paragraph(
        int.from_bytes(properties[:2], "little"),
        bool(found.get(_IN_TABLE)),
        bool(found.get(_ROW_END)),
        found.get(_LIST_LEVEL, 0) if listed else None,
    )


def _unseen(properties: bytes) -> bool:
    found = dict(_modifiers(properties))
    return bool(found.get(_DELETED) or found.get(_HIDDEN))
