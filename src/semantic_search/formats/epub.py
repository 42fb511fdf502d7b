"""EPUB books: the text of every chapter in reading order."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from urllib.parse import unquote

from ..types import Skip
from .blocks import heading_of, join
from .html_text import decoded, page_of
from .outcome import CUT_NOTE, Extracted, Refused, clean, of_parts
from .package import Package, Refusal, beside, plain

MAX_CHARACTERS = 20_000_000
MAX_CHAPTERS = 5_000

_MARKUP = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The text of a book as Markdown, its chapters (the files of its spine, in order) the pages.

    Title and authors stand above the first chapter. Refuses books whose chapters are encrypted (`ENCRYPTED`)
    and as `docx.extract` does. Notes say what was cut or could not be read.
    """
    try:
        return _Book(Package(data, "EPUB book", ".epub"), max_characters).read()
    except Refusal as refusal:
        return Refused(refusal.reason, refusal.detail)


class _Book:
    def __init__(self, package: Package, room: int) -> None:
        self._package = package
        self._room = room
        self._notes: list[str] = []
        self._items: dict[str, tuple[str, str]] = {}
        self._spine: list[str] = []
        self._about: dict[str, list[str]] = {"dc:title": [], "dc:creator": []}

    def read(self) -> Extracted | Refused:
        main = self._main()
        self._read_package_document(main)
        chapters = [
            beside(main, unquote(href.partition("#")[0]))
            for href, kind in (self._items[id_] for id_ in self._spine if id_ in self._items)
            if kind in _MARKUP or posixpath.splitext(href)[1].lower() in (".xhtml", ".html", ".htm")
        ]
        if not chapters:
            raise self._package.foreign()
        if self._encrypted() & set(chapters):
            raise Refusal(Skip.ENCRYPTED, "")
        texts = []
        for chapter in chapters[:MAX_CHAPTERS]:
            texts.append(self._chapter(chapter))
            if self._room <= 0:
                self._notes.append(CUT_NOTE)
                break
        first = next((n for n, text in enumerate(texts) if text), None)
        if first is not None and (about := self._heading()):
            texts[first] = f"{about}\n\n{texts[first]}"
        return of_parts(texts, self._notes)

    def _main(self) -> str:
        found = ""

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            nonlocal found
            if tag == "container:rootfile" and not found:
                found = plain(attributes, "full-path")

        if "META-INF/container.xml" not in self._package:
            raise self._package.foreign()
        self._package.parse("META-INF/container.xml", start, typed=True)
        if not found:
            raise self._package.foreign()
        return beside("", found)

    def _read_package_document(self, part: str) -> None:
        where = ""

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            nonlocal where
            where = tag
            if tag == "opf:item":
                self._items[plain(attributes, "id")] = (
                    plain(attributes, "href"),
                    plain(attributes, "media-type"),
                )
            elif tag == "opf:itemref":
                self._spine.append(plain(attributes, "idref"))
            elif tag in self._about and len(self._about[tag]) < 10:
                self._about[tag].append("")

        def end(_: str) -> None:
            nonlocal where
            where = ""

        def text(data: str) -> None:
            if self._about.get(where):
                self._about[where][-1] += data

        self._package.parse(part, start, end, text, typed=True)

    def _encrypted(self) -> set[str]:
        """The parts that are encrypted. Fonts often are, in books that anybody may read."""
        found: set[str] = set()

        def start(tag: str, attributes: Mapping[str, str]) -> None:
            if tag == "enc:CipherReference":
                found.add(beside("", unquote(plain(attributes, "URI"))))

        if "META-INF/encryption.xml" in self._package:
            self._package.parse("META-INF/encryption.xml", start, typed=True)
        return found

    def _chapter(self, part: str) -> str:
        try:
            markup = decoded(self._package.read(part))
        except Refusal as refusal:
            if refusal.reason is not Skip.DAMAGED:
                raise
            markup = None
        if markup is None:
            self._notes.append(f"the chapter {part} could not be read")
            return ""
        page = page_of(markup, self._room)
        text = clean(join(page.blocks)).strip("\n")
        self._room -= len(text) if not page.cut else max(self._room, 0)
        return text

    def _heading(self) -> str:
        title, authors = (
            ", ".join(filter(None, (" ".join(clean(each).split())[:300] for each in self._about[name])))
            for name in ("dc:title", "dc:creator")
        )
        if not title:
            return authors
        return str(heading_of(1, title)) + (f"\n\n{authors}" if authors else "")
