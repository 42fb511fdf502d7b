"""What the LanceDB store does beyond the contract of every store."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from builders import DIMENSION, FOLDER, indexed, vector, vectors

from semantic_search.errors import IndexDamaged, IndexTooNew, NoIndex, StoreError
from semantic_search.stores import Filter, Store, open_store
from semantic_search.stores.lance import search, upkeep
from semantic_search.stores.lance.failures import translated
from semantic_search.stores.lance.session import UNFINISHED
from semantic_search.stores.lance.store import LanceStore
from semantic_search.stores.lance.tables import ENTRIES, META

EVERYTHING = Filter()


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "index-x.lancedb")


@pytest.fixture
def store(place: str) -> LanceStore:
    return LanceStore(place, create=True)


def embed(store: LanceStore) -> None:
    waiting = store.pending(10_000)
    store.put_vectors([id_ for id_, _ in waiting], vectors([text for _, text in waiting]))


def tail(store: LanceStore) -> int:
    return int(store._entries.index_stats("words_idx").num_unindexed_rows)


def scored(store: Store, terms: list[str]) -> list[tuple[str, float]]:
    found = store.match(terms, EVERYTHING, 200)
    passages = store.passages([id_ for id_, _ in found])
    return sorted((passages[id_].path, round(score, 9)) for id_, score in found)


def test_without_the_extra_the_hint_says_what_to_install(place: str) -> None:
    script = (
        "import sys; sys.modules['lancedb'] = None\n"
        "from semantic_search.errors import StoreError\n"
        "from semantic_search.stores import open_store\n"
        "try:\n    open_store('lancedb', sys.argv[1], create=True)\n"
        "except StoreError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, place], capture_output=True, text=True, check=True)
    assert "pip install 'semantic-search-mcp[lancedb]'" in done.stdout
    assert not Path(place).exists()


def test_rows_outside_of_the_index_are_found_and_scored_as_those_inside(store: LanceStore) -> None:
    texts = [f"zebra {'stripe ' * (n % 3)} number{n}" for n in range(40)]
    store.write(FOLDER, [indexed(f"{n}.md", text) for n, text in enumerate(texts)], seen_ns=1)
    before = store.match(["zebra", "number7", "stripe"], EVERYTHING, 40)
    assert tail(store) > 0
    store._optimize(store._entries, timedelta(0))
    assert tail(store) == 0
    assert store.match(["zebra", "number7", "stripe"], EVERYTHING, 40) == before


def test_scores_are_those_of_sqlite(store: LanceStore, tmp_path: Path) -> None:
    other = open_store("sqlite", str(tmp_path / "index.sqlite3"), create=True)
    for each in (store, other):
        items = [
            indexed(f"dir{n % 7}/{n}.md", f"zebra {n % 5} horse", "and dog " * (n % 4)) for n in range(60)
        ]
        each.write(FOLDER, items, seen_ns=1)
        each.write(FOLDER, [indexed("dir1/1.md", "zebra horse dog")], seen_ns=2)
    for terms in (["zebra"], ["dir3", "dog"], ["hors", "dog", "zebra", "never"]):
        found = [
            [
                (each.passages([id_])[id_].path, round(score, 9))
                for id_, score in each.match(terms, EVERYTHING, 200)
            ]
            for each in (store, other)
        ]
        assert sorted(found[0]) == sorted(found[1])
        assert store.frequencies(terms) == other.frequencies(terms)
    other.close()


def test_many_updates_keep_the_disk_bounded(store: LanceStore, place: str) -> None:
    def size() -> int:
        return sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())

    store.retention = timedelta(0)
    store.write(FOLDER, [indexed(f"{n}.md", f"zebra {n}") for n in range(100)], seen_ns=1)
    store.tidy()
    fresh = size()
    sizes = []
    for n in range(150):
        store.write(FOLDER, [indexed(f"{n % 100}.md", f"zebra {n} again")], seen_ns=2)
        if n % 50 == 49:
            store.tidy()
            sizes.append(size())
    assert max(sizes) < 3 * fresh
    assert store.check() == ""


def pieces(store: LanceStore) -> int:
    return int(store._entries.stats()["fragment_stats"]["num_fragments"])


def test_a_writer_that_ends_well_leaves_nothing_to_merge(store: LanceStore, place: str) -> None:
    """Such as a search that found changed files: the next run need not write every table anew for that."""
    store.write(FOLDER, [indexed(f"{n}.md", f"zebra {n}") for n in range(9)], seen_ns=1)
    store.tidy()
    store.close()
    searching = LanceStore(place, create=False)
    searching.write(FOLDER, [indexed("3.md", "zebra again")], seen_ns=2)
    embed(searching)
    searching.close()
    assert not (Path(place) / UNFINISHED).exists()
    running = LanceStore(place, create=False)
    before = pieces(running)
    assert before > 1
    running.tidy()
    assert pieces(running) == before


def test_after_one_that_did_not_everything_is_merged(store: LanceStore, place: str) -> None:
    store.write(FOLDER, [indexed(f"{n}.md", f"zebra {n}") for n in range(9)], seen_ns=1)
    store.tidy()
    store.close()
    for fails in (True, False):  # the second ends well, and does not take the mark of the first away
        other = LanceStore(place, create=False)
        other.write(FOLDER, [indexed("3.md", f"zebra {fails}")], seen_ns=2)
        if fails:
            add = partial(other._entries.add, [{"no such column": 1}])
            with pytest.raises(StoreError):
                other._commit(other._entries, add)
        other.close()
        assert (Path(place) / UNFINISHED).exists()
    running = LanceStore(place, create=False)
    running.tidy()
    assert pieces(running) == 1
    assert not (Path(place) / UNFINISHED).exists()


def test_many_writers_of_one_commit_keep_the_disk_bounded(
    store: LanceStore, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody who only ever searches, while files change."""
    monkeypatch.setattr(LanceStore, "retention", timedelta(0))
    store.write(FOLDER, [indexed(f"{n}.md", f"zebra {n}") for n in range(50)], seen_ns=1)
    store.tidy()
    store.close()
    most = 0
    for n in range(30):
        searching = LanceStore(place, create=False)
        searching.write(FOLDER, [indexed(f"{n}.md", f"zebra {n} again")], seen_ns=2)
        most = max(
            most, *(len(list(Path(place).glob(f"{name}.lance/_versions/*"))) for name in (ENTRIES, META))
        )
        searching.close()
    assert 2 < most <= 16
    assert LanceStore(place, create=False).check() == ""


def test_a_longer_version_of_a_file_in_the_place_of_a_shorter_and_back(store: LanceStore) -> None:
    store.write(FOLDER, [indexed("a.md", "one zebra"), indexed("b.md", "zebra beside")], seen_ns=1)
    store.write(FOLDER, [indexed("a.md", "one zebra", "two zebra", "three zebra")], seen_ns=2)
    assert len(store.match(["zebra"], EVERYTHING, 9)) == 4
    store.write(FOLDER, [indexed("a.md", "just one zebra")], seen_ns=3)
    assert len(store.match(["zebra"], EVERYTHING, 9)) == 2
    assert store.check() == ""
    store.tidy()
    assert store._count("kind = 0") == 0
    assert store.check() == ""


def test_many_terms_are_counted_as_one_by_one(store: LanceStore) -> None:
    store.write(FOLDER, [indexed(f"{n}.md", f"common{n % 3} word{n}") for n in range(90)], seen_ns=1)
    terms = [f"common{n}" for n in range(3)] + [f"word{n}" for n in range(0, 200, 2)]
    together = store.frequencies(terms)
    fresh = LanceStore(store.path, create=False)
    assert together == {term: fresh.frequencies([term])[term] for term in terms}
    assert together["common0"] == 30
    assert together["word198"] == 0


def test_filters_of_many_and_of_few_files_agree(store: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    store.write(FOLDER, [indexed(f"{n % 10}/{n}.md", f"text number {n}") for n in range(400)], seen_ns=1)
    waiting = store.pending(1000)
    rows = random.normal(size=(len(waiting), DIMENSION)).astype(np.float32)
    store.put_vectors([id_ for id_, _ in waiting], rows / np.linalg.norm(rows, axis=1, keepdims=True))
    for globs in (("3/**",), ("!3/**",), ("3/**", "7/**")):
        wanted = Filter(globs=globs)
        named = store.nearest(vector("text number"), wanted, 5)
        with monkeypatch.context() as patch:
            patch.setattr(search, "_NAMED", 0)
            assert store.nearest(vector("text number"), wanted, 5) == named
        assert len(named) == 5


def test_the_index_over_vectors_finds_what_comparing_with_each_finds(
    store: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(5)
    middles = random.normal(size=(20, DIMENSION))
    rows = (middles[random.integers(0, 20, 1500)] + 0.5 * random.normal(size=(1500, DIMENSION))).astype(
        np.float32
    )
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    store.write(FOLDER, [indexed(f"{n}.md", f"text number {n}") for n in range(1500)], seen_ns=1)
    store.put_vectors([id_ for id_, _ in store.pending(2000)], rows)
    questions = rows[::150]
    exact = [{id_ for id_, _ in store.nearest(row, EVERYTHING, 20)} for row in questions]
    monkeypatch.setattr(upkeep, "VECTOR_INDEX_ROWS", 1000)
    store.tidy()
    indexed_by = {name for index in store._vectors.list_indices() for name in index.columns}
    assert "vector" in indexed_by
    found = [{id_ for id_, _ in store.nearest(row, EVERYTHING, 20)} for row in questions]
    recall = sum(len(a & b) for a, b in zip(exact, found, strict=True)) / (20 * len(exact))
    assert recall >= 0.95
    # What comes after the index was made is searched beside it.
    store.write(FOLDER, [indexed("new.md", "entirely new words")], seen_ns=2)
    embed(store)
    assert (
        store.passages([store.nearest(vector("entirely new words"), EVERYTHING, 1)[0][0]]).popitem()[1].path
        == "new.md"
    )


def test_a_process_killed_while_it_made_the_index_left_none(store: LanceStore, place: str) -> None:
    store._db.drop_table("meta")
    with pytest.raises(NoIndex):
        LanceStore(place, create=False)
    again = LanceStore(place, create=True)
    again.write(FOLDER, [indexed("a.md", "zebra")], seen_ns=1)
    assert again.check() == ""


def test_a_newer_release_of_lancedb_is_not_written_after(store: LanceStore, place: str) -> None:
    store.set_meta("lancedb", "99.0.0")
    with pytest.raises(IndexTooNew, match="upgrade"):
        LanceStore(place, create=False)


def test_a_table_that_cannot_be_read_is_told_of(store: LanceStore, place: str) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra")], seen_ns=1)
    for data in (Path(place) / "entries.lance" / "data").iterdir():
        data.write_bytes(b"")
    assert LanceStore(place, create=False).check() != ""
    for manifest in (Path(place) / "entries.lance" / "_versions").iterdir():
        manifest.write_bytes(b"")
    with pytest.raises(IndexDamaged, match="damaged"):
        LanceStore(place, create=False)


def test_text_that_changed_on_disk_is_damage(store: LanceStore) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra")], seen_ns=1)
    store._entries.update(where="path = 'a.md'", values={"text": b"no longer packed"})
    assert "damaged" in store.check()


def test_a_fault_of_the_library_itself_is_told_as_one_of_the_index(place: str) -> None:
    """What it raises then is no `Exception`."""
    panic = type("PanicException", (BaseException,), {})
    with pytest.raises(IndexDamaged, match=r"damaged \(index out of bounds\)"), translated(place):
        raise panic("index out of bounds")
    with pytest.raises(KeyboardInterrupt), translated(place):
        raise KeyboardInterrupt


def test_what_somebody_reads_stays_and_what_nobody_reads_goes_at_once(store: LanceStore, place: str) -> None:
    def versions() -> int:
        return len(list(Path(place).glob(f"{ENTRIES}.lance/_versions/*")))

    def change(n: int) -> None:
        for time in range(20):
            store.write(FOLDER, [indexed("a.md", f"zebra {n} {time}")], seen_ns=n)
        store.tidy()

    assert store.retention > timedelta(seconds=10)
    change(1)
    assert versions() < 5
    reading = LanceStore(place, create=False)
    with reading.snapshot():
        before = scored(reading, ["zebra"])
        change(2)
        assert versions() > 20
        assert scored(reading, ["zebra"]) == before
        assert [p.chunk.text for p in reading.passages_of(FOLDER, "a.md")] == ["zebra 1 19"]
    change(3)
    assert versions() < 5
    assert [p.chunk.text for p in reading.passages_of(FOLDER, "a.md")] == ["zebra 3 19"]


def test_a_small_table_is_in_few_pieces(store: LanceStore) -> None:
    store.write(FOLDER, [indexed(f"{n}.md", f"zebra {n}") for n in range(50)], seen_ns=1)
    store.tidy()
    most = 0
    for n in range(40):
        store.write(FOLDER, [indexed(f"{n}.md", f"zebra {n} again")], seen_ns=2)
        store.tidy()
        most = max(most, pieces(store))
    assert 2 < most <= 8
