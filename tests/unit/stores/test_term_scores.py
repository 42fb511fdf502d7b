"""Scores of rows as sums of what their terms add, and what is remembered of the terms."""

from __future__ import annotations

import pytest

from semantic_search.stores import term_scores
from semantic_search.stores.term_scores import TermScores

TERMS = {"a": [(1, 0.5), (4, 2.0)], "b": [(4, 0.25), (2, 0.5)], "c": [(9, 0.5)], "none": []}


def test_sums_are_in_order_and_ties_go_to_the_lower_row() -> None:
    scores = TermScores(lambda term: TERMS[term], last_row=9)
    assert scores.best(["a", "b", "c"], 9) == [(4, 2.25), (1, 0.5), (2, 0.5), (9, 0.5)]
    assert scores.best(["a", "b", "c"], 2) == [(4, 2.25), (1, 0.5)]
    assert scores.best(["c", "b", "a"], 3) == [(4, 2.25), (1, 0.5), (2, 0.5)]
    assert scores.best(["none"], 3) == []
    assert scores.best([], 3) == []


def test_common_terms_are_read_once_and_forgotten_when_there_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [(row, 1.0) for row in range(1, term_scores.FEWEST_ROWS + 1)]
    read: list[str] = []

    def reading(term: str) -> list[tuple[int, float]]:
        read.append(term)
        return rows if term.startswith("common") else rows[:1]

    scores = TermScores(reading, last_row=len(rows))
    monkeypatch.setattr(term_scores, "MOST_BYTES", 2 * 12 * len(rows))
    for term in ("common1", "rare", "common2", "common1", "rare", "common3", "common1", "common2"):
        assert scores.best([term], 1) == [(1, 1.0)]
    assert read == ["common1", "rare", "common2", "rare", "common3", "common2"]


def test_where_too_much_is_new_one_term_asked_for_before_is_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = {f"term{n}": term_scores.FEWEST_ROWS + n for n in range(4)}
    read: list[str] = []

    def reading(term: str) -> list[tuple[int, float]]:
        read.append(term)
        return [(row, 1.0) for row in range(counts[term])]

    scores = TermScores(reading, last_row=2 * term_scores.FEWEST_ROWS)
    monkeypatch.setattr(term_scores, "MOST_NEW_ROWS", counts["term0"])
    assert [scores.ready_for(counts) for _ in range(5)] == [False, False, False, False, True]
    assert read == ["term3", "term2", "term1"]
