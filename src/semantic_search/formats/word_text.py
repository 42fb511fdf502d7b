"""The text of a part of a Word document as Markdown blocks, from a stream of XML events."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .blocks import Block, Full, Table, flat, heading_of, paragraph_of
from .outcome import clean
from .package import attribute, number
from .word_styles import Numbering, Styles

_BLANK_LINES = re.compile(r"\n{3,}")
_MAX_SPAN = 64
_MAX_LIST_LEVEL = 8

# Deleted and moved-away text, field codes, readings above characters, properties that hold text or `w:tab`.
_SKIPPED = frozenset(
    {"w:del", "w:moveFrom", "w:delText", "w:instrText", "w:delInstrText"}
    | {"w:rt", "w:tabs", "w:sdtPr", "w:sdtEndPr", "w:fldData"}
)
_TEXT = frozenset(("w:t", "m:t", "a:t"))
_CHARACTERS = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-"}
_NO_NOTES = ("separator", "continuationSeparator", "continuationNotice")


@dataclass(slots=True)
class _Paragraph:
    style: str | None = None
    outline: int | None = None
    number_id: int | None = None
    list_level: int | None = None
    pieces: list[str] = field(default_factory=list)
    boxes: list[Block] = field(default_factory=list)


class Reader:
    """Handlers for `Package.parse`; afterwards `blocks` holds the text of the part in document order.

    `room` is how many characters may be read; beyond them `Full` is raised. Notes and comments are one block
    each, marked `[^1]: ` and `> `.
    """

    def __init__(self, styles: Styles, numbering: Numbering, room: int) -> None:
        self.root = ""
        self.embedded = 0
        self.written = 0
        self._styles = styles
        self._numbering = numbering
        self._room = room
        self._skipped = 0
        self._open: list[str] = []
        self._collecting = False
        self._paragraphs: list[_Paragraph] = []
        self._containers: list[list[Block]] = [[]]
        self._tables: list[Table] = []
        self._open_cells = 0
        self._alternatives: list[bool] = []
        self._choices: list[int] = []
        self._note_marks: list[str] = []

    @property
    def blocks(self) -> list[Block]:
        """The blocks of the part, or of what was read of it."""
        return self._containers[0]

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take in the start of an element."""
        self.root = self.root or tag
        if self._skipped or tag in _SKIPPED or tag.endswith("Change"):
            self._skipped += 1
        elif tag in _TEXT:
            self._collecting = True
        elif tag in _CHARACTERS:
            self._write(_CHARACTERS[tag])
        elif tag in _STARTS:
            _STARTS[tag](self, attributes)
            if tag in _ENDS and not self._skipped:
                self._open.append(tag)

    def end(self, tag: str) -> None:
        """Take in the end of an element."""
        if self._skipped:
            self._skipped -= 1
        elif tag in _TEXT:
            self._collecting = False
        elif tag in _ENDS:
            self._open.pop()
            _ENDS[tag](self)

    def text(self, data: str) -> None:
        """Take in characters."""
        if self._collecting and not self._skipped:
            self._write(data)

    def _write(self, text: str) -> None:
        if not self._paragraphs:
            return
        self.written += len(text)
        self._paragraphs[-1].pieces.append(text)
        if self.written > self._room:
            for tag in reversed(self._open):
                _ENDS[tag](self)
            raise Full

    # Alternatives: a text box is written twice, for newer and for older programs.

    def _start_alternatives(self, _: Mapping[str, str]) -> None:
        self._alternatives.append(False)

    def _start_choice(self, _: Mapping[str, str]) -> None:
        self._skipped = int(bool(self._alternatives) and self._alternatives[-1])
        if not self._skipped:
            self._choices.append(self.written)

    def _end_choice(self) -> None:
        taken = self.written > self._choices.pop()
        if self._alternatives:
            self._alternatives[-1] = taken

    def _end_alternatives(self) -> None:
        self._alternatives.pop()

    # Paragraphs.

    def _start_paragraph(self, _: Mapping[str, str]) -> None:
        self._paragraphs.append(_Paragraph())

    def _read_style(self, attributes: Mapping[str, str]) -> None:
        if self._paragraphs:
            self._paragraphs[-1].style = attribute(attributes, "val")

    def _read_outline(self, attributes: Mapping[str, str]) -> None:
        if self._paragraphs:
            self._paragraphs[-1].outline = number(attributes)

    def _read_number_id(self, attributes: Mapping[str, str]) -> None:
        if self._paragraphs:
            self._paragraphs[-1].number_id = number(attributes)

    def _read_list_level(self, attributes: Mapping[str, str]) -> None:
        if self._paragraphs:
            self._paragraphs[-1].list_level = number(attributes)

    def _read_symbol(self, attributes: Mapping[str, str]) -> None:
        try:
            code = int(attribute(attributes, "char") or "", 16)
        except ValueError:
            return
        # The private use area stands for glyphs of symbol fonts, which have no meaning as text.
        if 0x20 <= code < 0xD800 or 0xF900 <= code < 0xFFFE:
            self._write(chr(code))

    def _end_paragraph(self) -> None:
        paragraph = self._paragraphs.pop()
        text = _BLANK_LINES.sub("\n\n", clean("".join(paragraph.pieces))).strip()
        if text:
            self._containers[-1].append(self._block(paragraph, text))
        self._containers[-1] += paragraph.boxes

    def _block(self, paragraph: _Paragraph, text: str) -> Block:
        level = paragraph.outline
        if level is None:
            level = self._styles.outline(paragraph.style)
        if level is not None and level < 9:
            return heading_of(level + 1, text)
        number_id, list_level = self._styles.numbering(paragraph.style)
        if paragraph.number_id is not None:
            number_id = paragraph.number_id
        if paragraph.list_level is not None:
            list_level = paragraph.list_level
        if number_id:
            list_level = min(list_level, _MAX_LIST_LEVEL)
            mark = self._numbering.mark(number_id, list_level)
            return Block("item", "    " * list_level + mark, text)
        return paragraph_of(text)

    # Text boxes belong to the paragraph they are anchored in, and follow it.

    def _start_box(self, _: Mapping[str, str]) -> None:
        self._containers.append([])

    def _end_box(self) -> None:
        blocks = self._containers.pop()
        if self._paragraphs:
            self._paragraphs[-1].boxes += blocks
        else:
            self._containers[-1] += blocks

    # Tables. Broken files have rows and cells outside of any.

    def _start_table(self, _: Mapping[str, str]) -> None:
        self._tables.append(Table(nested=self._open_cells > 0))

    def _start_row(self, _: Mapping[str, str]) -> None:
        if self._tables:
            self._tables[-1].row = []

    def _start_cell(self, _: Mapping[str, str]) -> None:
        self._open_cells += 1
        self._containers.append([])
        if self._tables:
            self._tables[-1].span = 1

    def _read_span(self, attributes: Mapping[str, str]) -> None:
        if self._tables:
            self._tables[-1].span = min(max(number(attributes) or 1, 1), _MAX_SPAN)

    def _end_cell(self) -> None:
        self._open_cells -= 1
        blocks = self._containers.pop()
        if self._tables:
            self._tables[-1].end_cell(blocks)
        else:
            self._containers[-1] += blocks

    def _end_row(self) -> None:
        if self._tables:
            self._containers[-1] += self._tables[-1].end_row()

    def _end_table(self) -> None:
        self._containers[-1] += self._tables.pop().end()

    # Notes and comments.

    def _refer_footnote(self, attributes: Mapping[str, str]) -> None:
        self._write(f"[^{attribute(attributes, 'id')}]")

    def _refer_endnote(self, attributes: Mapping[str, str]) -> None:
        self._write(f"[^e{attribute(attributes, 'id')}]")

    def _start_note(self, mark: str, attributes: Mapping[str, str]) -> None:
        if attribute(attributes, "type") in _NO_NOTES:
            self._skipped = 1
            return
        self._note_marks.append(mark)
        self._containers.append([])

    def _start_footnote(self, attributes: Mapping[str, str]) -> None:
        self._start_note(f"[^{attribute(attributes, 'id')}]: ", attributes)

    def _start_endnote(self, attributes: Mapping[str, str]) -> None:
        self._start_note(f"[^e{attribute(attributes, 'id')}]: ", attributes)

    def _start_comment(self, attributes: Mapping[str, str]) -> None:
        author = " ".join(clean(attribute(attributes, "author") or "").split())
        self._start_note(f"> {author}: " if author else "> ", attributes)

    def _end_note(self) -> None:
        text = flat(self._containers.pop())
        mark = self._note_marks.pop()
        if text:
            self._containers[-1].append(Block("note", mark, text))

    def _count_embedded(self, _: Mapping[str, str]) -> None:
        self.embedded += 1


_STARTS: dict[str, Callable[[Reader, Mapping[str, str]], None]] = {
    "mc:AlternateContent": Reader._start_alternatives,
    "mc:Choice": Reader._start_choice,
    "mc:Fallback": Reader._start_choice,
    "w:p": Reader._start_paragraph,
    "w:pStyle": Reader._read_style,
    "w:outlineLvl": Reader._read_outline,
    "w:numId": Reader._read_number_id,
    "w:ilvl": Reader._read_list_level,
    "w:sym": Reader._read_symbol,
    "w:txbxContent": Reader._start_box,
    "w:tbl": Reader._start_table,
    "w:tr": Reader._start_row,
    "w:tc": Reader._start_cell,
    "w:gridSpan": Reader._read_span,
    "w:footnoteReference": Reader._refer_footnote,
    "w:endnoteReference": Reader._refer_endnote,
    "w:footnote": Reader._start_footnote,
    "w:endnote": Reader._start_endnote,
    "w:comment": Reader._start_comment,
    "w:altChunk": Reader._count_embedded,
}
_ENDS: dict[str, Callable[[Reader], None]] = {
    "mc:AlternateContent": Reader._end_alternatives,
    "mc:Choice": Reader._end_choice,
    "mc:Fallback": Reader._end_choice,
    "w:p": Reader._end_paragraph,
    "w:txbxContent": Reader._end_box,
    "w:tbl": Reader._end_table,
    "w:tr": Reader._end_row,
    "w:tc": Reader._end_cell,
    "w:footnote": Reader._end_note,
    "w:endnote": Reader._end_note,
    "w:comment": Reader._end_note,
}
