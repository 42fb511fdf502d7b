"""Whether anybody on this machine reads an index: what nobody reads can be removed at once.

A lock of the operating system on an empty file: readers share it, and a killed one gives it up. Who cannot
have it reads without: the writer then either waits its time, or removes only what was replaced before.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from ...private_files import make_private_file

if sys.platform != "win32":
    import fcntl

NAME = "readers"


class Readers:
    """The readers of an index in a directory; of one that is elsewhere (None) nothing is known."""

    def __init__(self, directory: str | None) -> None:
        self._path = os.path.join(directory, NAME) if directory and sys.platform != "win32" else None

    def make(self) -> None:
        """Makes the file, for a writer. Readers may have no right to."""
        if self._path:
            make_private_file(self._path)

    @contextlib.contextmanager
    def one_more(self) -> Iterator[None]:
        """A span in which this process reads. Begin it before the newest version is looked up."""
        lock = self._lock(exclusive=False)
        try:
            yield
        finally:
            if lock is not None:
                os.close(lock)

    @contextlib.contextmanager
    def none(self) -> Iterator[bool]:
        """A span in which it is known that nobody reads a version older than the newest, or False."""
        lock = self._lock(exclusive=True)
        try:
            yield lock is not None
        finally:
            if lock is not None:
                os.close(lock)

    def _lock(self, *, exclusive: bool) -> int | None:
        """An open file that holds the lock, or None where it is not to be had. Never waits."""
        if self._path is None or sys.platform == "win32":
            return None
        try:
            file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return None
        return file
