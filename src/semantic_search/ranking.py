"""Order: two ranked arms become one list. Pure functions over ids and scores.

Reciprocal rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence

Ranked = Sequence[tuple[int, float]]
"""Ids with their scores, best first."""

# The candidate at this place of the vector arm counts as nothing. Cosines of one model lie in a narrow band
# whose position differs from query to query, so only distances within the list say anything.
ZERO_PLACE = 50


def reciprocal_ranks(arms: Sequence[Ranked], k: int) -> dict[int, float]:
    """For each id the sum over arms of 1 / (k + rank), ranks from 1."""
    scores: dict[int, float] = {}
    for arm in arms:
        for rank, (id_, _) in enumerate(arm, 1):
            scores[id_] = scores.get(id_, 0.0) + 1.0 / (k + rank)
    return scores


def scaled_to_best(arm: Ranked) -> dict[int, float]:
    """Scores divided by the best one: 1 for the best, towards 0 for the others."""
    best = max((score for _, score in arm), default=0.0)
    return (
        {id_: max(score, 0.0) / best for id_, score in arm}
        if best > 0
        else dict.fromkeys((i for i, _ in arm), 0.0)
    )


def scaled_to_pool(arm: Ranked) -> dict[int, float]:
    """Scores moved and stretched so that the best is 1 and the one at `ZERO_PLACE` is 0.

    A shorter list is taken to fall on until that place, ever more slowly: the last of three that are nearly
    equal is not nothing.
    """
    if not arm:
        return {}
    top = arm[0][1]
    last = min(ZERO_PLACE, len(arm))
    width = top - arm[last - 1][1]
    if last > 1:
        width *= math.sqrt((ZERO_PLACE - 1) / (last - 1))
    if width <= 0:
        return {id_: 1.0 for id_, _ in arm}
    return {id_: max(0.0, 1.0 - (top - score) / width) for id_, score in arm}


def saturated(
    ranked: Ranked,
    key: Callable[[int], Hashable],
    factor: float,
    tie: Callable[[int], float] | None = None,
) -> list[tuple[int, float]]:
    """A ranked list in which the n-th of one key (a file) keeps `factor ** (n - 1)` of its score, in order.

    Scores that are not positive sink by n - 1 instead, so that the order within a key stays. `tie` as in
    `in_order`.
    """
    counts: dict[Hashable, int] = {}
    scores: dict[int, float] = {}
    for id_, score in ranked:
        n = counts.get(key(id_), 0)
        counts[key(id_)] = n + 1
        scores[id_] = score * factor**n if score > 0 else score - n
    return in_order(scores, tie)


def in_order(
    scores: Mapping[int, float], tie: Callable[[int], float] | None = None
) -> list[tuple[int, float]]:
    """Ids by score, best first; equal scores by `tie`, least first, and then by id, so that the order never
    depends on chance."""
    return sorted(scores.items(), key=lambda item: (-item[1], tie(item[0]) if tie else 0, item[0]))
