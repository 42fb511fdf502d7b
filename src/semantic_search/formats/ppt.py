"""PowerPoint 97 to 2003 presentations: the text of every slide, and its notes, as `pptx` gives them.

Records by the names and numbers of [MS-PPT], PowerPoint (.ppt) Binary File Format.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import olefile

from ..types import Skip
from . import pptx
from .blocks import Block, heading_of, join, paragraph_of
from .outcome import CUT_NOTE, Extracted, Refused, clean, of_parts
from .package import COMPOUND_FILE

MAX_CHARACTERS = 20_000_000
MAX_DEPTH = 30

_HEADER = 8
_CONTAINER = 0xF
_SLIDE, _SLIDE_ATOM, _NOTES, _SLIDE_PLACE = 1006, 1007, 1008, 1011
_LIST = 4080
_LISTS = {0: "slides", 2: "notes"}
_OUTLINE_REFERENCE, _TEXT_HEADER, _WIDE_TEXT, _TEXT = 3998, 3999, 4000, 4008
_TEXT_BOX = 0xF00D
_EDIT, _DIRECTORY = 4085, 6002
_ENCRYPTED_TOKEN = 0xF3D1C4DF
_ENCRYPTED_EDIT = 32

_TITLES = (0, 6)
_BODIES = (1, 5, 7, 8)
_NOTES_TEXT = 2


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The text of a presentation as Markdown, a heading for each slide, its slides the pages.

    Slides are in the order they are shown; the speaker's notes follow their slide. A newer presentation under
    the old name is read as what it is. Refuses what is encrypted or damaged. Notes say what was cut.
    """
    if data.startswith(b"PK\x03\x04"):
        return pptx.extract(data, max_characters=max_characters)
    if not data.startswith(COMPOUND_FILE):
        return Refused(Skip.DAMAGED, "not a PowerPoint presentation")
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as container:
            if container.exists("EncryptedPackage"):
                return Refused(Skip.ENCRYPTED, "")
            stream = container.openstream("PowerPoint Document").read()
            user = container.openstream("Current User").read()
        presentation = _Presentation(stream, user, max_characters)
        if presentation.encrypted:
            return Refused(Skip.ENCRYPTED, "")
        texts = list(presentation.slides())
    except Exception as error:  # olefile's own checks end in errors of any kind
        return Refused(
            Skip.DAMAGED, f"not a PowerPoint presentation, or one cut short ({type(error).__name__})"
        )
    return of_parts(texts, presentation.notes)


@dataclass(frozen=True, slots=True)
class _Record:
    """A record: its kind, the number in its header, and where its content is."""

    kind: int
    instance: int
    container: bool
    first: int
    last: int


@dataclass(slots=True)
class _Place:
    """A slide or its notes in the document's list: which object it is, and the texts that it refers to."""

    object: int
    id: int
    texts: list[tuple[int, str]] = field(default_factory=list)


class _Presentation:
    """The objects of a presentation. Raises struct.error, KeyError or ValueError for what is none."""

    def __init__(self, stream: bytes, user: bytes, room: int) -> None:
        self.notes: list[str] = []
        self._stream = stream
        self._room = room
        token, edit = struct.unpack_from("<II", user, 12)
        self._objects: dict[int, int] = {}
        document, sealed = self._read_edits(edit)
        self.encrypted = token == _ENCRYPTED_TOKEN or sealed
        self._lists: dict[str, list[_Place]] = {"slides": [], "notes": []}
        if not self.encrypted:
            self._read_lists(document)

    def slides(self) -> Iterator[str]:
        """The text of each slide with its notes, empty where it has none."""
        notes = {place.id: place for place in self._lists["notes"]}
        for number, place in enumerate(self._lists["slides"], 1):
            if self._room <= 0:
                self.notes.append(CUT_NOTE)
                return
            texts, notes_id = self._texts_of(place, _SLIDE)
            said = self._texts_of(notes[notes_id], _NOTES)[0] if notes_id in notes else []
            yield _slide(number, texts, [text for kind, text in said if kind == _NOTES_TEXT])

    def _read_edits(self, edit: int) -> tuple[int, bool]:
        """Where objects are, by every save since the file was made; the document's object, whether sealed."""
        document, sealed = 0, False
        seen: set[int] = set()
        while edit and edit not in seen:
            seen.add(edit)
            record = self._record(edit)
            if record.kind != _EDIT:
                raise ValueError("no list of objects where one should be")
            edit, directory, newest = struct.unpack_from("<III", self._stream, record.first + 8)
            document = document or newest
            sealed = sealed or record.last - record.first >= _ENCRYPTED_EDIT
            self._read_directory(self._record(directory))
        return document, sealed

    def _read_directory(self, record: _Record) -> None:
        if record.kind != _DIRECTORY:
            raise ValueError("no directory of objects where one should be")
        at = record.first
        while at + 4 <= record.last:
            (head,) = struct.unpack_from("<I", self._stream, at)
            first, count = head & 0xF_FFFF, head >> 20
            for number, offset in enumerate(struct.unpack_from(f"<{count}I", self._stream, at + 4), first):
                self._objects.setdefault(number, offset)  # a newer save comes before an older one
            at += 4 + 4 * count

    def _read_lists(self, document: int) -> None:
        for record in self._children(self._record(self._objects[document])):
            name = _LISTS.get(record.instance) if record.kind == _LIST else None
            if name is None:
                continue
            kind = 0
            for child in self._children(record):
                if child.kind == _SLIDE_PLACE:
                    place = struct.unpack_from("<I", self._stream, child.first)[0]
                    id_ = struct.unpack_from("<I", self._stream, child.first + 12)[0]
                    self._lists[name].append(_Place(place, id_))
                elif self._lists[name] and child.kind == _TEXT_HEADER:
                    kind = self._number(child)
                elif self._lists[name] and child.kind in (_WIDE_TEXT, _TEXT):
                    self._lists[name][-1].texts.append((kind, self._text(child)))

    def _texts_of(self, place: _Place, kind: int) -> tuple[list[tuple[int, str]], int]:
        """The texts of a slide's boxes, each with its kind, and the id of its notes."""
        found: list[tuple[int, str]] = []
        notes = 0
        top = self._record(self._objects[place.object])
        if top.kind != kind:
            raise ValueError("no slide where one should be")
        for record in self._below(top, 0):
            if record.kind == _SLIDE_ATOM:
                (notes,) = struct.unpack_from("<I", self._stream, record.first + 16)
            elif record.kind == _TEXT_BOX:
                found += self._box(record, place)
        self._room -= sum(len(text) for _, text in found)
        return found, notes

    def _box(self, box: _Record, place: _Place) -> Iterator[tuple[int, str]]:
        kind = 0
        for record in self._children(box):
            if record.kind == _TEXT_HEADER:
                kind = self._number(record)
            elif record.kind in (_WIDE_TEXT, _TEXT):
                yield kind, self._text(record)
            elif record.kind == _OUTLINE_REFERENCE and self._number(record) < len(place.texts):
                yield place.texts[self._number(record)]

    def _number(self, record: _Record) -> int:
        return int(struct.unpack_from("<I", self._stream, record.first)[0])

    def _text(self, record: _Record) -> str:
        raw = self._stream[record.first : record.last]
        if record.kind == _WIDE_TEXT:
            return raw.decode("utf-16-le", "replace")
        return raw.decode("latin-1")  # the low bytes of UTF-16

    def _record(self, at: int) -> _Record:
        head, kind, size = struct.unpack_from("<HHI", self._stream, at)
        first = at + _HEADER
        last = min(first + size, len(self._stream))
        return _Record(kind, head >> 4, head & 0xF == _CONTAINER, first, last)

    def _children(self, record: _Record) -> Iterator[_Record]:
        at = record.first
        while at + _HEADER <= record.last:
            child = self._record(at)
            yield child
            at = child.last

    def _below(self, record: _Record, depth: int) -> Iterator[_Record]:
        if depth < MAX_DEPTH:
            for child in self._children(record):
                yield child
                if child.container and child.kind != _TEXT_BOX:
                    yield from self._below(child, depth + 1)


def _slide(number: int, texts: list[tuple[int, str]], said: list[str]) -> str:
    title = ""
    blocks: list[Block] = []
    for kind, text in texts:
        lines = clean(text.replace("\x0b", " ")).split("\n")  # a line break within a paragraph
        paragraphs = [" ".join(line.split()) for line in lines if line.strip()]
        if kind in _TITLES and not title:
            title = " ".join(" ".join(paragraphs).split())
        elif kind in _BODIES and len(paragraphs) > 1:
            blocks += [Block("item", "- ", line) for line in paragraphs]
        else:
            blocks += [paragraph_of(line) for line in paragraphs]
    spoken = [line for text in said for line in clean(text).split("\n") if line.strip()]
    notes = [Block("note", "" if n else "Notes: ", line.strip()) for n, line in enumerate(spoken)]
    if not (title or blocks or notes):
        return ""
    return clean(join([heading_of(1, title or f"Slide {number}"), *blocks, *notes]))
