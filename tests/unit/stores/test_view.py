"""A store whose folders are elsewhere on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from builders import FOLDER, indexed, vector, vectors, write_tree

from semantic_search.stores import Filter, Store, open_store
from semantic_search.stores.view import FolderView
from semantic_search.types import Skip, Skipped, SourceFile

STAYS = "/somewhere/else"


@pytest.fixture
def here(tmp_path: Path) -> str:
    return str(write_tree(tmp_path / "checkout", {"a.md": "zebra", "b.md": "other size"}))


@pytest.fixture
def view(tmp_path: Path, here: str) -> Iterator[Store]:
    store = open_store("sqlite", str(tmp_path / "index.sqlite3"), create=True)

    def places(folders: Sequence[str]) -> dict[str, str]:
        return {FOLDER: here} if FOLDER in folders else {}

    seen = cast(Store, FolderView(store, places, by_size=True))
    store.write(FOLDER, [indexed("a.md", "zebra"), indexed("b.md", "zebra b")], seen_ns=1)
    store.write(FOLDER, skipped=[Skipped(SourceFile(FOLDER, "c.png", 1, 1, 1, 1), Skip.BINARY)], seen_ns=1)
    store.write(STAYS, [indexed("d.md", "zebra d", folder=STAYS)], seen_ns=1)
    waiting = store.pending(10)
    store.put_vectors([id_ for id_, _ in waiting], vectors([text for _, text in waiting]))
    yield seen
    store.close()


def test_everything_that_names_a_folder_names_the_one_here(view: Store, here: str) -> None:
    assert view.folders() == sorted([here, STAYS])
    assert set(view.known(here)) == {"a.md", "b.md", "c.png"}
    assert {counts.path for counts in view.counts()} == {here, STAYS}
    assert [(file.folder, file.path) for file in view.skipped()] == [(here, "c.png")]
    assert view.passages_of(here, "a.md")[0].folder == here
    document = view.document(here, "a.md")
    assert document is not None
    assert document.text == "zebra"
    assert view.symbols([(here, "a.md"), (STAYS, "d.md")]) == {(here, "a.md"): [], (STAYS, "d.md"): []}


def test_what_waits_is_asked_for_in_terms_of_here(view: Store, here: str) -> None:
    view.write(here, [indexed("new.md", "new here", folder=here)], seen_ns=1)
    for folder, texts in ((here, ["new here"]), (STAYS, [])):
        wanted = Filter(scopes=((folder, ""),))
        assert [text for _, text in view.pending(9, wanted)] == texts
        assert view.pending_count(wanted) == len(texts)


def test_both_arms_are_asked_and_answer_in_terms_of_here(view: Store, here: str) -> None:
    wanted = Filter(scopes=((here, ""),))
    for found in (view.match(["zebra"], wanted, 9), view.nearest(vector("zebra"), wanted, 9)):
        passages = view.passages([id_ for id_, _ in found])
        assert {(p.folder, p.path) for p in passages.values()} == {(here, "a.md"), (here, "b.md")}
    assert {key for key, _ in view.match_files(["zebra"], wanted, 9)} == {(here, "a.md"), (here, "b.md")}


def test_a_file_of_the_same_size_is_taken_for_the_same(view: Store, here: str) -> None:
    same, other = view.passages_of(here, "a.md")[0], view.passages_of(here, "b.md")[0]
    found = (Path(here) / "a.md").stat()
    assert same.stamp == (5, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
    assert other.stamp == (len("zebra b"), 1, 1, 7)


def test_writes_go_to_the_folder_of_the_store(view: Store, here: str) -> None:
    view.write(here, [indexed("new.md", "heron", folder=here)], seen_ns=2)
    view.write("/brand/new", [indexed("x.md", "heron", folder="/brand/new")], seen_ns=2)
    view.forget(here, ["b.md"])
    assert set(view.known(here)) == {"a.md", "c.png", "new.md"}
    assert view.folders() == sorted([here, STAYS, "/brand/new"])
    assert {kept.source.path for kept in view.contents(here)} == {"a.md", "c.png", "new.md"}
    view.remove_folder(here)
    assert view.folders() == sorted([STAYS, "/brand/new"])
