"""What has been found in a folder so far, and what each entry is by its name and its stat alone."""

from __future__ import annotations

import errno
import os
import stat

from ..types import Listing, Skip, Skipped, SourceFile
from . import names
from .credentials import is_secret
from .ignore import INDEXIGNORE, Chain, compile_lines, extend
from .rules import ListingRules

_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_REPARSE_TAGS = (getattr(stat, "IO_REPARSE_TAG_SYMLINK", 0), getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", 0))


def is_link(status: os.stat_result) -> bool:
    """Whether an lstat is that of a symbolic link, or of a junction on Windows."""
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", -1) in _REPARSE_TAGS


def is_directory(status: os.stat_result) -> bool:
    """Whether an lstat is that of a real directory."""
    return stat.S_ISDIR(status.st_mode) and not is_link(status)


class Entries:
    """Collects a listing. `folder` is absolute and resolved; every other path is relative to it."""

    def __init__(self, folder: str, rules: ListingRules) -> None:
        self.folder = folder
        self.rules = rules
        self.files: list[SourceFile] = []
        self.skipped: list[Skipped] = []
        self.unread: set[str] = set()
        self.notes: list[str] = []
        self._documents = names.normalised(rules.document_extensions)
        self._binary = (names.BINARY_EXTENSIONS | names.normalised(rules.binary_extensions)) - self._documents
        self._excluded = self._below(rules.excluded)
        self._base = os.path.join(folder, "")

    def _below(self, paths: tuple[str, ...]) -> frozenset[str]:
        """Those of the absolute `paths` that lie in the folder, relative to it."""
        start = os.path.normcase(os.path.join(self.folder, ""))
        below = set()
        for path in paths:
            real = os.path.join(
                os.path.realpath(os.path.dirname(path.rstrip("/"))), os.path.basename(path.rstrip("/"))
            )
            for each in (os.path.normpath(real), os.path.realpath(path)):
                if os.path.normcase(each).startswith(start):
                    below.add(each[len(start) :].replace(os.sep, "/"))
        return frozenset(below)

    def absolute(self, path: str) -> str:
        """The absolute form of a relative path."""
        return self._base + path

    def own_rules(self) -> Chain:
        """The rules from the config: patterns for all folders, and the `.indexignore` beside the config."""
        patterns = compile_lines(self.rules.ignore_patterns, "ignore patterns of the config", self.notes)
        chain: Chain = () if patterns is None else ((0, patterns),)
        if self.rules.config_directory is not None:
            # Our own directory is trusted, and people link such files from elsewhere.
            path = os.path.realpath(os.path.join(self.rules.config_directory, INDEXIGNORE))
            chain = extend(chain, os.path.dirname(path), 0, os.path.basename(path), self.notes)
        return chain

    def with_indexignore(self, chain: Chain, directory: str) -> Chain:
        """`chain` with the `.indexignore` of a directory of the folder in front, if there is one."""
        depth = len(directory) + 1 if directory else 0
        return extend(
            chain, self.absolute(directory) if directory else self.folder, depth, INDEXIGNORE, self.notes
        )

    def excludes(self, path: str) -> bool:
        """Whether this path belongs to somebody else (another entry, our own data)."""
        return path in self._excluded

    def add(self, path: str, name: str, status: os.stat_result) -> None:
        """Count an entry that no rule ignores, given its lstat."""
        source = SourceFile(
            self.folder, path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
        )
        reason = self._reason(path, name, status)
        if reason is None:
            self.files.append(source)
        else:
            self.skipped.append(Skipped(source, reason))

    def _reason(self, path: str, name: str, status: os.stat_result) -> Skip | None:
        if is_link(status):
            return Skip.SYMLINK
        if not stat.S_ISREG(status.st_mode):
            return Skip.SPECIAL
        if not self.rules.index_secrets and is_secret(path, name):
            return Skip.SECRET
        extension = names.extension(name)
        if extension in self._binary:
            return Skip.BINARY
        document = extension in self._documents
        limit = self.rules.max_document_bytes if document else self.rules.max_file_bytes
        return Skip.TOO_LARGE if status.st_size > limit else None

    def failed(self, path: str, error: OSError, *, directory: bool) -> None:
        """Count an entry that could not be looked at. What has vanished simply is not there."""
        if error.errno in _GONE:
            return
        if directory:
            self.unread.add(path)
            return
        self.skipped.append(
            Skipped(SourceFile(self.folder, path, 0, 0, 0, 0), Skip.UNREADABLE, error.strerror or str(error))
        )

    def refuse(self, path: str, reason: str) -> None:
        """Count a subtree that must not be listed, with the reason as a note."""
        self.unread.add(path)
        self.notes.append(f"{self.absolute(path)} was not listed: {reason}")

    def listing(self) -> Listing:
        """Everything so far, in path order."""
        return Listing(
            tuple(sorted(self.files, key=lambda source: source.path)),
            tuple(sorted(self.skipped, key=lambda skipped: skipped.source.path)),
            tuple(sorted(self.unread)),
            tuple(dict.fromkeys(self.notes)),
        )
