"""What every store must do, whatever it is made of."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import FOLDER, indexed, source, vector, vectors

from semantic_search.errors import IndexDamaged, IndexOutdated, IndexTooNew, QueryError, StoreError
from semantic_search.stores import STORES, Filter, Store, open_store
from semantic_search.stores.copying import copy_index
from semantic_search.types import Skip, Skipped

EVERYTHING = Filter()


@pytest.fixture(params=sorted(STORES))
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "index-test.store")


@pytest.fixture
def store(backend: str, place: str) -> Iterator[Store]:
    opened = open_store(backend, place, create=True)
    yield opened
    opened.close()


@pytest.fixture
def another(backend: str, place: str, store: Store) -> Iterator[Callable[[], Store]]:
    """Opens the same index once more, as another process would."""
    opened: list[Store] = []

    def reopen() -> Store:
        opened.append(open_store(backend, place))
        return opened[-1]

    yield reopen
    for each in opened:
        each.close()


def paths_of(store: Store, found: list[tuple[int, float]]) -> list[str]:
    passages = store.passages([id_ for id_, _ in found])
    return [passages[id_].path for id_, _ in found]


def files_of(place: str) -> list[Path]:
    """Every file of an index: its own, those beside it, and those in it where it is a directory."""
    beside = list(Path(place).parent.glob(Path(place).name + "*"))
    inside = [file for directory in beside if directory.is_dir() for file in directory.rglob("*")]
    return [path for path in beside + inside if path.is_file()]


def embed_all(store: Store) -> list[str]:
    waiting = store.pending(1000)
    if waiting:
        store.put_vectors([id_ for id_, _ in waiting], vectors([text for _, text in waiting]))
    return [text for _, text in waiting]


def test_a_written_file_is_known_and_found(store: Store) -> None:
    item = indexed("a.md", "the cat sat on the mat", "dogs bark at night")
    store.write(FOLDER, [item], seen_ns=5)
    known = store.known(FOLDER)["a.md"]
    assert known.stamp == item.document.source.stamp
    assert (known.seen_ns, known.sha256, known.reason, known.chunks) == (5, item.document.sha256, None, 2)
    found = store.match(["dog"], EVERYTHING, 10)
    passage = store.passages([found[0][0]])[found[0][0]]
    assert passage.chunk == item.chunks[1]
    assert (passage.folder, passage.path, passage.language) == (FOLDER, "a.md", "markdown")


def test_the_document_comes_back_whole(store: Store) -> None:
    item = indexed("a.md", "Перший рядок", "second — line", "第三行")
    store.write(FOLDER, [item], seen_ns=5)
    stored = store.document(FOLDER, "a.md")
    assert stored is not None
    assert (stored.text, stored.sha256, stored.language) == (
        item.document.text,
        item.document.sha256,
        "markdown",
    )
    assert store.document(FOLDER, "b.md") is None


def test_best_match_comes_first_and_scores_fall(store: Store) -> None:
    store.write(
        FOLDER,
        [
            indexed("one.md", "retry retry retry with backoff"),
            indexed("two.md", "the word retry among many other words about quite different things here"),
            indexed("three.md", "nothing of it"),
        ],
        seen_ns=1,
    )
    found = store.match(["retri", "retry"], EVERYTHING, 10)
    assert paths_of(store, found) == ["one.md", "two.md"]
    assert found[0][1] > found[1][1] > 0


def test_words_of_the_path_count(store: Store) -> None:
    store.write(
        FOLDER, [indexed("billing/invoice.md", "some text"), indexed("b.md", "other text")], seen_ns=1
    )
    assert paths_of(store, store.match(["billing", "bill"], EVERYTHING, 10)) == ["billing/invoice.md"]


def test_replacing_a_file_leaves_nothing_of_the_old(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra stripes", "second zebra")], seen_ns=1)
    store.write(FOLDER, [indexed("a.md", "horses only")], seen_ns=2)
    assert store.match(["zebra"], EVERYTHING, 10) == []
    assert len(store.match(["hors"], EVERYTHING, 10)) == 1
    assert store.check() == ""


@pytest.mark.parametrize("reason", [Skip.TOO_LARGE, Skip.BINARY, Skip.EMPTY])
def test_content_02_a_file_that_is_skipped_now_loses_its_passages(store: Store, reason: Skip) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra stripes")], seen_ns=1)
    store.write(FOLDER, skipped=[Skipped(source("a.md"), reason, "why")], seen_ns=2)
    assert store.match(["zebra"], EVERYTHING, 10) == []
    assert store.document(FOLDER, "a.md") is None
    assert store.known(FOLDER)["a.md"].reason is reason
    assert [(s.path, s.reason, s.detail) for s in store.skipped()] == [("a.md", reason, "why")]


def test_content_02_a_passing_cause_keeps_the_passages(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra stripes")], seen_ns=1)
    store.write(FOLDER, skipped=[Skipped(source("a.md"), Skip.UNREADABLE)], seen_ns=2, keep_passages=True)
    assert paths_of(store, store.match(["zebra"], EVERYTHING, 10)) == ["a.md"]
    assert store.known(FOLDER)["a.md"].reason is Skip.UNREADABLE


def test_touching_renews_the_stamp_alone(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra")], seen_ns=1)
    embed_all(store)
    store.write(FOLDER, touched=[source("a.md", mtime_ns=99)], seen_ns=7)
    known = store.known(FOLDER)["a.md"]
    assert (known.stamp, known.seen_ns) == (source("a.md", mtime_ns=99).stamp, 7)
    assert store.pending_count() == 0


def test_forgetting_removes_only_the_named(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra one"), indexed("b.md", "zebra two")], seen_ns=1)
    store.forget(FOLDER, ["a.md", "never-there.md"])
    assert paths_of(store, store.match(["zebra"], EVERYTHING, 10)) == ["b.md"]
    assert store.check() == ""


HARD_NAMES = [
    "o'brien.md",
    "''q''.md",
    "' OR 1=1 --",
    "percent%_.md",
    "tab\there.md",
    "line\nend.md",
    "🦓.md",
    "x" * 4000,
    b"bad\xff.txt".decode("utf-8", "surrogateescape"),
    'quote".md',
    "back\\slash.md",
    "-rf",
    "; DROP TABLE files",
]


@pytest.mark.parametrize("path", HARD_NAMES)
def test_filenames_10_any_name_is_kept_and_forgotten_alone(store: Store, path: str) -> None:
    store.write(FOLDER, [indexed(path, "zebra one"), indexed("other.md", "zebra two")], seen_ns=1)
    assert set(store.known(FOLDER)) == {path, "other.md"}
    assert set(paths_of(store, store.match(["zebra"], EVERYTHING, 10))) == {path, "other.md"}
    store.forget(FOLDER, [path])
    assert set(store.known(FOLDER)) == {"other.md"}


@pytest.mark.parametrize(
    "terms",
    [
        ['"user', 'session"'],
        ["a*"],
        ["(", ")"],
        ["NEAR(a"],
        ["col:x"],
        ["-x"],
        ["^y"],
        ["AND"],
        ["OR", "NOT"],
        ["'"],
    ],
)
def test_fts_query_03_no_query_syntax_reaches_the_store(store: Store, terms: list[str]) -> None:
    store.write(FOLDER, [indexed("a.md", "abc xyz")], seen_ns=1)
    assert store.match(terms, EVERYTHING, 10) == []


def test_fts_query_05_a_very_long_query_is_answered(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "needle in the hay")], seen_ns=1)
    terms = [f"word{n}" for n in range(5000)] + ["needl"]
    assert paths_of(store, store.match(terms, EVERYTHING, 10)) == ["a.md"]


def test_no_terms_match_nothing(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "abc")], seen_ns=1)
    assert store.match([], EVERYTHING, 10) == []


def test_terms_of_any_script_match_whole(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "Зберігання обʼєктів"), indexed("b.md", "東京都")], seen_ns=1)
    assert paths_of(store, store.match(["東京"], EVERYTHING, 10)) == ["b.md"]
    assert store.match(["берігання"], EVERYTHING, 10) == []


def test_vectors_are_asked_for_once_for_equal_text(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "same text"), indexed("b.md", "same text", "other")], seen_ns=1)
    assert sorted(embed_all(store)) == ["other", "same text"]
    assert store.pending_count() == 0
    nearest = store.nearest(vector("same text"), EVERYTHING, 10)
    assert sorted(paths_of(store, nearest[:2])) == ["a.md", "b.md"]
    assert nearest[0][1] == pytest.approx(1.0, abs=0.01)


def test_what_waits_can_be_asked_for_of_some_files_alone(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "shared", "of a"), indexed("b/c.md", "shared", "of c")], seen_ns=1)
    store.write("/other", [indexed("d.md", "shared", "of d", folder="/other")], seen_ns=1)
    for wanted, texts in (
        (Filter(), {"shared", "of a", "of c", "of d"}),
        (Filter(scopes=((FOLDER, ""),)), {"shared", "of a", "of c"}),
        (Filter(scopes=((FOLDER, "b"),)), {"shared", "of c"}),
        (Filter(scopes=(("/other", ""),)), {"shared", "of d"}),
        (Filter(globs=("*.rst",)), set()),
    ):
        waiting = store.pending(10, wanted)
        assert ({text for _, text in waiting}, len(waiting)) == (texts, len(texts))
        assert store.pending_count(wanted) == len(texts)
    other = Filter(scopes=(("/other", ""),))
    assert len(store.pending(1, other)) == 1
    waiting = store.pending(10, other)
    store.put_vectors([id_ for id_, _ in waiting], vectors([text for _, text in waiting]))
    assert store.pending(10, other) == []
    assert (store.pending_count(other), store.pending_count()) == (0, 2)


def test_a_moved_file_needs_no_vector(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra stripes")], seen_ns=1)
    embed_all(store)
    store.write(FOLDER, [indexed("moved/b.md", "zebra stripes")], seen_ns=2)
    store.forget(FOLDER, ["a.md"])
    store.tidy()
    assert store.pending_count() == 0
    assert paths_of(store, store.nearest(vector("zebra"), EVERYTHING, 5)) == ["moved/b.md"]


def test_text_that_came_back_needs_no_vector(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "on the branch")], seen_ns=1)
    embed_all(store)
    store.write(FOLDER, [indexed("a.md", "on main")], seen_ns=2)
    embed_all(store)
    store.tidy()
    store.write(FOLDER, [indexed("a.md", "on the branch")], seen_ns=3)
    assert store.pending_count() == 0


def test_nearest_agrees_with_arithmetic(store: Store) -> None:
    random = np.random.default_rng(1)
    rows = random.normal(size=(300, 64)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    store.write(FOLDER, [indexed(f"{n}.md", f"text number {n}") for n in range(300)], seen_ns=1)
    waiting = store.pending(1000)
    store.put_vectors([id_ for id_, _ in waiting], rows)
    by_path = {f"{text.split()[-1]}.md": row for (_, text), row in zip(waiting, rows, strict=True)}
    query = rows[17]
    exact = sorted(by_path, key=lambda path: -float(by_path[path] @ query))[:10]
    found = store.nearest(query, EVERYTHING, 10)
    assert paths_of(store, found)[:1] == exact[:1]
    assert len(set(paths_of(store, found)) & set(exact)) >= 9
    for path, (_, score) in zip(paths_of(store, found), found, strict=True):
        assert score == pytest.approx(float(by_path[path] @ query), abs=0.01)


def test_asking_for_more_than_there_is(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra")], seen_ns=1)
    assert store.nearest(vector("zebra"), EVERYTHING, 10**9) == []
    embed_all(store)
    assert len(store.nearest(vector("zebra"), EVERYTHING, 10**9)) == 1
    assert len(store.match(["zebra"], EVERYTHING, 10**9)) == 1


OTHER = "/somewhere/notes-private"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(scopes=((FOLDER, ""),)), {"a.md", "src/b.py", "src/deep/c.py", "source/d.py"}),
        (Filter(scopes=((OTHER, ""),)), {"e.md"}),
        (Filter(scopes=((FOLDER, "src"),)), {"src/b.py", "src/deep/c.py"}),
        (Filter(scopes=((FOLDER, "src/b.py"),)), {"src/b.py"}),
        (Filter(globs=("*.py",)), {"src/b.py", "src/deep/c.py", "source/d.py"}),
        (Filter(globs=("src/*.py",)), {"src/b.py"}),
        (Filter(globs=("src/**", "!deep/")), {"src/b.py"}),
        (Filter(globs=("*.MD",)), set()),
        (Filter(languages=("python",)), {"src/b.py", "src/deep/c.py", "source/d.py"}),
        (Filter(scopes=((FOLDER, "src"),), languages=("markdown",)), set()),
        (Filter(tags=("herbs",)), {"a.md", "e.md"}),
        (Filter(tags=("herbs/mint", "none")), {"e.md"}),
        (Filter(scopes=((FOLDER, ""),), tags=("herb",)), set()),
    ],
)
def test_filters_hold_in_both_arms(store: Store, wanted: Filter, expected: set[str]) -> None:
    for path in ("src/b.py", "src/deep/c.py", "source/d.py"):
        store.write(FOLDER, [indexed(path, f"zebra {path}", language="python")], seen_ns=1)
    store.write(FOLDER, [indexed("a.md", "zebra", tags=("stripes", "herbs"))], seen_ns=1)
    store.write(OTHER, [indexed("e.md", "zebra", folder=OTHER, tags=("herbs/mint",))], seen_ns=1)
    embed_all(store)
    assert set(paths_of(store, store.match(["zebra"], wanted, 10))) == expected
    assert set(paths_of(store, store.nearest(vector("zebra"), wanted, 10))) == expected


def test_a_filter_is_applied_before_the_best_are_taken(store: Store) -> None:
    store.write(FOLDER, [indexed(f"{n}.md", f"zebra zebra zebra {n}") for n in range(50)], seen_ns=1)
    store.write(
        FOLDER, [indexed("z.py", "a zebra in a long text of other words", language="python")], seen_ns=1
    )
    embed_all(store)
    wanted = Filter(languages=("python",))
    assert paths_of(store, store.match(["zebra"], wanted, 3)) == ["z.py"]
    assert paths_of(store, store.nearest(vector("zebra"), wanted, 3)) == ["z.py"]


def test_a_glob_that_cannot_be_read_is_a_clear_error(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra")], seen_ns=1)
    with pytest.raises(QueryError, match="glob"):
        store.match(["zebra"], Filter(globs=("!!",)), 3)


def test_roots_01_folders_are_compared_whole(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra")], seen_ns=1)
    store.write(OTHER, [indexed("a.md", "zebra", folder=OTHER)], seen_ns=1)
    store.remove_folder(FOLDER)
    assert store.folders() == [OTHER]
    assert [
        p.folder for p in store.passages([i for i, _ in store.match(["zebra"], EVERYTHING, 9)]).values()
    ] == [OTHER]
    assert store.check() == ""


def test_roots_06_equal_files_in_two_folders_are_two_files(store: Store) -> None:
    store.write(FOLDER, [indexed("LICENSE", "zebra licence")], seen_ns=1)
    store.write(OTHER, [indexed("LICENSE", "zebra licence", folder=OTHER)], seen_ns=1)
    embed_all(store)
    store.forget(FOLDER, ["LICENSE"])
    store.tidy()
    assert [
        p.folder
        for p in store.passages([i for i, _ in store.nearest(vector("zebra"), EVERYTHING, 9)]).values()
    ] == [OTHER]


def test_files_handed_to_the_folder_around_keep_their_passages(store: Store) -> None:
    inner = f"{FOLDER}/inner"
    store.write(inner, [indexed("a.md", "zebra", folder=inner)], seen_ns=1)
    store.write(FOLDER, [indexed("inner/a.md", "an older copy"), indexed("b.md", "zebra b")], seen_ns=1)
    embed_all(store)
    store.move_files(inner, FOLDER, "inner/")
    assert set(paths_of(store, store.match(["zebra"], EVERYTHING, 9))) == {"inner/a.md", "b.md"}
    assert store.match(["older"], EVERYTHING, 9) == []
    assert store.folders() == [FOLDER]
    assert store.pending_count() == 0
    assert store.check() == ""


def test_removing_a_folder_leaves_nothing_on_disk(store: Store, place: str) -> None:
    secret = "correcthorsebatterystaple"
    item = indexed("a.md", f"{secret} zebra")
    store.write(FOLDER, [item], seen_ns=1)
    embed_all(store)
    store.remove_folder(FOLDER)
    store.close()
    left = b"".join(path.read_bytes() for path in files_of(place))
    assert secret.encode() not in left
    assert item.keys[0] not in left


def test_counts_add_up(store: Store) -> None:
    store.write(FOLDER, [indexed("a.md", "one", "two"), indexed("b.md", "three")], seen_ns=1)
    store.write(
        FOLDER, skipped=[Skipped(source("c.png"), Skip.BINARY), Skipped(source("d"), Skip.EMPTY)], seen_ns=1
    )
    store.record_run(FOLDER, "2026-01-01T00:00:00+00:00")
    (counts,) = store.counts()
    assert (counts.path, counts.files, counts.chunks, counts.pending) == (FOLDER, 2, 3, 3)
    assert counts.skipped == {"binary": 1, "empty": 1}
    assert counts.last_run == "2026-01-01T00:00:00+00:00"


def test_another_process_sees_what_was_written(store: Store, another: Callable[[], Store]) -> None:
    reader = another()
    assert reader.match(["zebra"], EVERYTHING, 5) == []
    store.write(FOLDER, [indexed("a.md", "zebra")], seen_ns=1)
    assert len(reader.match(["zebra"], EVERYTHING, 5)) == 1
    assert reader.nearest(vector("zebra"), EVERYTHING, 5) == []
    embed_all(store)
    assert paths_of(reader, reader.nearest(vector("zebra"), EVERYTHING, 5)) == ["a.md"]
    store.write(FOLDER, [indexed("a.md", "zebra and more")], seen_ns=1)
    embed_all(store)
    assert len(reader.nearest(vector("zebra"), EVERYTHING, 5)) == 1


def test_a_snapshot_does_not_change_under_its_reader(store: Store, another: Callable[[], Store]) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra")], seen_ns=1)
    reader = another()
    with reader.snapshot():
        before = reader.match(["zebra"], EVERYTHING, 5)
        store.write(FOLDER, [indexed("a.md", "horses")], seen_ns=2)
        assert reader.match(["zebra"], EVERYTHING, 5) == before
        assert reader.passages([before[0][0]])[before[0][0]].chunk.text == "zebra"
    assert reader.match(["zebra"], EVERYTHING, 5) == []


def test_a_batch_that_fails_leaves_nothing(store: Store) -> None:
    good, bad = indexed("a.md", "zebra"), indexed("b.md", "zebra")
    broken = type(bad)(bad.document, bad.chunks, (), bad.context, bad.scripts, bad.keys, bad.path_terms)
    with pytest.raises(ValueError, match="zip"):
        store.write(FOLDER, [good, broken], seen_ns=1)
    assert store.known(FOLDER) == {}
    assert store.match(["zebra"], EVERYTHING, 5) == []
    store.write(FOLDER, [good], seen_ns=1)
    assert store.check() == ""


_KILLED = """
import os, signal, sys
sys.path[:0] = {paths!r}
from builders import FOLDER, indexed, vectors
from semantic_search.stores import open_store
store = open_store({backend!r}, {place!r}, create=True)
print("ready", flush=True)
n = 0
while True:
    store.write(FOLDER, [indexed(f"{{n % 20}}.md", f"zebra {{n}}", f"second {{n}}")], seen_ns=1)
    waiting = store.pending(10)
    store.put_vectors([i for i, _ in waiting], vectors([t for _, t in waiting]))
    print(n, flush=True)
    n += 1
"""


@pytest.mark.parametrize("writes", [1, 7, 25])
def test_crash_04_a_killed_writer_loses_nothing_it_reported(backend: str, place: str, writes: int) -> None:
    script = _KILLED.format(paths=[str(Path(__file__).parents[1]), *sys.path], backend=backend, place=place)
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    last = -1
    for line in child.stdout:
        if line.strip().isdigit():
            last = int(line)
            if last >= writes:
                child.kill()
                break
    rest = [int(line) for line in child.stdout if line.strip().isdigit()]
    child.wait()
    child.stdout.close()
    last = max([last, *rest])
    store = open_store(backend, place)
    try:
        assert store.check() == ""
        known = store.known(FOLDER)
        assert {f"{n % 20}.md" for n in range(max(0, last - 19), last + 1)} <= set(known)
        assert all(row.chunks == 2 for row in known.values())
        assert len(store.match(["zebra"], EVERYTHING, 100)) == len(known)
    finally:
        store.close()


def test_a_file_that_is_no_index_is_a_clear_error(backend: str, tmp_path: Path) -> None:
    place = tmp_path / "index.store"
    place.write_bytes(b"this is not an index" * 1000)
    with pytest.raises(IndexDamaged, match="damaged"):
        open_store(backend, str(place))


def test_a_missing_index_is_not_made_by_reading(backend: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        open_store(backend, str(tmp_path / "none.store"))
    assert list(tmp_path.iterdir()) == []


def test_an_index_of_a_newer_version_is_refused(backend: str, place: str) -> None:
    store = open_store(backend, place, create=True)
    store.set_meta("schema", "999")
    store.close()
    with pytest.raises(IndexTooNew, match="newer version"):
        open_store(backend, place)


def test_store_07_store_11_a_file_rewritten_again_and_again_does_not_grow_the_index(
    store: Store, place: str
) -> None:
    def size() -> int:
        return sum(path.stat().st_size for path in files_of(place))

    if hasattr(store, "retention"):  # old versions stay that long for searches that are still reading them
        store.retention = timedelta(0)
    text = " ".join(f"word{n}" for n in range(300))
    store.write(FOLDER, [indexed("a.md", text)], seen_ns=1)
    embed_all(store)
    store.tidy()
    fresh = size()
    for n in range(200):
        store.write(FOLDER, [indexed("a.md", f"{text} {n}")], seen_ns=1)
        embed_all(store)
    store.tidy()
    assert size() <= 3 * fresh + 200 * 500


def test_the_script_of_the_question_is_no_advantage(store: Store) -> None:
    """As multilingual models have it: every text is near to each of its own script, far from the others."""
    random = np.random.default_rng(3)
    topics = random.normal(size=(40, 64)) * 0.2
    latin, cyrillic = random.normal(size=(2, 64)) * 0.3
    store.write(FOLDER, [indexed(f"en/{n}.md", f"text {n}") for n in range(40)], seen_ns=1)
    store.write(FOLDER, [indexed(f"uk/{n}.md", f"текст {n}") for n in range(20)], seen_ns=1)
    waiting = store.pending(1000)
    rows = []
    for _, text in waiting:
        word, number = text.split()
        rows.append(topics[int(number)] + (latin if word == "text" else cyrillic))
    unit = np.stack(rows) / np.linalg.norm(rows, axis=1, keepdims=True)
    store.put_vectors([id_ for id_, _ in waiting], unit.astype(np.float32))
    question = topics[30] + cyrillic
    found = store.nearest((question / np.linalg.norm(question)).astype(np.float32), EVERYTHING, 3)
    assert "en/30.md" in paths_of(store, found)


def test_the_only_passage_in_its_script_can_be_found(store: Store) -> None:
    store.write(FOLDER, [indexed(f"{n}.md", f"plain english words {n}") for n in range(30)], seen_ns=1)
    store.write(FOLDER, [indexed("one.md", "єдина нотатка")], seen_ns=1)
    embed_all(store)
    assert paths_of(store, store.nearest(vector("єдина нотатка"), EVERYTHING, 1)) == ["one.md"]


def test_whole_files_are_matched_by_all_their_passages(store: Store) -> None:
    spread = indexed("spread.md", "zebra in one", "stripes in two", "savanna in three")
    store.write(FOLDER, [spread, indexed("once.md", "zebra here"), indexed("none.md", "horses")], seen_ns=1)
    found = store.match_files(["zebra", "stripe", "savanna"], EVERYTHING, 10)
    assert [key for key, _ in found] == [(FOLDER, "spread.md"), (FOLDER, "once.md")]
    assert store.match_files(["zebra"], Filter(globs=("once*",)), 10)[0][0] == (FOLDER, "once.md")
    store.write(FOLDER, [indexed("spread.md", "nothing of it")], seen_ns=2)
    assert [key for key, _ in store.match_files(["stripe", "savanna"], EVERYTHING, 10)] == []
    assert store.check() == ""


def test_terms_are_counted_by_passages(store: Store) -> None:
    store.write(
        FOLDER, [indexed("a.md", "zebra zebra", "zebra and horse"), indexed("b.md", "dog")], seen_ns=1
    )
    assert store.frequencies(["zebra", "dog", "never", "zebra"]) == {"zebra": 2, "dog": 1, "never": 0}
    assert store.passage_count() == 3
    store.forget(FOLDER, ["a.md"])
    assert store.passage_count() == 1


def test_the_symbols_of_files(store: Store) -> None:
    item = indexed("a.py", "def one(): ...", "class Two: ...", language="python")
    named = tuple(
        replace(chunk, symbol=name) for chunk, name in zip(item.chunks, ("one", "Two"), strict=True)
    )
    store.write(FOLDER, [replace(item, chunks=named), indexed("b.md", "text")], seen_ns=1)
    assert store.symbols([(FOLDER, "a.py"), (FOLDER, "b.md"), (FOLDER, "none")]) == {
        (FOLDER, "a.py"): ["one", "Two"],
        (FOLDER, "b.md"): [],
        (FOLDER, "none"): [],
    }


def test_r18_an_index_of_an_older_version_gives_its_folders_and_vectors_only(
    backend: str, place: str, tmp_path: Path
) -> None:
    old = open_store(backend, place, create=True)
    old.write(FOLDER, [indexed("a.md", "zebra stripes")], seen_ns=1)
    embed_all(old)
    old.set_meta("schema", "1")
    old.close()
    with pytest.raises(IndexOutdated, match="older version"):
        open_store(backend, place)
    old = open_store(backend, place, any_version=True)
    assert old.folders() == [FOLDER]
    old.close()
    new = open_store(backend, str(tmp_path / "new.store"), create=True)
    new.adopt_vectors(place)
    new.write(FOLDER, [indexed("a.md", "zebra stripes")], seen_ns=1)
    assert new.pending_count() == 0
    new.close()


def fill(store: Store) -> list[Any]:
    """Files of every kind, vectors and a folder beside; returns the contents of the first folder."""
    item = indexed("a.py", "def one(): ...", "клас Два", language="python")
    named = tuple(
        replace(chunk, symbol=name, kind="function")
        for chunk, name in zip(item.chunks, ("one", ""), strict=True)
    )
    noted = replace(item.document, notes=("one page has no text",), pages=(0, 5))
    store.write(
        FOLDER, [replace(item, document=noted, chunks=named), indexed(HARD_NAMES[8], "zebra")], seen_ns=5
    )
    store.write(
        FOLDER,
        [indexed("kept.md", "zebra kept", tags=("kept", "a/b"))],
        [Skipped(source("b.png"), Skip.BINARY, "why")],
        seen_ns=6,
    )
    store.write(
        FOLDER, skipped=[Skipped(source("kept.md"), Skip.UNREADABLE, "now")], seen_ns=7, keep_passages=True
    )
    store.write(OTHER, [indexed("e.md", "zebra", folder=OTHER)], seen_ns=1)
    embed_all(store)
    store.write(FOLDER, [indexed("late.md", "waits for a vector")], seen_ns=8)
    store.record_run(FOLDER, "2026-01-01T00:00:00+00:00")
    return contents_of(store, FOLDER)


def contents_of(store: Store, folder: str) -> list[Any]:
    with store.snapshot():
        return sorted(store.contents(folder), key=lambda kept: kept.source.path)


@pytest.mark.parametrize("other", sorted(STORES))
def test_a_copy_in_any_store_is_equal(store: Store, other: str, tmp_path: Path) -> None:
    before = fill(store)
    assert len(before) == 5
    target = open_store(other, str(tmp_path / "copy.store"), create=True)
    target.write("/elsewhere", [indexed("gone.md", "zebra gone", folder="/elsewhere")], seen_ns=1)
    copied = copy_index(store, target, {FOLDER: "/elsewhere", OTHER: OTHER})
    assert (copied.files, copied.chunks, copied.vectors) == (5, 6, 4)
    after = contents_of(target, "/elsewhere")
    for old, new in zip(before, after, strict=True):
        assert new.source == replace(old.source, folder="/elsewhere")
        assert new.skipped == (replace(old.skipped, source=new.source) if old.skipped else None)
        if old.indexed is None:
            assert new.indexed is None
        else:
            notes = new.indexed.document.notes
            document = replace(old.indexed.document, source=new.source, notes=notes)
            assert new.indexed == replace(old.indexed, document=document)
    assert after[0].indexed.document.notes == ("one page has no text",)
    assert [text for _, text in target.pending(10)] == ["waits for a vector"]
    assert target.match(["gone"], EVERYTHING, 5) == []
    assert {(c.path, c.files, c.last_run) for c in target.counts()} == {
        ("/elsewhere", 4, "2026-01-01T00:00:00+00:00"),
        (OTHER, 1, ""),
    }
    for query in ("zebra kept", "клас два"):
        expected = near(store, query)
        for path, score in near(target, query):
            # What a script has in advance is a mean over passages in one store, over texts in the other.
            assert any(path == other and score == pytest.approx(its, abs=0.03) for other, its in expected)
    assert target.check() == ""
    target.close()


def near(store: Store, query: str) -> list[tuple[str, float]]:
    found = store.nearest(vector(query), EVERYTHING, 10)
    return list(zip(paths_of(store, found), [score for _, score in found], strict=True))


_READER = """
import sys
sys.path[:0] = {paths!r}
from builders import FOLDER
from semantic_search.stores import Filter, open_store
store = open_store({backend!r}, {place!r})
print("ready", flush=True)
rounds = seen = 0
while seen < {last}:
    with store.snapshot():
        found = store.passages([id_ for id_, _ in store.match(["zebra"], Filter(), 100)])
        known = store.known(FOLDER)
    texts = {{}}
    for passage in found.values():
        texts.setdefault(passage.path, set()).add(passage.chunk.text.split()[-1])
    assert len(found) == 8 and set(texts) == set(known), (found, known)
    generations = {{generation for found in texts.values() for generation in found}}
    assert len(generations) == 1, generations
    assert int(*generations) >= seen, (generations, seen)
    seen = int(*generations)
    rounds += 1
print(rounds)
"""


def test_two_readers_beside_a_writer_see_whole_batches_in_their_order(backend: str, place: str) -> None:
    last = 30

    def generation(n: int) -> list[Any]:
        return [indexed(f"{k}.md", f"zebra {k} {n}", f"second zebra {k} {n}") for k in range(4)]

    store = open_store(backend, place, create=True)
    store.write(FOLDER, generation(0), seen_ns=1)
    paths = [str(Path(__file__).parents[1]), *sys.path]
    script = _READER.format(paths=paths, backend=backend, place=place, last=last)
    pipe = subprocess.PIPE
    readers = [
        subprocess.Popen([sys.executable, "-c", script], stdout=pipe, stderr=pipe, text=True)
        for _ in range(2)
    ]
    for reader in readers:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
    for n in range(1, last + 1):
        store.write(FOLDER, generation(n), seen_ns=n)
        if n % 10 == 0:
            store.tidy()
    for reader in readers:
        told, trouble = reader.communicate()
        assert reader.returncode == 0, trouble
        assert int(told) >= 1
    assert store.check() == ""
    store.close()
