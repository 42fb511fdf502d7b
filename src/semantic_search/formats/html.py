"""Web pages: the main text as Markdown."""

from __future__ import annotations

from ..types import Skip
from .blocks import heading_of, join
from .html_text import decoded, page_of
from .outcome import CUT_NOTE, Extracted, Refused, clean

MAX_CHARACTERS = 10_000_000


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The text of a page as Markdown: headings, paragraphs, lists, tables a row a line, code in fences.

    Without scripts, styles, navigation and forms; of a page with a main part, that part. The title stands
    above where the text has no heading. Refuses what is no text (`UNDECODABLE`) and pages without any
    (`NO_TEXT`).
    """
    markup = decoded(data)
    if markup is None:
        return Refused(Skip.UNDECODABLE)
    page = page_of(markup, max_characters)
    if not page.blocks:
        return Refused(Skip.NO_TEXT, "")
    blocks = page.blocks
    if page.title and not any(block.kind == "heading" for block in blocks):
        blocks = [heading_of(1, page.title), *blocks]
    text = clean(join(blocks))
    if not text.strip():
        return Refused(Skip.NO_TEXT, "")
    notes = (CUT_NOTE,) if page.cut else ()
    return Extracted(text, notes=notes)
