"""What an extractor gives back, and the one way its text is made clean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..types import Skip

_LINE_END = re.compile(r"\r\n?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\ufffe\uffff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of a document: valid Unicode, lines ended by `\\n` alone.

    `pages` are the character offsets at which pages start, ascending, one for each page read; a page without
    text starts where the next one does. `notes` are sentences for the user about what is missing.
    """

    text: str
    pages: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a document gave no text, and what in particular (may be empty)."""

    reason: Skip
    detail: str = ""


Extract = Callable[[bytes], Extracted | Refused]


def clean(text: str) -> str:
    """`text` as valid Unicode with `\\n` line ends, without control characters other than tab and newline."""
    text = _CONTROL.sub("", _LINE_END.sub("\n", text))
    return _SURROGATE.sub("\ufffd", text)


def parted(texts: Iterable[str]) -> tuple[str, list[int]]:
    """All parts of a document with a blank line between them, and the offset at which each starts.

    One without text starts where the next one does.
    """
    parts: list[str] = []
    starts: list[int] = []
    length = waiting = 0
    for text in texts:
        waiting += 1
        if not text:
            continue
        separator = "\n\n" if parts else ""
        length += len(separator)
        starts += [length] * waiting
        waiting = 0
        parts += (separator, text)
        length += len(text)
    return "".join(parts), starts + [length] * waiting


CUT_NOTE = "only the beginning was kept: more text than the limit"


def of_parts(texts: Sequence[str], notes: Sequence[str] = ()) -> Extracted | Refused:
    """The outcome of a document in parts (slides, sheets, chapters, cells): their places are its pages."""
    text, starts = parted(texts)
    if not text.strip():
        return Refused(Skip.NO_TEXT, "")
    return Extracted(text, tuple(starts), tuple(notes))
