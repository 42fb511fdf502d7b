"""Indexes and configurations of other releases: older ones are renewed, newer ones are left alone."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import sys

import pytest
from changed_tree import ChangedTree
from command_line import opened
from forking import Forks
from fresh_equality import fresh_equality
from older_indexes import OLDER, age

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")


@pytest.fixture
def tree(tree: ChangedTree) -> ChangedTree:
    """Indexed as it is now."""
    tree.index(tree.environment)
    return tree


def test_an_index_of_every_earlier_schema_is_renewed_and_embeds_nothing(
    tree: ChangedTree, forks: Forks
) -> None:
    fresh = None
    for version in OLDER:
        older = age(tree.index_file, version)
        with opened(older) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        found = forks("search", "hello", env=tree.environment)
        assert (found.status, "run `semantic-search index`" in found.stderr) == (2, True), found
        assert forks("status", env=tree.environment).status in (0, 2)
        assert forks("doctor", env=tree.environment).status == 2
        run = forks("index", "--json", env=tree.environment)
        assert run.status == 0, run
        summary = json.loads(run.stdout)
        assert (summary["vectorsWritten"], summary["pendingVectors"]) == (0, 0)
        assert summary["filesProcessed"] > 0
        assert not older.exists()
        fresh = fresh_equality(tree.environment, tree.index, fresh=fresh)


@pytest.mark.parametrize("fingerprint", ["", "0123456789ab"])
def test_an_index_of_a_newer_release_is_refused_and_never_touched(
    tree: ChangedTree, forks: Forks, fingerprint: str
) -> None:
    """Under the name that this release gives, and under one of its own."""
    path = tree.index_file
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = '999' WHERE key = 'schema'")
    if fingerprint:
        path = path.rename(path.with_name(f"index-{fingerprint}.sqlite3"))
    content = path.read_bytes()
    for command in (["search", "hello"], ["doctor"], ["index"], ["search", "hello"], ["index", "--force"]):
        ended = forks(*command, env=tree.environment)
        assert "ault of ours" not in ended.stderr and "Traceback" not in ended.stderr
        if not fingerprint:
            assert ended.status == 2
            assert "newer" in ended.stdout + ended.stderr
            assert "upgrade" in ended.stdout + ended.stderr
        assert path.read_bytes() == content
    if fingerprint:
        # What this release writes for itself is beside it, and whole.
        assert "hello" in forks("search", "hello", env=tree.environment).stdout
        path.unlink()
        fresh_equality(tree.environment, tree.index)


def test_a_newer_index_alone_is_named_by_a_search(tree: ChangedTree, forks: Forks) -> None:
    path = tree.index_file
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE meta SET value = '999' WHERE key = 'schema'")
    path.rename(path.with_name("index-0123456789ab.sqlite3"))
    found = forks("search", "hello", env=tree.environment)
    assert (found.status, "newer version" in found.stderr) == (2, True)


def test_configurations_of_other_releases_work(tree: ChangedTree, forks: Forks) -> None:
    """One from before a key was there, and one with keys of a release to come, which are kept."""
    tree.config.write_text(json.dumps({"defaultRoots": tree.folders, "modelName": str(tree.place / "tiny")}))
    fresh_equality(tree.environment, tree.index)
    tree.configure(searchTeleport=True, chunk={"targetTokens": 32, "overlapTokens": 4, "mode": "future"})
    fresh_equality(tree.environment, tree.index)
    changed = forks("config", "rrfK", "50", env=tree.environment)
    assert changed.status == 0
    assert "searchTeleport" in forks("index", env=tree.environment).stderr
    content = json.loads(tree.config.read_text())
    assert (content["searchTeleport"], content["chunk"]["mode"], content["rrfK"]) == (True, "future", 50)
