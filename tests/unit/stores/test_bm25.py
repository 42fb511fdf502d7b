"""Our BM25 is that of FTS5."""

from __future__ import annotations

import contextlib
import random
import sqlite3

import pytest

from semantic_search.stores.bm25 import Statistics, score

WEIGHT = 0.5


def test_scores_are_those_of_fts5() -> None:
    chance = random.Random(4)
    words = [f"w{n}" for n in range(30)]
    rows = [
        (chance.choices(words, k=chance.randint(1, 40)), chance.choices(words, k=chance.randint(0, 9)))
        for _ in range(60)
    ]
    query = ["w1", "w7", "w29", "never"]
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE t USING fts5(terms, context)")
        for n, (terms, context) in enumerate(rows):
            db.execute(
                "INSERT INTO t (rowid, terms, context) VALUES (?, ?, ?)",
                (n, *map(" ".join, (terms, context))),
            )
        found = dict(
            db.execute(f"SELECT rowid, -bm25(t, 1.0, {WEIGHT}) FROM t WHERE t MATCH ?", (" OR ".join(query),))
        )
    frequencies = {term: sum(term in terms + context for terms, context in rows) for term in query}
    statistics = Statistics(len(rows), sum(len(terms) + len(context) for terms, context in rows), frequencies)
    ours = {n: score(*row, WEIGHT, statistics) for n, row in enumerate(rows)}
    assert len(found) > 30
    assert {n for n, value in ours.items() if value} == set(found)
    for n, value in found.items():
        assert ours[n] == pytest.approx(value, rel=1e-9)


def test_nothing_indexed_scores_nothing() -> None:
    assert score([], [], WEIGHT, Statistics(0, 0, {"word": 0})) == 0.0
