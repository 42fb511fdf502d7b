"""What a tool answers: text within a budget, valid UTF-8, with what was left out said in it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import QueryError
from ..output import valid

# Clients reject replies over 25 000 tokens; these are bytes of the reply as it goes over the wire, at four a
# token, which is what English and code take.
DEFAULT_TOKENS = 8_500
MOST_TOKENS = 19_000
BYTES_A_TOKEN = 4
_MOST_GLOBS = 100
_BRACES = re.compile(r"\{([^{}]*)\}")


def wire_size(text: str) -> int:
    """Bytes that a text takes in a message."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "backslashreplace"))


def budget(max_tokens: int) -> int:
    """The bytes of a reply for a `maxTokens` argument, 0 meaning the default. Raises QueryError."""
    if not 0 <= max_tokens <= MOST_TOKENS:
        raise QueryError(f"maxTokens must be from 1 to {MOST_TOKENS}, or 0 for {DEFAULT_TOKENS}")
    return (max_tokens or DEFAULT_TOKENS) * BYTES_A_TOKEN


def prefix_that_fits(text: str, room: int) -> str:
    """The longest beginning of a text that takes at most `room` bytes on the wire, cut at a line end where
    one is in its second half."""
    if wire_size(text) <= room:
        return text
    low, high = 0, min(len(text), max(room, 0))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if wire_size(text[:middle]) <= room else (low, middle - 1)
    at = text.rfind("\n", low // 2, low)
    return text[:low] if at < 0 else text[:at]


def lines_that_fit(lines: Sequence[str], room: int) -> int:
    """How many of the lines, from the first, go into `room` bytes."""
    for count, line in enumerate(lines):
        room -= wire_size(line)
        if room < 0:
            return count
    return len(lines)


def hits_that_fit(
    hits: Sequence[dict[str, Any]], room: int, dump: Callable[[object], str]
) -> tuple[str, int]:
    """The JSON array of the hits that fit, and how many were left out.

    The first is never left out; where it is too long by itself, its text is cut.
    """
    kept: list[dict[str, Any]] = []
    for hit in hits:
        size = wire_size(dump(hit)) + 2
        if size > room:
            if kept:
                break
            excess = dict(hit, text="")
            hit = dict(hit, text=prefix_that_fits(hit["text"], max(0, (room - wire_size(dump(excess))) // 2)))
        kept.append(hit)
        room -= size
    return dump(kept), len(hits) - len(kept)


def listed(text: str) -> tuple[str, ...]:
    """The items of a comma-separated argument; a comma in braces separates nothing."""
    items, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and depth <= 0:
            items.append(text[start:at])
            start = at + 1
    items.append(text[start:])
    return tuple(item.strip() for item in items if item.strip())


def globs(text: str) -> tuple[str, ...]:
    """The globs of an argument, `*.{ts,tsx}` being two. Raises QueryError when there are too many."""
    waiting, found = list(listed(text)), []
    while waiting:
        glob = waiting.pop(0)
        braces = _BRACES.search(glob)
        if braces is None:
            found.append(glob)
        else:
            waiting[:0] = [
                glob[: braces.start()] + part + glob[braces.end() :] for part in braces[1].split(",")
            ]
        if len(waiting) + len(found) > _MOST_GLOBS:
            raise QueryError(f"{text[:100]}: stands for more than {_MOST_GLOBS} globs")
    return tuple(dict.fromkeys(found))


def sentence(error: BaseException) -> str:
    """An error as one line for an agent."""
    return valid(" ".join(str(error).split()))
