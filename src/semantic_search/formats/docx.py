"""Word documents (ECMA-376, transitional and strict) as Markdown, read from the XML itself.

Written for what libraries miss: tables and content controls in their place, tracked insertions, text boxes,
headers and footers, notes and comments; and for files made to exhaust a reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from ..types import Skip
from .blocks import Block, Full, join
from .outcome import CUT_NOTE, Extracted, Refused, clean
from .package import Package, Refusal
from .word_styles import Numbering, Styles
from .word_text import Reader

MAX_CHARACTERS = 20_000_000

_BEFORE = ("header",)
_AFTER = ("footer", "footnotes", "endnotes", "comments")


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The text of a Word document: headers, body, footers, footnotes, endnotes, comments, as Markdown.

    Headings have `#`, list items `- ` or their number, tables a row a line. Refuses what is encrypted
    (`ENCRYPTED`), damaged or no Word document (`DAMAGED`), built to expand (`TOO_COMPLEX`) or without any
    text (`NO_TEXT`). Notes say what was cut or could not be read.
    """
    try:
        return _Document(Package(data, "Word document", ".docx"), max_characters).read()
    except Refusal as refusal:
        return Refused(refusal.reason, refusal.detail)


class _Document:
    def __init__(self, package: Package, max_characters: int) -> None:
        self._package = package
        self._room = max_characters
        self._styles = Styles()
        self._numbering = Numbering()
        self._notes: list[str] = []

    def read(self) -> Extracted | Refused:
        main = self._package.main("word/document.xml")
        relations = list(dict.fromkeys((each.kind, each.part) for each in self._package.relations(main)))
        for kind, part in relations:
            if kind == "styles":
                self._optional(part, kind, partial(self._package.parse, start=self._styles.start))
            elif kind == "numbering":
                self._optional(part, kind, partial(self._package.parse, start=self._numbering.start))
        body = self._body(main)
        before = self._around(relations, _BEFORE)
        after = self._around(relations, _AFTER)
        text = clean(join([*before, *body, *after]))
        if not text:
            return Refused(Skip.NO_TEXT)
        return Extracted(text, notes=tuple(self._notes))

    def _body(self, part: str) -> list[Block]:
        reader = Reader(self._styles, self._numbering, self._room)
        self._feed(reader, part)
        if reader.root != "w:document":
            raise self._package.foreign()
        if reader.embedded:
            self._notes.append(f"{reader.embedded} embedded documents were not read")
        return reader.blocks

    def _around(self, relations: Iterable[tuple[str, str]], kinds: tuple[str, ...]) -> list[Block]:
        """The blocks of the parts of these kinds, in the order of `kinds`, each part's text once."""
        found: dict[tuple[Block, ...], None] = {}
        for wanted in kinds:
            for kind, part in relations:
                if kind == wanted and self._room > 0:
                    reader = Reader(self._styles, self._numbering, self._room)
                    self._optional(part, kind, partial(self._feed, reader))
                    found[tuple(block for block in reader.blocks if _says_something(block))] = None
        return [block for blocks in found for block in blocks]

    def _feed(self, reader: Reader, part: str) -> None:
        try:
            self._package.parse(part, reader.start, reader.end, reader.text)
        except Full:
            self._notes.append(CUT_NOTE)
        finally:
            self._room -= reader.written

    def _optional(self, part: str, kind: str, read: Callable[[str], None]) -> None:
        """Read a part the document can do without: damage to it is a note."""
        try:
            read(part)
        except Refusal as refusal:
            if refusal.reason is not Skip.DAMAGED:
                raise
            self._notes.append(f"the document's {kind} could not be read")


def _says_something(block: Block) -> bool:
    """Whether there is more to a header or note than a page number or a rule."""
    return any(character.isalpha() for character in block.text)
