"""Whether somebody reads an index."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from semantic_search.stores.lance.readers import NAME, Readers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is known of readers there")

_READ = """
import sys
from semantic_search.stores.lance.readers import Readers
with Readers(sys.argv[1]).one_more():
    print("reading", flush=True)
    sys.stdin.read()
"""


def unread(readers: Readers) -> bool:
    with readers.none() as found:
        return found


def test_one_that_reads_is_known_to_all_and_any_number_may(tmp_path: Path) -> None:
    readers, others = Readers(str(tmp_path)), Readers(str(tmp_path))
    readers.make()
    assert unread(others)
    with readers.one_more(), others.one_more():
        assert not unread(readers)
        assert not unread(others)
    assert unread(readers)


def test_a_killed_reader_reads_no_more(tmp_path: Path) -> None:
    readers = Readers(str(tmp_path))
    readers.make()
    argv = [sys.executable, "-c", _READ, str(tmp_path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "reading\n"
        assert not unread(readers)
        child.kill()
        child.wait()
        assert unread(readers)


def test_who_begins_while_something_is_removed_does_not_wait(tmp_path: Path) -> None:
    readers = Readers(str(tmp_path))
    readers.make()
    with readers.none() as found, readers.one_more():
        assert found
    assert unread(readers)


def test_without_the_file_nothing_is_known_and_everybody_reads(tmp_path: Path) -> None:
    for readers in (Readers(str(tmp_path)), Readers(None)):
        with readers.one_more():
            pass
        assert not unread(readers)
    assert not (tmp_path / NAME).exists()
