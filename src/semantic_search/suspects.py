"""Files that a process was cutting when it died: the next one has another process cut them.

Parsers of languages are libraries in C. One that crashes takes the whole process with it, and would do so at
every run: what is being cut is noted on disk meanwhile, and a note that is left says where to be careful.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator

_NAME = "cutting"

File = tuple[str, str]
"""A folder and a path in it."""


class Suspects:
    """The notes of one index directory, for the process that holds its lock."""

    def __init__(self, directory: str) -> None:
        self._note = os.path.join(directory, _NAME)
        self._left: set[File] | None = None

    def of_folder(self, folder: str) -> frozenset[str]:
        """The paths of the files of a folder that somebody was cutting who died."""
        return frozenset(path for owner, path in self._known() if owner == folder)

    def clear(self, folder: str) -> None:
        """Forgets those of a folder: they were cut."""
        kept = {file for file in self._known() if file[0] != folder}
        if kept != self._left:
            self._left = kept
            self._write(kept)

    @contextlib.contextmanager
    def cutting(self, files: Iterable[File]) -> Iterator[None]:
        """A span in which these files are cut in this process."""
        left = self._known()
        self._write([*left, *files])
        try:
            yield
        finally:
            self._write(left)

    def _known(self) -> set[File]:
        if self._left is None:
            parts: list[bytes] = []
            with contextlib.suppress(OSError), open(self._note, "rb") as note:
                parts = note.read().split(b"\0")
            names = [os.fsdecode(part) for part in parts]
            self._left = set(zip(names[::2], names[1::2], strict=False))
        return self._left

    def _write(self, files: Iterable[File]) -> None:
        # It must outlive this process, not the machine. Where nothing can be written, nothing is noted.
        text = b"\0".join(os.fsencode(name) for file in files for name in file)
        with contextlib.suppress(OSError):
            if not text:
                os.unlink(self._note)
                return
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
            descriptor = os.open(self._note, flags, 0o600)
            try:
                os.write(descriptor, text)
            finally:
                os.close(descriptor)
