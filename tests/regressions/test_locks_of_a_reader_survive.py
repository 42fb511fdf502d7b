"""Closing any descriptor of a database file drops the process's locks on it (POSIX), and so the reader's.

A server that searches and indexes opened the file once more to narrow its mode. From then on its reader held
no lock: the next process to end its use took itself for the last one and removed the log beneath the reader,
whose searches ended in "disk I/O error".
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from semantic_search.private_files import make_private_file
from semantic_search.stores import open_store

CHILD = """
import sys
from semantic_search.stores import open_store
store = open_store("sqlite", sys.argv[1])
store.set_meta("by", "another process")
store.close()
"""


def test_a_reader_goes_on_after_its_process_wrote_and_another_one_came_and_went(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite3")
    reader = open_store("sqlite", path, create=True)
    reader.set_meta("by", "nobody")
    open_store("sqlite", path, create=True).close()
    subprocess.run([sys.executable, "-c", CHILD, path], check=True)
    assert os.path.exists(path + "-wal")
    assert reader.meta("by") == "another process"
    reader.close()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_a_file_that_is_there_is_narrowed_without_being_opened(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("kept")
    place.chmod(0o644)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    make_private_file(str(place))
    assert stat.S_IMODE(place.stat().st_mode) == 0o600 and place.read_text() == "kept"
    if before:
        assert len(os.listdir("/proc/self/fd")) == before
    new = tmp_path / "new"
    old_mask = os.umask(0)
    try:
        make_private_file(str(new))
    finally:
        os.umask(old_mask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
