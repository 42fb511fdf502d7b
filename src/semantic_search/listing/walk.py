"""The files of a directory that no repository covers."""

from __future__ import annotations

import os
from collections.abc import Callable

from .entries import Entries, is_directory
from .ignore import GITIGNORE, INDEXIGNORE, Chain, compile_lines, extend, ignored
from .markers import is_bare_repository

Enter = Callable[[str, Chain], None]


class Walk:
    """Walks directories with the rules of the folder, the built-in ones and `.gitignore` files.

    `enter` is called with the path of every repository met on the way and the rules in force there.
    """

    def __init__(self, entries: Entries, enter: Enter) -> None:
        self._entries = entries
        self._enter = enter
        self._built_in = compile_lines(entries.rules.walk_ignore, "directories never walked", entries.notes)

    def run(self, start: str, chain: Chain) -> None:
        """Add everything below the directory `start` ("" is the folder), even if it is a repository itself.

        `chain` are the rules in force there, without `start`'s own files.
        """
        waiting: list[tuple[str, Chain, Chain]] = [(start, chain, ())]
        while waiting:
            waiting.extend(self._directory(*waiting.pop()))

    def _directory(self, directory: str, own: Chain, git: Chain) -> list[tuple[str, Chain, Chain]]:
        """Add the files of one directory; its subdirectories to be walked, last first."""
        entries = self._entries
        absolute = entries.absolute(directory) if directory else entries.folder
        try:
            with os.scandir(absolute) as scan:
                found = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            entries.failed(directory, error, directory=True)
            return []
        present = {entry.name for entry in found}
        if is_bare_repository(present):
            return []
        prefix = f"{directory}/" if directory else ""
        if INDEXIGNORE in present:
            own = entries.with_indexignore(own, directory)
        if GITIGNORE in present:
            git = extend(git, absolute, len(prefix), GITIGNORE, entries.notes)
        deeper = []
        for entry in found:
            path = prefix + entry.name
            if self._is_walkable(entry, path, own, git):
                if os.path.lexists(os.path.join(entry.path, ".git")):
                    self._enter(path, own)
                elif not self._is_built_in(path, entry.name):
                    deeper.append((path, own, git))
        deeper.reverse()
        return deeper

    def _is_walkable(self, entry: os.DirEntry[str], path: str, own: Chain, git: Chain) -> bool:
        """Whether this is a directory to look into. Files that no rule ignores are added."""
        entries, name = self._entries, entry.name
        try:
            folder = entry.is_dir(follow_symlinks=False)
            if name == INDEXIGNORE or name.lower() == ".git" or entries.excludes(path):
                return False
            if ignored(own, path, name, folder) or ignored(git, path, name, folder):
                return False
            # On Windows only lstat knows the inode and whether a directory is a junction.
            status = os.lstat(entry.path) if os.name == "nt" else None
            if folder and (status is None or is_directory(status)):
                return True
            entries.add(path, name, status or entry.stat(follow_symlinks=False))
        except OSError as error:
            entries.failed(path, error, directory=False)
        return False

    def _is_built_in(self, path: str, name: str) -> bool:
        return self._built_in is not None and bool(self._built_in.verdict(path, name, True))
