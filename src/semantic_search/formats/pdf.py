"""PDF through pdfium: the text layer, page by page.

Runs in the extraction child, one document at a time: pdfium is not thread-safe, and crafted files can make it
hang or run out of memory.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ..types import Skip
from .ocr import OcrFailed, recognised
from .outcome import Extracted, Refused, clean, parted

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_PAGES = 5_000
MAX_CHARACTERS = 20_000_000
OCR_SECONDS = 50.0

# Tesseract wants about 300 dots an inch, and a page has 72 units. Of a giant page no more pixels are drawn.
_OCR_SCALE = 300 / 72
_OCR_MOST_PIXELS = 40_000_000
_OCR_LEAST_SECONDS = 1.0

# pdfium puts one of these where it takes a hyphen at a line's end, and drops the line's end.
_BROKEN = re.compile(r"[\x02\ufffe]")
_WORD = re.compile(r"\w+(?:-\w+)*")
_LAST_WORD = re.compile(r"\w+\Z")
_FIRST_WORD = re.compile(r"\w+")
_LONGEST_WORD = 64
_BLANK_LINES = re.compile(r"\n{3,}")


def extract(
    data: bytes,
    *,
    max_pages: int = MAX_PAGES,
    max_characters: int = MAX_CHARACTERS,
    ocr_languages: Sequence[str] = (),
    ocr_seconds: float = OCR_SECONDS,
) -> Extracted | Refused:
    """The text of a PDF, pages parted by a blank line, and the offset at which each page starts.

    Refuses what needs a password (`ENCRYPTED`), what pdfium cannot open (`DAMAGED`) and what has no text on
    any page (`NO_TEXT`). Notes say how many pages have no text, could not be read, or were left out.

    With `ocr_languages` (codes of tesseract) the text of pages without any is recognised, of as many as
    `ocr_seconds` allow; notes say of how many, and why not of others.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        return _refusal(error)
    try:
        count = len(document)
        if not count:
            return Refused(Skip.NO_TEXT, "no pages")
        texts: list[str | None] = []
        room = max_characters
        for text in _page_texts(document, min(count, max_pages)):
            texts.append(text)
            room -= len(text or "")
            if room <= 0:
                break
        notes = _recognise(document, texts, ocr_languages, ocr_seconds) if ocr_languages else []
    finally:
        document.close()
    return _assemble(texts, count, max_characters, notes)


def _recognise(
    document: PdfDocument, texts: list[str | None], languages: Sequence[str], seconds: float
) -> list[str]:
    """Puts recognised text in the place of none, and says what came of it."""
    silent = [number for number, text in enumerate(texts) if text is not None and not text.strip()]
    end = time.monotonic() + seconds
    done = 0
    notes = []
    for number in silent:
        left = end - time.monotonic()
        if left < _OCR_LEAST_SECONDS:
            notes.append(f"no time was left to recognise {len(silent) - done} pages (ocrSeconds)")
            break
        try:
            image = _image_of(document, number)
            texts[number] = recognised(image, languages, left) if image else texts[number]
        except OcrFailed as failure:
            notes.append(f"{len(silent) - done} pages were not recognised: {failure}")
            break
        done += 1
    return [f"{done} pages were recognised, not read", *notes] if done else notes


def _image_of(document: PdfDocument, number: int) -> bytes:
    """A page drawn in shades of grey, as PGM (netpbm); nothing where it cannot be drawn."""
    from pypdfium2 import PdfiumError

    try:
        page = document[number]
        try:
            width, height = page.get_size()
            if not (0 < width < math.inf and 0 < height < math.inf):
                return b""
            scale = min(_OCR_SCALE, math.sqrt(_OCR_MOST_PIXELS / (width * height)))
            bitmap = page.render(scale=scale, grayscale=True)
            try:
                wide, high, stride = bitmap.width, bitmap.height, bitmap.stride
                pixels = bytes(bitmap.buffer)
            finally:
                bitmap.close()
        finally:
            page.close()
    except (PdfiumError, ValueError):
        return b""
    rows = b"".join(pixels[row * stride : row * stride + wide] for row in range(high))
    return b"P5 %d %d 255\n" % (wide, high) + rows


def _refusal(error: Exception) -> Refused:
    message = str(error).lower()
    if "password" in message or "security" in message:
        return Refused(Skip.ENCRYPTED)
    return Refused(Skip.DAMAGED, "not a readable PDF")


def _page_texts(document: PdfDocument, count: int) -> Iterator[str | None]:
    """The raw text of each page; None for a page that cannot be loaded."""
    from pypdfium2 import PdfiumError

    for number in range(count):
        try:
            page = document[number]
        except PdfiumError:
            yield None
            continue
        try:
            textpage = page.get_textpage()
            try:
                # Only what lies on the page, unless that is nothing: some pages have a box that is wrong.
                yield textpage.get_text_bounded() or textpage.get_text_range()
            finally:
                textpage.close()
        except PdfiumError:
            yield None
        finally:
            page.close()


def _assemble(
    raw: list[str | None], count: int, max_characters: int, notes: list[str]
) -> Extracted | Refused:
    unread = sum(page is None for page in raw)
    if unread == len(raw):
        return Refused(Skip.DAMAGED, "no page could be read")
    words = _vocabulary(raw)
    tidied = [_tidy(page or "", words) for page in raw]
    if not any(tidied):
        return Refused(Skip.NO_TEXT, "; ".join(notes))
    text, pages = parted(tidied)
    notes = list(notes)
    if silent := tidied.count("") - unread:
        notes.append(f"{silent} of {count} pages without text")
    if unread:
        notes.append(f"{unread} of {count} pages could not be read")
    if len(raw) < count:
        notes.append(f"only the first {len(raw)} of {count} pages were read")
    if len(text) > max_characters:
        notes.append(f"only the first {max_characters} characters were kept")
        text = text[:max_characters]
    return Extracted(text, tuple(min(offset, len(text)) for offset in pages), tuple(notes))


def _vocabulary(raw: list[str | None]) -> frozenset[str]:
    """The words of a document, in lower case; none where it breaks no word, and so needs none."""
    if not any(text and _BROKEN.search(text) for text in raw):
        return frozenset()
    return frozenset(word.lower() for text in raw if text for word in _WORD.findall(text))


def _tidy(text: str, words: frozenset[str]) -> str:
    pieces = _BROKEN.split(text)
    joined = pieces[0]
    if len(pieces) > 1:
        joins = [_join(before, after, words) for before, after in pairwise(pieces)]
        joined += "".join(join + piece for join, piece in zip(joins, pieces[1:], strict=True))
    lines = (line.rstrip() for line in clean(joined).split("\n"))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def _join(before: str, after: str, words: frozenset[str]) -> str:
    """What stood between two halves of a word that a line's end parted: nothing, or a hyphen.

    The document itself is the dictionary. A word it does not hold elsewhere was broken by the typesetter if
    both halves are lower-case letters, and otherwise is a compound (`Post-GIS`, `2020-2021`).
    """
    left = _LAST_WORD.search(before[-_LONGEST_WORD:])
    right = _FIRST_WORD.match(after[:_LONGEST_WORD].lstrip())
    if left is None or right is None:
        return "-"
    first, second = left[0], right[0]
    if f"{first}{second}".lower() in words:
        return ""
    if f"{first}-{second}".lower() in words:
        return "-"
    return "" if first[1:].islower() and first.isalpha() and second.isalpha() and second.islower() else "-"
