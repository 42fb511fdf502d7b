"""BM25 as SQLite's FTS5 computes it, for stores whose own full text scores otherwise.

A row has two columns, text and context; a term of the context counts a part of one of the text. Statistics
are those of the whole index, so that a score does not depend on how the store cuts its own index into parts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6


@dataclass(frozen=True, slots=True)
class Statistics:
    """Rows in the index, terms in all of them, and in how many rows each term of a query occurs."""

    rows: int
    terms: int
    frequencies: Mapping[str, int]


def score(text: Sequence[str], context: Sequence[str], context_weight: float, found: Statistics) -> float:
    """How well a row answers a query whose terms are those of `found.frequencies`; higher is better."""
    length = len(text) + len(context)
    average = found.terms / found.rows if found.rows and found.terms else 1.0
    dampening = _K1 * (1 - _B + _B * length / average)
    in_text, in_context = Counter(text), Counter(context)
    total = 0.0
    for term, rows in found.frequencies.items():
        frequency = in_text[term] + context_weight * in_context[term]
        if frequency:
            rarity = math.log((max(found.rows - rows, 0) + 0.5) / (rows + 0.5))
            rarity = rarity if rarity > 0 else _LEAST_IDF
            total += rarity * frequency * (_K1 + 1) / (frequency + dampening)
    return total
