"""The LanceDB store: cases that it, or tools on it, got wrong, by their ids."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from builders import FOLDER, indexed, vector, vectors, write_tree
from command_line import Command, index_directory
from counts import repeated
from fakes import configure, open_words
from mcp_agents import NO_MODEL, Wire

from semantic_search.corpus import Corpus
from semantic_search.errors import IndexBusy, IndexDamaged, SemanticSearchError, StoreError
from semantic_search.stores import Filter, Store, open_store
from semantic_search.stores.lance.store import LanceStore
from semantic_search.tools.index import Request, index
from semantic_search.tools.search import Question, search

EVERYTHING = Filter()
WORDS = [
    "walnut",
    "meadow",
    "harbour",
    "ledger",
    "gateway",
    "violin",
    "lantern",
    "copper",
    "quokka",
    "seedling",
]


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "index-x.lancedb")


@pytest.fixture
def store(place: str) -> LanceStore:
    found = LanceStore(place, create=True)
    found.retention = timedelta(0)
    return found


def embed(store: Store) -> None:
    waiting = store.pending(10_000)
    store.put_vectors([id_ for id_, _ in waiting], vectors([text for _, text in waiting]))


def paths_of(store: Store, terms: list[str], k: int = 10_000) -> list[str]:
    found = store.match(terms, EVERYTHING, k)
    passages = store.passages([id_ for id_, _ in found])
    return [passages[id_].path for id_, _ in found]


def bytes_in(place: str | Path) -> int:
    return sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())


def texts(count: int, seed: int = 3) -> list[str]:
    """Texts of 3 to 60 words, some words much commoner than others."""
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, weights=range(1, 11), k=draw.randint(3, 60))) for _ in range(count)]


def test_concurrency_06_a_stale_handle_compacts_what_is_there_now(store: LanceStore, place: str) -> None:
    other = LanceStore(place, create=False)
    for n in range(30):
        other.write(FOLDER, [indexed(f"{n}.md", f"zebra {n}")], seen_ns=1)
    store._optimize(store._entries, timedelta(0))
    pieces = store._entries.stats()["fragment_stats"]["num_fragments"]
    assert pieces <= 2
    assert len(paths_of(store, ["zebra"])) == 30
    assert len(paths_of(other, ["zebra"])) == 30


def test_concurrency_06_compacting_beside_a_writer_is_no_error(store: LanceStore, place: str) -> None:
    over = threading.Event()
    trouble: list[BaseException] = []

    def compact() -> None:
        other = LanceStore(place, create=False)
        try:
            while not over.is_set():
                other._optimize(other._entries, timedelta(minutes=1))
        except BaseException as error:
            trouble.append(error)

    thread = threading.Thread(target=compact)
    thread.start()
    try:
        for n in range(25):
            store.write(FOLDER, [indexed(f"{n % 10}.md", f"zebra {n}")], seen_ns=n)
    finally:
        over.set()
        thread.join()
    assert trouble == []
    assert len(paths_of(store, ["zebra"])) == 10
    assert store.check() == ""


_COMPACT = """
import random, sys
from datetime import timedelta
from functools import partial
from semantic_search.stores.lance.store import LanceStore
store = LanceStore(sys.argv[1], create=False)
store.retention = timedelta(0)
print("ready", flush=True)
while True:
    store.write({folder!r}, touched=[], seen_ns=1)
    store._optimize(store._entries, store.retention)
    print("done", flush=True)
    store._entries.update(where="id > 0", values={{"detail": "again"}})
"""


@pytest.mark.parametrize("kills", repeated(2))
def test_crash_06_killed_while_compacting_nothing_is_lost_and_the_disk_comes_back(
    store: LanceStore, place: str, kills: int
) -> None:
    items = [indexed(f"{n}.md", text) for n, text in enumerate(texts(1500))]
    store.write(FOLDER, items, seen_ns=1)
    embed(store)
    store.tidy()
    fresh = bytes_in(place)
    before = sorted(paths_of(store, ["walnut"]))
    draw = random.Random(11)
    for _ in range(kills):
        child = subprocess.Popen(
            [sys.executable, "-c", _COMPACT.format(folder=FOLDER), place], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        for _ in range(draw.randint(1, 3)):
            child.stdout.readline()
        child.kill()
        child.stdout.close()
        child.wait()
    again = LanceStore(place, create=False)
    again.retention = timedelta(0)
    assert again.check() == ""
    assert sorted(paths_of(again, ["walnut"])) == before
    # What a killed process left and nothing refers to.
    for n in range(5):
        (Path(place) / "entries.lance" / "data" / f"orphan{n}.lance").write_bytes(b"x" * fresh)
    again.tidy()
    assert bytes_in(place) <= 2 * fresh, (bytes_in(place), fresh)
    assert again.check() == ""


@pytest.fixture
def corpus(folder: Path, own_environment: Path) -> Iterator[Corpus]:
    """An index of three pages in the LanceDB store."""
    configure(own_environment, [folder], storeBackend="lancedb", autoRefresh=False)
    write_tree(folder, {"a.md": "walnut one\n", "b.md": "walnut two\n", "c.md": "walnut three\n"})
    with open_words() as found:
        index(found, Request(None))
        yield found


@pytest.fixture
def directory(corpus: Corpus, own_environment: Path) -> Path:
    """Where that index is."""
    (found,) = index_directory(own_environment).glob("index-*.lancedb")
    return found


def found_by(corpus: Corpus, query: str) -> list[str]:
    return sorted({hit.path for hit in search(corpus, Question(query, 50)).hits})


@pytest.mark.parametrize("left", [0, 2], ids=["empty", "half"])
def test_crash_11_a_newest_version_that_was_never_flushed_is_noticed_and_made_again(
    corpus: Corpus, directory: Path, left: int
) -> None:
    manifest = newest_manifest(directory / "entries.lance" / "_versions")
    with open(manifest, "rb+") as file:
        file.truncate(manifest.stat().st_size // left if left else 0)
    notes: list[str] = []
    with open_words(notes=notes) as after:
        with pytest.raises(StoreError, match="semantic-search index"):
            search(after, Question("walnut", 5))
        assert index(after, Request(None)).reports[0].processed == 3
        assert any("damaged: it is built afresh" in note for note in notes)
        assert found_by(after, "walnut") == ["a.md", "b.md", "c.md"]
        assert after.reading()[0].check() == ""


def _newest(directory: Path, table: str) -> Path:
    return newest_manifest(directory / f"{table}.lance" / "_versions")


def _largest(directory: Path, table: str, below: str) -> Path:
    files = [path for path in (directory / f"{table}.lance" / below).rglob("*") if path.is_file()]
    return max(files, key=lambda path: (path.stat().st_size, str(path)))


def _cut(path: Path, part: int) -> None:
    """Leaves one part in so many of a file, nothing with 0."""
    os.truncate(path, path.stat().st_size // part if part else 0)


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(0, len(data), 7):
        data[place] ^= 0xFF
    path.write_bytes(data)


def _replace(directory: Path) -> None:
    shutil.rmtree(directory)
    directory.write_bytes(b"no directory")


def _remove_tables(directory: Path) -> None:
    for path in directory.glob("*.lance"):
        shutil.rmtree(path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    **{
        f"{table}, newest version {name}": partial(
            lambda table, do, place: do(_newest(place, table)), table, do
        )
        for table in ("entries", "meta", "vectors")
        for name, do in (
            ("emptied", partial(_cut, part=0)),
            ("cut", partial(_cut, part=2)),
            ("flipped", _flip),
            ("gone", Path.unlink),
        )
    },
    **{
        f"{table}, data {name}": partial(
            lambda table, do, place: do(_largest(place, table, "data")), table, do
        )
        for table in ("entries", "vectors")
        for name, do in (
            ("emptied", partial(_cut, part=0)),
            ("cut", partial(_cut, part=2)),
            ("gone", Path.unlink),
        )
    },
    "indexes flipped": lambda place: _flip(_largest(place, "entries", "_indices")),
    "indexes emptied": lambda place: _cut(_largest(place, "entries", "_indices"), 0),
    "indexes gone": lambda place: shutil.rmtree(place / "entries.lance" / "_indices"),
    "versions gone": lambda place: shutil.rmtree(place / "entries.lance" / "_versions"),
    "transactions gone": lambda place: shutil.rmtree(place / "entries.lance" / "_transactions"),
    "a table gone": lambda place: shutil.rmtree(place / "entries.lance"),
    "remembered values gone": lambda place: shutil.rmtree(place / "meta.lance"),
    "vectors gone": lambda place: shutil.rmtree(place / "vectors.lance"),
    "everything gone": _remove_tables,
    "a file in its place": _replace,
}


def test_whatever_is_damaged_is_named_or_mended_by_one_command(
    corpus: Corpus, directory: Path, tmp_path: Path
) -> None:
    """No other error than ours, no answer that is less than it could be without a word; then all is well.

    A table whose newest version is gone is, for LanceDB, the one of before.
    """
    corpus.close()
    kept = tmp_path / "kept"
    shutil.copytree(directory.parent, kept)
    everything = ["a.md", "b.md", "c.md"]
    mended = []
    for damage, do in DAMAGES.items():
        shutil.rmtree(directory.parent)
        shutil.copytree(kept, directory.parent)
        do(directory)
        notes: list[str] = []
        with open_words(notes=notes) as after:
            try:
                answer = search(after, Question("walnut", 50))
                found = sorted({hit.path for hit in answer.hits})
                older = damage.endswith("newest version gone")
                assert found == everything or answer.notes or notes or older, damage
            except SemanticSearchError:
                pass
            try:
                assert index(after, Request(None)).whole, damage
                mended.append(found_by(after, "walnut") == everything and not after.reading()[0].check())
            except SemanticSearchError:
                mended.append(False)
        if mended[-1]:
            continue
        with open_words() as after:
            assert index(after, Request(None, force=True)).whole, damage
            assert found_by(after, "walnut") == everything, damage
            assert after.reading()[0].check() == "", damage
    # Most need no more than the usual run.
    assert sum(mended) > len(DAMAGES) // 2, list(zip(DAMAGES, mended, strict=True))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 6 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield place
    # The library may hold a file for a moment after its tables were closed.
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="a small file system is mounted as Linux does it")
def test_crash_08_a_full_disk_loses_nothing_and_a_run_heals_it(
    folder: Path, own_environment: Path, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SS_INDEX_DIR", str(small_disk / "index"))
    configure(own_environment, [folder], storeBackend="lancedb", autoRefresh=False)
    write_tree(folder, {f"{n}.md": f"walnut {n}\n" for n in range(20)})
    with open_words() as corpus:
        index(corpus, Request(None))
    write_tree(folder, {f"more{n}.md": f"meadow {n} " + "word " * 300 for n in range(40)})
    with open(small_disk / "ballast", "wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(b"x" * 4096)
    with open_words() as corpus:
        with pytest.raises(StoreError, match="disk is full"):
            index(corpus, Request(None))
        assert len(paths_of(corpus.reading()[0], ["walnut"])) == 20
        assert found_by(corpus, "walnut 7")
    (small_disk / "ballast").unlink()
    with open_words() as corpus:
        assert index(corpus, Request(None)).reports[0].processed == 40
        store = corpus.reading()[0]
        assert (len(paths_of(store, ["meadow"])), len(paths_of(store, ["walnut"]))) == (40, 20)
        assert store.check() == ""


def newest_manifest(versions: Path) -> Path:
    return max(versions.glob("*.manifest"), key=lambda path: path.stat().st_mtime_ns)


def test_fts_query_07_an_index_made_empty_finds_and_orders_as_an_exact_one(
    store: LanceStore, tmp_path: Path
) -> None:
    exact = open_store("sqlite", str(tmp_path / "index.sqlite3"), create=True)
    for start in range(0, 2000, 500):
        items = [indexed(f"{start + n}.md", text) for n, text in enumerate(texts(500, start))]
        for each in (store, exact):
            each.write(FOLDER, items, seen_ns=1)
    for terms in (["walnut"], ["quokka", "meadow"], ["harbour", "violin", "never"]):
        found, wanted = store.match(terms, EVERYTHING, 20), exact.match(terms, EVERYTHING, 20)
        assert [round(score, 6) for _, score in found] == [round(score, 6) for _, score in wanted]
        scores = [score for _, score in found]
        assert scores == sorted(scores, reverse=True)
    store.tidy()
    assert store._entries.index_stats("words_idx").num_indexed_rows >= 2000
    found = store.match(["walnut"], EVERYTHING, 20)
    wanted = exact.match(["walnut"], EVERYTHING, 20)
    assert [round(score, 6) for _, score in found] == [round(score, 6) for _, score in wanted]
    exact.close()


@pytest.mark.parametrize("rounds", repeated(40))
def test_fts_query_08_words_are_counted_right_through_many_merges(store: LanceStore, rounds: int) -> None:
    for n in range(rounds):
        store.write(FOLDER, [indexed(f"{n % 7}.md", f"zebra round{n}", "a second zebra")], seen_ns=n)
        if n % 10 == 9:
            store._optimize(store._entries, timedelta(0))
        files = min(n + 1, 7)
        assert store.frequencies(["zebra", f"round{n}", f"round{n - 7}"]) == {
            "zebra": 2 * files,
            f"round{n}": 1,
            f"round{n - 7}": 0,
        }
        assert len(paths_of(store, ["zebra"])) == 2 * files


def test_fts_query_08_an_index_of_words_that_is_gone_is_made_again(corpus: Corpus, directory: Path) -> None:
    shutil.rmtree(directory / "entries.lance" / "_indices")
    with open_words() as after:
        with pytest.raises(StoreError, match="semantic-search index"):
            search(after, Question("walnut", 5))
        index(after, Request(None))
        assert found_by(after, "walnut") == ["a.md", "b.md", "c.md"]
        assert after.reading()[0].check() == ""


def test_fts_query_09_an_update_finds_its_rows_after_compacting(store: LanceStore) -> None:
    for n in range(20):
        store.write(FOLDER, [indexed(f"{n}.md", f"zebra {n}", "beside it")], seen_ns=1)
    store._optimize(store._entries, timedelta(0), unverified=True)
    rows = store._count()
    for n in range(20):
        store.write(FOLDER, [indexed(f"{n}.md", f"horse {n}", "beside it")], seen_ns=2)
    assert store._count() == rows
    assert paths_of(store, ["zebra"]) == []
    assert len(paths_of(store, ["hors"])) == 20
    assert store.check() == ""


def test_fts_query_09_an_update_that_misses_its_rows_is_taken_back(store: LanceStore, place: str) -> None:
    store.write(FOLDER, [indexed("a.md", "zebra one"), indexed("b.md", "zebra two")], seen_ns=1)
    kept = store._written
    assert kept is not None
    store._entries.delete("path = 'a.md'")
    # As if the key's index found nothing: the rows that are to be replaced are known, and not there.
    store._written = (int(store._entries.version), *kept[1:])
    with pytest.raises(IndexDamaged, match="damaged"):
        store.write(FOLDER, [indexed("a.md", "zebra three", "zebra four")], seen_ns=2)
    assert "a.md" not in LanceStore(place, create=False).known(FOLDER)
    assert paths_of(store, ["three"]) == []


@pytest.mark.parametrize("cycles", repeated(40))
def test_store_08_looking_after_it_at_every_write_makes_it_no_larger(
    store: LanceStore, place: str, cycles: int
) -> None:
    store.write(FOLDER, [indexed(f"{n}.md", text) for n, text in enumerate(texts(1500))], seen_ns=1)
    embed(store)
    store.tidy()
    fresh = bytes_in(place)
    for n in range(cycles):
        store.write(FOLDER, [indexed(f"{n % 5}.md", f"zebra {n}")], seen_ns=2)
        embed(store)
        store.tidy()
    assert bytes_in(place) <= 3 * fresh
    assert len(store.nearest(vector("zebra"), EVERYTHING, 2000)) == 1500


def test_store_10_without_the_library_every_command_says_what_to_do_and_sqlite_serves_all(
    corpus: Corpus,
    run: Command,
    folder: Path,
    tmp_path: Path,
    own_environment: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was chosen is not swapped for an index that has nothing in it: the choice is the user's."""
    monkeypatch.setenv("SS_MODEL_NAME", NO_MODEL)
    blocked = write_tree(
        tmp_path / "site", {"sitecustomize.py": "import sys\nsys.modules['lancedb'] = None\n"}
    )
    env = {"PYTHONPATH": str(blocked)}
    for args in (["index"], ["search", "walnut"], ["gather", "walnut"], ["status"], ["doctor"]):
        found = run(*args, env=env, status=2)
        assert "pip install 'semantic-search-mcp[lancedb]'" in found.stdout + found.stderr, args
    assert run("grep", "walnut", env=env).lines
    env["SS_STORE_BACKEND"] = "sqlite"
    run("index", env=env)
    assert run("status", "--json", env=env).document["store"] == "sqlite"
    configure(own_environment, [folder])
    with Wire(env=env) as wire:
        wire.initialize()
        for tool, arguments in (
            ("search", {"query": "walnut"}),
            ("gather", {"query": "walnut"}),
            ("list_folders", {}),
            ("cat_file", {"filePath": "a.md"}),
            ("grep", {"pattern": "walnut"}),
            ("index", {}),
            ("index_status", {}),
        ):
            answer = wire.ask(tool, **arguments)
            assert not answer.is_error, (tool, answer.text)
        assert wire.close() == 0


def test_store_04_a_conflict_that_never_ends_is_given_up_after_a_few_tries(store: LanceStore) -> None:
    tries = 0

    def conflict() -> None:
        nonlocal tries
        tries += 1
        raise RuntimeError("Commit conflict for version 7")

    with pytest.raises(IndexBusy, match="another process"):
        store._commit(store._entries, conflict)
    assert tries == 6
