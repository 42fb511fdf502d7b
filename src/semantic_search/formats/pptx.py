"""PowerPoint presentations (ECMA-376): the text of every slide, and its notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..types import Skip
from .blocks import Block, Full, Table, heading_of, join, paragraph_of
from .outcome import CUT_NOTE, Extracted, Refused, clean, of_parts
from .package import Package, Refusal, plain, relation_id

MAX_CHARACTERS = 20_000_000
MAX_SLIDES = 5_000

_TITLES = ("title", "ctrTitle")
_FURNITURE = frozenset(("sldNum", "dt", "ftr", "hdr", "sldImg"))
_MOST_LEVELS = 8


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The text of a presentation as Markdown, a heading for each slide, its slides the pages.

    Slides are in the order they are shown, hidden ones too; the speaker's notes follow their slide. Refuses
    as `docx.extract` does. Notes say what was cut or could not be read.
    """
    try:
        return _Presentation(Package(data, "PowerPoint presentation", ".pptx"), max_characters).read()
    except Refusal as refusal:
        return Refused(refusal.reason, refusal.detail)


class _Presentation:
    def __init__(self, package: Package, room: int) -> None:
        self._package = package
        self._room = room
        self._notes: list[str] = []

    def read(self) -> Extracted | Refused:
        main = self._package.main("ppt/presentation.xml")
        root, ids = "", []

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            nonlocal root
            root = root or tag
            if tag == "p:sldId":
                ids.append(relation_id(attributes))

        self._package.parse(main, start)
        if root != "p:presentation":
            raise self._package.foreign()
        parts = {each.id: each.part for each in self._package.relations(main) if each.kind == "slide"}
        texts = []
        for number, id_ in enumerate(ids[:MAX_SLIDES], 1):
            texts.append(self._slide(number, parts.get(id_, "")))
            if self._room <= 0:
                break
        if len(texts) < len(ids):
            self._notes.append(f"only the first {len(texts)} of {len(ids)} slides were read")
        return of_parts(texts, self._notes)

    def _slide(self, number: int, part: str) -> str:
        slide = self._shapes(part, f"slide {number}")
        notes = _Shapes(0)
        for relation in self._package.relations(part) if part in self._package else ():
            if relation.kind == "notesSlide" and self._room > 0:
                notes = self._shapes(relation.part, f"the notes of slide {number}")
            elif relation.kind == "diagramData" and self._room > 0:
                slide.blocks += self._shapes(relation.part, f"a diagram of slide {number}").loose()
        said = [Block("note", "Notes: " if not n else "", block.text) for n, block in enumerate(notes.blocks)]
        if not slide.blocks and not slide.title and not said:
            return ""
        title = " ".join(slide.title.split()) or f"Slide {number}"
        return clean(join([heading_of(1, title), *slide.blocks, *said]))

    def _shapes(self, part: str, what: str) -> _Shapes:
        shapes = _Shapes(self._room)
        try:
            self._package.parse(part, shapes.start, shapes.end, shapes.text)
        except Full:
            self._notes.append(CUT_NOTE)
        except Refusal as refusal:
            if refusal.reason is not Skip.DAMAGED:
                raise
            self._notes.append(f"{what} could not be read")
        self._room -= shapes.written
        return shapes


@dataclass(slots=True)
class _Shape:
    """A shape on a slide: what kind of place it fills, and its paragraphs with their levels."""

    place: str = ""
    paragraphs: list[tuple[int, str]] = field(default_factory=list)


class _Shapes:
    """Handlers for the XML of a slide or of its notes: `title` and `blocks`."""

    def __init__(self, room: int) -> None:
        self.title = ""
        self.blocks: list[Block] = []
        self.written = 0
        self._room = room
        self._shape = _Shape()
        self._level = 0
        self._pieces: list[str] = []
        self._collecting = False
        self._skipped = 0
        self._tables: list[Table] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._skipped or tag in ("mc:Fallback", "p:extLst"):
            self._skipped += 1
        elif tag == "p:sp":
            self._shape = _Shape()
        elif tag == "p:ph":
            self._shape.place = plain(attributes, "type") or "body"
        elif tag == "a:p":
            self._level = 0
            self._pieces = []
        elif tag == "a:pPr":
            level = plain(attributes, "lvl")
            self._level = min(int(level), _MOST_LEVELS) if level.isascii() and level.isdigit() else 0
        elif tag == "a:t":
            self._collecting = True
        elif tag in ("a:br", "a:tab"):
            self._write("\n" if tag == "a:br" else "\t")
        elif tag == "a:tbl":
            self._tables.append(Table(nested=False))
        elif tag == "a:tr" and self._tables:
            self._tables[-1].row = []
        elif tag == "a:tc":
            self._shape = _Shape()

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag == "a:t":
            self._collecting = False
        elif tag == "a:p":
            text = clean("".join(self._pieces)).strip()
            self._pieces = []
            if text:
                self._shape.paragraphs.append((self._level, text))
        elif tag == "p:sp":
            self._end_shape()
        elif tag == "a:tc" and self._tables:
            blocks = [paragraph_of(text) for _, text in self._shape.paragraphs]
            self._tables[-1].span = 1
            self._tables[-1].end_cell(blocks)
            self._shape = _Shape()
        elif tag == "a:tr" and self._tables:
            self.blocks += self._tables[-1].end_row()
        elif tag == "a:tbl" and self._tables:
            self.blocks += self._tables.pop().end()

    def text(self, data: str) -> None:
        if self._collecting and not self._skipped:
            self._write(data)

    def loose(self) -> list[Block]:
        """The paragraphs that stand in no shape: those of a diagram."""
        return [Block("item", "- ", text) for _, text in self._shape.paragraphs]

    def _write(self, data: str) -> None:
        self.written += len(data)
        self._pieces.append(data)
        if self.written > self._room:
            raise Full

    def _end_shape(self) -> None:
        shape, self._shape = self._shape, _Shape()
        if shape.place in _FURNITURE:
            return
        if shape.place in _TITLES and not self.title:
            self.title = " ".join(text for _, text in shape.paragraphs)
            return
        listed = shape.place and len(shape.paragraphs) > 1
        for level, text in shape.paragraphs:
            if listed or level:
                self.blocks.append(Block("item", "    " * level + "- ", text))
            else:
                self.blocks.append(paragraph_of(text))
