"""The lexical arm asks FTS5 for fewer rows than all that match, and gives the same answer."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import FOLDER, indexed, vectors

from semantic_search.stores import Filter, sqlite_words, term_scores
from semantic_search.stores.sqlite import SqliteStore

COMMON = ["the", "of", "and", "to", "where"]
WORDS = [f"word{n}" for n in range(300)]
NARROWED = "AND +rowid IN (SELECT rowid FROM"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    """600 passages of 60 files, with a few words in most of them and many in few."""
    drawn = random.Random(4)
    weights = [1 / (n + 1) for n in range(len(WORDS))]
    opened = SqliteStore(str(tmp_path_factory.mktemp("store") / "index-x.sqlite3"), create=True)
    files = []
    for number in range(60):
        passages = [
            " ".join(
                [
                    *(word for n, word in enumerate(COMMON) if drawn.random() < 0.9 - 0.12 * n),
                    *drawn.choices(WORDS, weights, k=drawn.randint(3, 40)),
                    f"place{number}_{place}",
                ]
            )
            for place in range(10)
        ]
        files.append(indexed(f"d{number % 3}/{number}.md", *passages))
    opened.write(FOLDER, files, seen_ns=1)
    yield opened
    opened.close()


def questions() -> list[list[str]]:
    drawn = random.Random(9)
    return [drawn.sample(COMMON, 3) + drawn.sample(WORDS, 3) + ["absent"] for _ in range(40)]


@pytest.mark.parametrize("wanted", [Filter(), Filter(globs=("d1/*",))])
@pytest.mark.parametrize("k", [1, 20, 100])
def test_narrowing_changes_no_answer(
    store: SqliteStore, k: int, wanted: Filter, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    found = []
    for least in (0, 10**9):
        monkeypatch.setattr(sqlite_words, "WORTH_NARROWING", least)
        monkeypatch.setattr(sqlite_words, "WORTH_REMEMBERING", 10**9)
        store._connection.set_trace_callback(asked.append if not least else None)
        found.append(
            [(store.match(terms, wanted, k), store.match_files(terms, wanted, k)) for terms in questions()]
        )
    assert found[0] == found[1]
    assert any(NARROWED in statement for statement in asked)


@pytest.mark.parametrize("k", [1, 20, 100, 1000])
def test_what_is_remembered_of_terms_changes_no_answer(
    store: SqliteStore, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for least in (0, 10**9):
        monkeypatch.setattr(sqlite_words, "WORTH_REMEMBERING", least)
        store.match(["the"], Filter(), 1)
        store.match_files(["the"], Filter(), 1)
        found.append(
            [
                (store.match(terms, Filter(), k), store.match_files(terms, Filter(), k))
                for terms in questions()
            ]
        )
    assert found[0] == found[1]


def test_remembered_terms_are_not_asked_for_again_until_words_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_words, "WORTH_REMEMBERING", 0)
    monkeypatch.setattr(term_scores, "FEWEST_ROWS", 2)
    store = SqliteStore(str(tmp_path / "index-x.sqlite3"), create=True)
    store.write(FOLDER, [indexed("a.md", "walrus one", "walrus two", "fish")], seen_ns=1)
    first = [store.match(["walrus"], Filter(), 5) for _ in range(2)]
    asked: list[str] = []
    store._connection.set_trace_callback(asked.append)
    assert store.match(["walrus"], Filter(), 5) == first[0] == first[1]
    assert not any("bm25" in statement for statement in asked)
    ids = [id_ for id_, _ in store.pending(9)]
    store.put_vectors(ids, vectors([f"text {n}" for n in ids]))
    assert store.match(["walrus"], Filter(), 5) == first[0]
    assert not any("bm25" in statement for statement in asked)
    store.write(FOLDER, [indexed("b.md", "walrus three, a walrus")], seen_ns=1)
    after = [store.match(["walrus"], Filter(), 5) for _ in range(3)]
    assert [len(found) for found in after] == [3, 3, 3] and after[0] == after[1] == after[2]
    store.close()


def test_few_rows_are_asked_for_at_once(store: SqliteStore) -> None:
    asked: list[str] = []
    store._connection.set_trace_callback(asked.append)
    store.match(["the", "word17", "absent"], Filter(), 10)
    store._connection.set_trace_callback(None)
    assert [NARROWED in statement for statement in asked if "bm25" in statement] == [False]


def test_frequencies_are_counted_anew_after_a_write(tmp_path: Path) -> None:
    path = str(tmp_path / "index-x.sqlite3")
    writer = SqliteStore(path, create=True)
    reader = SqliteStore(path, create=False)
    writer.write(FOLDER, [indexed("a.md", "walrus", "walrus fish")], seen_ns=1)
    assert reader.frequencies(["walrus", "fish", "absent"]) == {"walrus": 2, "fish": 1, "absent": 0}
    writer.write(FOLDER, [indexed("b.md", "walrus")], seen_ns=1)
    assert reader.frequencies(["walrus", "fish"]) == {"walrus": 3, "fish": 1}
    assert [reader.passage_count(), writer.passage_count()] == [3, 3]
    writer.forget(FOLDER, ["a.md"])
    assert reader.frequencies(["walrus", "fish"]) == {"walrus": 1, "fish": 0}
    assert writer.frequencies(["walrus"]) == {"walrus": 1}
    for store in (writer, reader):
        store.close()
