"""Indexes of this machine: found, measured, removed and set aside, whatever they are made of."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import FOLDER, indexed

from semantic_search.errors import IndexDamaged
from semantic_search.stores import STORES, open_store, places


def make(directory: Path, backend: str, fingerprint: str) -> str:
    path = places.index_path(str(directory), backend, fingerprint)
    store = open_store(backend, path, create=True)
    store.write(FOLDER, [indexed("a.md", "zebra")], seen_ns=1)
    store.close()
    return path


@pytest.mark.parametrize("backend", sorted(STORES))
def test_indexes_of_one_store_are_found_and_removed_alone(backend: str, tmp_path: Path) -> None:
    others = [make(tmp_path, other, "one") for other in STORES if other != backend]
    path = make(tmp_path, backend, "one")
    (found,) = places.index_files(str(tmp_path), backend)
    assert (found.path, found.fingerprint) == (path, "one")
    assert (places.bytes_of(path) or 0) > 3000
    places.remove(path)
    assert not places.exists(path)
    assert places.index_files(str(tmp_path), backend) == []
    assert all(places.exists(other) for other in others)


@pytest.mark.parametrize("backend", sorted(STORES))
def test_a_damaged_index_is_set_aside_again_and_again(backend: str, tmp_path: Path) -> None:
    for _ in range(2):
        path = make(tmp_path, backend, "one")
        aside = places.set_aside(path)
        assert not places.exists(path)
        assert places.exists(aside)
        assert places.index_files(str(tmp_path), backend) == []


def test_a_directory_that_is_not_there_holds_none(tmp_path: Path) -> None:
    assert places.index_files(str(tmp_path / "none"), "sqlite") == []


def test_an_index_at_a_uri_is_never_moved() -> None:
    path = places.index_path("s3://bucket/prefix", "lancedb", "abc")
    assert path == "s3://bucket/prefix#index-abc"
    with pytest.raises(IndexDamaged, match="another location"):
        places.set_aside(path)
