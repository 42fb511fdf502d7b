"""The index files of an index directory: which is searched, which is written, what a damaged one costs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from builders import FOLDER, indexed

from semantic_search import index_files
from semantic_search.errors import IndexDamaged, IndexTooNew, NoIndex, StoreError
from semantic_search.stores import open_store


def make(directory: Path, fingerprint: str, *, complete: bool, changed: int = 0) -> Path:
    path = Path(index_files.index_path(str(directory), "sqlite", fingerprint))
    store = open_store("sqlite", str(path), create=True)
    store.write(FOLDER, [indexed("a.md", f"of {fingerprint}")], seen_ns=1)
    if complete:
        store.set_meta(index_files.COMPLETE, "1")
    store.close()
    os.utime(path, (10**9 + changed, 10**9 + changed))
    return path


def opened(directory: Path, fingerprint: str = "own") -> tuple[str, bool]:
    store, current = index_files.open_for_reading(str(directory), "sqlite", fingerprint)
    store.close()
    return os.path.basename(store.path), current


def test_nothing_indexed_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoIndex, match="semantic-search add"):
        opened(tmp_path)
    with pytest.raises(NoIndex):
        opened(tmp_path / "missing")
    Path(index_files.index_path(str(tmp_path), "sqlite", "own")).touch()
    with pytest.raises(NoIndex, match="semantic-search add"):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"own": True}, ("own", True)),
        ({"own": False}, ("own", True)),
        ({"own": True, "old": True}, ("own", True)),
        ({"own": False, "old": True}, ("old", False)),
        ({"own": False, "old": False}, ("own", True)),
        ({"old": True, "older": False}, ("old", False)),
        ({"old": False}, ("old", False)),
    ],
)
def test_the_own_complete_index_is_searched_else_another_complete_one(
    tmp_path: Path, files: dict[str, bool], expected: tuple[str, bool]
) -> None:
    for n, (fingerprint, complete) in enumerate(files.items()):
        make(tmp_path, fingerprint, complete=complete, changed=n)
    name, current = opened(tmp_path)
    assert (name, current) == (f"index-{expected[0]}.sqlite3", expected[1])


def test_of_two_others_the_later_is_searched(tmp_path: Path) -> None:
    make(tmp_path, "earlier", complete=True, changed=1)
    make(tmp_path, "later", complete=True, changed=2)
    assert opened(tmp_path)[0] == "index-later.sqlite3"


def test_store_03_a_damaged_file_does_not_hide_a_sound_one(tmp_path: Path) -> None:
    make(tmp_path, "own", complete=True).write_bytes(b"no database at all" * 100)
    make(tmp_path, "old", complete=True)
    assert opened(tmp_path) == ("index-old.sqlite3", False)


def test_a_damaged_file_alone_is_an_error_that_says_so(tmp_path: Path) -> None:
    make(tmp_path, "own", complete=True).write_bytes(b"no database at all" * 100)
    with pytest.raises(IndexDamaged, match="damaged"):
        opened(tmp_path)


def test_other_files_are_no_index(tmp_path: Path) -> None:
    for name in ("index.lock", "index-x.sqlite3.damaged", "index-x.sqlite3-wal", "notes.sqlite3", "models"):
        (tmp_path / name).write_text("")
    assert index_files.index_files(str(tmp_path), "sqlite") == []


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_an_entry_that_vanishes_while_it_is_looked_at_hides_no_other(tmp_path: Path) -> None:
    """Another process may remove an old index at any moment; a dangling link is one that is gone for ever."""
    make(tmp_path, "own", complete=True)
    for n in range(8):
        (tmp_path / f"index-gone{n}.sqlite3").symlink_to(tmp_path / "nowhere")
    found = index_files.index_files(str(tmp_path), "sqlite")
    assert [file.fingerprint for file in found] == ["own"]


def test_a_damaged_index_is_moved_aside_and_built_afresh(tmp_path: Path) -> None:
    path = make(tmp_path, "own", complete=True)
    path.write_bytes(b"no database at all" * 100)
    store, note = index_files.open_for_writing(str(tmp_path), "sqlite", "own")
    assert "built afresh" in note
    assert store.folders() == []
    store.close()
    assert (tmp_path / "index-own.sqlite3.damaged").read_bytes().startswith(b"no database")


@pytest.mark.parametrize("backend", ["sqlite", "lancedb"])
def test_two_damaged_indexes_are_kept_and_no_more(tmp_path: Path, backend: str) -> None:
    path = Path(index_files.index_path(str(tmp_path), backend, "own"))
    for n in range(4):
        if backend == "lancedb":
            path.mkdir()
            (path / "content").write_text(f"damaged {n}")
        else:
            path.write_text(f"damaged {n}")
        index_files.set_aside(str(path))
    contents = [place.read_text() for place in sorted(tmp_path.rglob("*")) if place.is_file()]
    assert contents == ["damaged 3", "damaged 2"]


def test_a_sound_index_is_opened_as_it_is(tmp_path: Path) -> None:
    make(tmp_path, "own", complete=True)
    store, note = index_files.open_for_writing(str(tmp_path), "sqlite", "own")
    assert (note, store.folders()) == ("", [FOLDER])
    store.close()


def test_an_index_of_a_newer_version_is_not_moved_aside(tmp_path: Path) -> None:
    path = make(tmp_path, "own", complete=True)
    store = open_store("sqlite", str(path))
    store.set_meta("schema", "999")
    store.close()
    with pytest.raises(IndexTooNew, match="newer version"):
        index_files.open_for_writing(str(tmp_path), "sqlite", "own")
    assert path.exists()


def test_trouble_that_passes_is_no_damage_whatever_the_place_is_called(tmp_path: Path) -> None:
    """Bug: words of the message told what was wrong, and the message has the path in it."""
    directory = tmp_path / "damaged by a newer version"
    place = Path(index_files.index_path(str(directory), "sqlite", "own"))
    place.mkdir(parents=True)  # stands for a disk that cannot be read for now
    with pytest.raises(StoreError, match=r"cannot be (opened|used)"):
        index_files.open_for_writing(str(directory), "sqlite", "own")
    with pytest.raises(StoreError, match="cannot be used"):
        index_files.predecessor(str(directory), "sqlite", "other")
    assert list(directory.iterdir()) == [place]


def test_the_switch_leaves_an_index_of_a_newer_release(tmp_path: Path) -> None:
    newer = make(tmp_path, "newer", complete=True)
    store = open_store("sqlite", str(newer))
    store.set_meta("schema", "999")
    store.close()
    old = make(tmp_path, "old", complete=True)
    own = open_store("sqlite", str(make(tmp_path, "own", complete=False)))
    index_files.switch(str(tmp_path), "sqlite", "own", own)
    own.close()
    assert (newer.exists(), old.exists()) == (True, False)


def test_a_predecessor_is_complete_and_of_other_settings(tmp_path: Path) -> None:
    make(tmp_path, "own", complete=True)
    assert index_files.predecessor(str(tmp_path), "sqlite", "own") is None
    make(tmp_path, "half", complete=False)
    make(tmp_path, "broken", complete=True).write_bytes(b"no database at all" * 100)
    assert index_files.predecessor(str(tmp_path), "sqlite", "own") is None
    make(tmp_path, "old", complete=True)
    found = index_files.predecessor(str(tmp_path), "sqlite", "own")
    assert found is not None
    assert found.fingerprint == "old"


def test_the_switch_leaves_the_new_index_alone(tmp_path: Path) -> None:
    make(tmp_path, "old", complete=True)
    own = make(tmp_path, "own", complete=False)
    store = open_store("sqlite", str(own))
    index_files.switch(str(tmp_path), "sqlite", "own", store)
    store.close()
    assert [file.fingerprint for file in index_files.index_files(str(tmp_path), "sqlite")] == ["own"]
    assert opened(tmp_path) == ("index-own.sqlite3", True)
    assert not list(tmp_path.glob("index-old*"))


def test_size_on_disk(tmp_path: Path) -> None:
    assert index_files.index_bytes(str(tmp_path / "missing"), "sqlite") == 0
    path = make(tmp_path, "own", complete=True)
    assert (index_files.index_bytes(str(tmp_path), "sqlite") or 0) >= path.stat().st_size > 0
