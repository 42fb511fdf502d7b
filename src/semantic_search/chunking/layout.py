"""Blocks of text without markup or grammar: prose, pages, indented text, lines of data."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .packing import Block

_INDENTED = re.compile(
    r"^([ \t]*)(?![ \t\n)\]}]|end\b|else\b|elif\b|fi\b|done\b|then\b|catch\b|except\b)", re.MULTILINE
)
_COMMENT_START = ("#", "//", "--", ";", "*", "/*", "%", "@", '"""', "///")
_INDENT_LEVELS = 3


def prose(text: str, pages: Sequence[int] = ()) -> list[Block]:
    """The text as one block, preferably cut where pages start."""
    return [Block(0, len(text), cuts=(tuple(pages),) if pages else ())]


def indented(text: str) -> list[Block]:
    """The text as one block, preferably cut at its least indented lines: statements, keys, rules."""
    return [Block(0, len(text), cuts=indent_cuts(text, 0, len(text)), overlaps=False)]


def indent_cuts(text: str, start: int, end: int) -> tuple[Sequence[int], ...]:
    """Starts of lines in (start, end) at the smallest indents, best first: those below a blank line.

    Lines that close or continue what stands above (`}`, `else`) and lines below a comment are no cuts.
    """
    by_indent: dict[int, list[int]] = {}
    for match in _INDENTED.finditer(text, start, end):
        at = match.start()
        if at > start and text[at - 1] == "\n" and not _follows_comment(text, at):
            by_indent.setdefault(match.end() - at, []).append(at)
    levels = [by_indent[indent] for indent in sorted(by_indent)[:_INDENT_LEVELS]]
    if not levels:
        return ()
    after_blank = [at for at in levels[0] if text[at - 2 : at - 1] == "\n"]
    merged: list[Sequence[int]] = [after_blank, levels[0]]
    for level in levels[1:]:
        merged.append(sorted([*merged[-1], *level]))
    return tuple(merged)


def _follows_comment(text: str, at: int) -> bool:
    """Whether the line above starts as a comment or decorator does: what follows belongs to it."""
    above = text.rfind("\n", 0, at - 1) + 1
    return text[above : at - 1].lstrip().startswith(_COMMENT_START)
