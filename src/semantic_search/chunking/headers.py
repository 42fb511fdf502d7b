"""The header of a chunk (heading trail or symbol): how many tokens it may cost, and how it is shortened."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|\S")
_MAX_TRAIL = 200
_MAX_HEADING = 100
_MAX_SYMBOL = 120
_MAX_NAMES = 6


def header_tokens(heading: str, symbol: str) -> int:
    """No fewer tokens than the header line of a chunk costs: the heading, or the symbol without one."""
    header = heading or symbol
    if not header:
        return 0
    return 2 + sum(1 + len(piece) // 3 for piece in _PIECE.findall(header))


def fit_trail(trail: Sequence[str], room: int) -> str:
    """The trail joined by ` > ` within `room` tokens: outer headings go first, then the end of the last."""
    parts = [heading[:_MAX_HEADING].rstrip() for heading in trail if heading.strip()]
    while parts:
        joined = " > ".join(parts)
        if len(joined) <= _MAX_TRAIL and header_tokens(joined, "") <= room:
            return joined
        if len(parts) == 1:
            return _shortened(parts[0], room)
        parts = parts[1:]
    return ""


def _shortened(heading: str, room: int) -> str:
    words = heading.split()
    while words and header_tokens(" ".join(words), "") > room:
        words.pop()
    return " ".join(words)


def fit_names(names: Sequence[str], room: int) -> str:
    """As many names as fit, joined by `, `: at most six, 120 characters and `room` tokens."""
    symbol = ""
    for name in names[:_MAX_NAMES]:
        longer = f"{symbol}, {name}" if symbol else name
        if len(longer) > _MAX_SYMBOL or header_tokens("", longer) > room:
            break
        symbol = longer
    return symbol
