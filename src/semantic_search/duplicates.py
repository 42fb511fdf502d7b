"""Passages that say the same: copies of a file, a licence in every folder, boilerplate."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")

_WORD = re.compile(r"\w+")

# From this share of common words on (Jaccard) two passages are one. Versions of a page that differ in a name
# or a date lie above it, different functions of one file far below.
ALIKE = 0.9


def word_set(text: str) -> frozenset[str]:
    """The words of a text, case apart."""
    return frozenset(_WORD.findall(text.casefold()))


def alike(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two sets of words have `ALIKE` of their union in common. Empty ones are like nothing."""
    small, large = sorted((len(first), len(second)))
    if not small or small < ALIKE * large:
        return False
    common = len(first & second)
    return common >= ALIKE * (small + large - common)


def collapsed(items: Iterable[tuple[Item, str]], most: int) -> list[tuple[Item, list[Item]]]:
    """Of items with their texts, in order: up to `most` that differ, each with those it stands for.

    An item that is like an earlier one is counted to the first such; the search ends with the one after the
    last that has room.
    """
    kept: list[tuple[Item, list[Item]]] = []
    words: list[frozenset[str]] = []
    for item, text in items:
        mine = word_set(text)
        like = next((n for n, other in enumerate(words) if alike(mine, other)), None)
        if like is not None:
            kept[like][1].append(item)
        elif len(kept) == most:
            break
        else:
            kept.append((item, []))
            words.append(mine)
    return kept
