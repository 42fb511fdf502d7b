"""What `styles.xml` and `numbering.xml` say about a paragraph: heading level, list level, its marker."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .package import attribute, number

_HEADING = re.compile(r"(?:heading|заголовок) ?([1-9])")
_TITLES = ("title", "назва", "название")
_BODY_TEXT = 9
_MAX_CHAIN = 20


@dataclass(slots=True)
class Style:
    """A paragraph style as written, before its base is looked at."""

    name: str = ""
    base: str | None = None
    outline: int | None = None
    number_id: int | None = None
    list_level: int | None = None


@dataclass(slots=True)
class Styles:
    """The paragraph styles of a document by their ids, which are localised (`1`, `Heading1`)."""

    styles: dict[str, Style] = field(default_factory=dict)
    _at: Style | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take in one element of `styles.xml`."""
        if tag == "w:style":
            self._at = Style()
            if attribute(attributes, "type") == "paragraph":
                self.styles[attribute(attributes, "styleId") or ""] = self._at
        elif self._at is not None and tag in _STYLE_READERS:
            _STYLE_READERS[tag](self._at, attributes)

    def outline(self, style_id: str | None) -> int | None:
        """The heading level of a style, 0 for the highest, None for what is no heading."""
        for identifier, style in self._chain(style_id):
            if style.outline is not None:
                return style.outline if style.outline < _BODY_TEXT else None
            for name in (style.name, identifier):
                if heading := _HEADING.fullmatch(name.lower()):
                    return int(heading[1]) - 1
                if name.lower() in _TITLES:
                    return 0
        return None

    def numbering(self, style_id: str | None) -> tuple[int | None, int]:
        """The list (None for none) and the list level that a style gives its paragraphs."""
        number_id = level = None
        for _, style in self._chain(style_id):
            number_id = style.number_id if number_id is None else number_id
            level = style.list_level if level is None else level
        return number_id, level or 0

    def _chain(self, style_id: str | None) -> list[tuple[str, Style]]:
        chain: list[tuple[str, Style]] = []
        while style_id is not None and len(chain) < _MAX_CHAIN:
            # A style that is used but not described may still say by its id what it is.
            style = self.styles.get(style_id) or Style()
            chain.append((style_id, style))
            style_id = style.base
        return chain


def _read_name(style: Style, attributes: Mapping[str, str]) -> None:
    style.name = attribute(attributes, "val") or ""


def _read_base(style: Style, attributes: Mapping[str, str]) -> None:
    style.base = attribute(attributes, "val")


def _read_outline(style: Style, attributes: Mapping[str, str]) -> None:
    style.outline = number(attributes)


def _read_number_id(style: Style, attributes: Mapping[str, str]) -> None:
    style.number_id = number(attributes)


def _read_list_level(style: Style, attributes: Mapping[str, str]) -> None:
    style.list_level = number(attributes)


_STYLE_READERS: dict[str, Callable[[Style, Mapping[str, str]], None]] = {
    "w:name": _read_name,
    "w:basedOn": _read_base,
    "w:outlineLvl": _read_outline,
    "w:numId": _read_number_id,
    "w:ilvl": _read_list_level,
}


@dataclass(slots=True)
class Numbering:
    """The lists of a document, and how far each has counted."""

    _abstract: dict[int, int] = field(default_factory=dict)
    _bullets: dict[tuple[int, int], bool] = field(default_factory=dict)
    _starts: dict[tuple[int, int], int] = field(default_factory=dict)
    _counts: dict[int, dict[int, int]] = field(default_factory=dict)
    _in_abstract: int | None = None
    _in_number: int | None = None
    _in_level: int = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take in one element of `numbering.xml`."""
        if tag == "w:abstractNum":
            self._in_abstract, self._in_number = number(attributes, "abstractNumId"), None
        elif tag == "w:num":
            self._in_abstract, self._in_number = None, number(attributes, "numId")
        elif tag == "w:abstractNumId" and self._in_number is not None:
            self._abstract[self._in_number] = number(attributes) or 0
        elif tag == "w:lvl":
            self._in_level = number(attributes, "ilvl") or 0
        elif self._in_abstract is not None:
            key = (self._in_abstract, self._in_level)
            if tag == "w:numFmt":
                self._bullets[key] = attribute(attributes, "val") in ("bullet", "none")
            elif tag == "w:start":
                self._starts[key] = number(attributes) or 0

    def mark(self, number_id: int, level: int) -> str:
        """The marker of the next item of a list in Markdown: `- ` or its number, `3. `."""
        key = (self._abstract.get(number_id, -1), level)
        if self._bullets.get(key, True):
            return "- "
        counts = self._counts.setdefault(number_id, {})
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        counts[level] = counts.get(level, self._starts.get(key, 1) - 1) + 1
        return f"{counts[level]}. "
