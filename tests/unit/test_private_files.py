"""Our own files: private, written whole, one writer at a time."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from semantic_search.errors import IndexBusy, SettingsError
from semantic_search.private_files import (
    OWN_NAME,
    locked,
    make_private_directory,
    make_private_file,
    write_atomically,
)

posix = pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_permissions_03_new_files_and_directories_are_private(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        make_private_directory(str(tmp_path / OWN_NAME))
        make_private_file(str(tmp_path / OWN_NAME / "file"))
        write_atomically(str(tmp_path / OWN_NAME / "config.json"), b"{}")
    finally:
        os.umask(before)
    assert mode(tmp_path / OWN_NAME) == 0o700
    assert mode(tmp_path / OWN_NAME / "file") == 0o600
    assert mode(tmp_path / OWN_NAME / "config.json") == 0o600


@posix
def test_what_is_ours_and_open_is_narrowed_and_what_is_not_is_left(tmp_path: Path) -> None:
    ours, shared = tmp_path / OWN_NAME, tmp_path / "shared"
    for place in (ours, shared):
        place.mkdir()
        place.chmod(0o777)
        make_private_directory(str(place))
    assert (mode(ours), mode(shared)) == (0o700, 0o777)
    file = shared / "file"
    file.write_bytes(b"content")
    file.chmod(0o644)
    make_private_file(str(file))
    assert (mode(file), file.read_bytes()) == (0o600, b"content")


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be made"):
        make_private_directory(str(tmp_path / "file" / "inside"))


def test_config_01_a_write_that_fails_leaves_the_old_content(tmp_path: Path) -> None:
    place = tmp_path / "taken"
    place.mkdir()
    (place / "inside").write_text("old")
    with pytest.raises(SettingsError, match="cannot be written"):
        write_atomically(str(place), b"new")
    assert (place / "inside").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["taken"], "a temporary file was left"


def test_a_write_replaces_the_whole(tmp_path: Path) -> None:
    place = tmp_path / "config.json"
    place.write_bytes(b"a long old content")
    write_atomically(str(place), b"new")
    assert place.read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 1


_HOLDER = """
import sys
from semantic_search.private_files import locked
with locked(sys.argv[1], what="it"):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_concurrency_01_a_lock_is_held_across_processes_and_freed_by_a_kill(tmp_path: Path) -> None:
    place = str(tmp_path / "lock")
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == b"held"
        with pytest.raises(IndexBusy, match="writing the index"), locked(place, what="the index", timeout=0):
            pass
        child.kill()
        child.wait()
    with locked(place, what="the index", timeout=10):
        pass


def test_a_lock_is_freed_by_an_exception(tmp_path: Path) -> None:
    place = str(tmp_path / "lock")
    with pytest.raises(ZeroDivisionError), locked(place, what="it"):
        raise ZeroDivisionError
    with locked(place, what="it", timeout=0):
        pass
