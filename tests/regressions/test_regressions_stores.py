"""Both stores in trouble, and indexes of other releases: cases other tools got wrong, by their ids."""

from __future__ import annotations

import lzma
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from builders import FOLDER, indexed, write_tree
from command_line import Command, environment, index_directory, index_file, opened

from semantic_search.stores import STORES, Filter, open_store
from semantic_search.terms import query_terms

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does it")


@pytest.mark.parametrize("backend", sorted(STORES))
def test_tokenise_03_no_store_has_stop_words_or_stems_of_its_own(backend: str, tmp_path: Path) -> None:
    store = open_store(backend, str(tmp_path / "index.store"), create=True)
    store.write(
        FOLDER, [indexed("a.md", "the and of to d don't сховищі"), indexed("b.md", "else")], seen_ns=1
    )
    for query in ("the", "d", "don't", "of", "сховище", "d the"):
        found = store.match(query_terms(query), Filter(), 5)
        assert [store.passages([id_])[id_].path for id_, _ in found] == ["a.md"], query
    store.close()


@linux
@pytest.mark.parametrize("backend", sorted(STORES))
def test_store_04_an_index_that_cannot_be_written_ends_the_run_at_once(
    folder: Path, own_environment: Path, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    monkeypatch.setenv("SS_STORE_BACKEND", backend)
    monkeypatch.setenv("SS_MODEL_NAME", "nobody/no-such-model")
    write_tree(folder, {f"{n:03}.md": f"walnut {n} " + f"word{n} " * 300 for n in range(300)})
    limited = Command(["prlimit", f"--fsize={150_000 if backend == 'sqlite' else 20_000}"])
    found = limited("index", status=2)
    assert re.fullmatch(r"(semantic-search: .*\n)+", found.stderr), found.stderr
    assert len(found.stderr.splitlines()) <= 4
    assert str(index_directory(own_environment)) in found.stderr
    run = Command()
    assert run("index").summary["filesProcessed"] > 0
    assert len(run.search("walnut", "--no-refresh")) == 50


# Made by the second schema: the folder /srv/notes with two pages and their vectors.
OLD = Path(__file__).with_name("index_of_schema_2.sqlite3.xz")


def test_store_06_an_index_of_an_older_release_is_renewed_with_its_vectors(
    run: Command, tmp_path: Path, own_environment: Path
) -> None:
    notes = write_tree(
        tmp_path / "notes",
        {
            "retry.md": "# Retry budget\n\nThe gateway retries a request five times, then it gives up.\n",
            "garden.md": "# Garden\n\nTomato seedlings go outdoors in the middle of May.\n",
        },
    )
    place = index_directory(own_environment) / "index-1c1f861e8bfc.sqlite3"
    place.parent.mkdir(parents=True)
    place.write_bytes(lzma.decompress(OLD.read_bytes()))
    with opened(place) as db:
        db.execute("UPDATE folders SET path = ?", (os.fsencode(notes),))
    for args in (["search", "gateway"], ["status"], ["doctor"], ["gather", "gateway"]):
        found = run(*args, status=None)
        assert "ault of ours" not in found.stderr
        assert "older version" in found.stdout + found.stderr or args == ["status"], (args, found)
    run("add", notes)
    summary = run("index").summary
    assert (summary["filesProcessed"], summary["vectorsWritten"], summary["pendingVectors"]) == (2, 0, 0)
    assert run.search("young plants")[0] == "garden.md"
    assert index_file(own_environment) != place
    assert "is sound" in run("doctor").stdout


# Every connection of the process loses the module before anything is asked of it.
_NO_FTS5 = """
import ctypes, ctypes.util
library = ctypes.CDLL(ctypes.util.find_library("sqlite3"))
keep = (ctypes.c_char_p * 1)(None)
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
def drop(database, _message, _api):
    return library.sqlite3_drop_modules(ctypes.c_void_p(database), keep)
library.sqlite3_auto_extension(drop)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="takes a module away from the SQLite of the system")
def test_store_10_an_sqlite_without_fts5_is_named(run: Command, folder: Path, tmp_path: Path) -> None:
    site = write_tree(tmp_path / "site", {"sitecustomize.py": _NO_FTS5})
    env = {"PYTHONPATH": str(site)}
    gone = "import sqlite3; sqlite3.connect(':memory:').execute('CREATE VIRTUAL TABLE t USING fts5(a)')"
    probe = subprocess.run(
        [sys.executable, "-c", gone], env=environment(env), capture_output=True, text=True, check=False
    )
    if "no such module" not in probe.stderr:
        pytest.skip("this Python brings an SQLite of its own, from which nothing can be taken")
    write_tree(folder, {"a.md": "walnut\n"})
    found = run("index", env=env, status=2)
    assert "FTS5" in found.stderr, found.stderr
    assert "damaged" not in found.stderr
    assert "FTS5" in run("doctor", env=env, status=2).stdout
    assert run("grep", "walnut", env=env).lines
    run("index")
    found = run("search", "walnut", "--no-refresh", env=env, status=2)
    assert "FTS5" in found.stderr
    assert "damaged" not in found.stderr
