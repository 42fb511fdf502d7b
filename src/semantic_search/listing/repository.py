"""The files of a folder, repository by repository."""

from __future__ import annotations

import os

from . import git
from .entries import Entries, is_directory, is_link
from .ignore import INDEXIGNORE, Chain, ignored
from .markers import find_marker, git_directory, main_repository, may_redirect
from .walk import Walk

_MAX_REFUSALS = 5


class Repositories:
    """Lists a folder: what git covers as git says, the rest by a walk."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._walk = Walk(entries, self._enter)
        self._timeout = entries.rules.git_timeout
        self._trees: set[str] = set()
        self._linked: list[str] = []

    def run(self) -> None:
        """Add everything in the folder. Raises GitFailed for the folder's own repository only."""
        entries = self._entries
        chain = entries.own_rules()
        place = git.discover(entries.folder, self._timeout)
        if place.kind is git.Kind.REPOSITORY:
            self._ask("", chain, place.top)
        else:
            if place.kind is git.Kind.IGNORED:
                entries.notes.append(
                    f"{entries.folder} is ignored by the repository {place.top}; "
                    "its files were listed by its own ignore files instead"
                )
            elif place.kind is git.Kind.REDIRECTED:
                entries.notes.append(
                    f"{find_marker(entries.folder)} names another working tree (core.worktree); "
                    f"the files of {entries.folder} were listed by its own ignore files instead"
                )
            self._walk.run("", chain)
        if self._linked:
            entries.notes.append(
                "not listed, as linked worktrees of repositories that are: "
                f"{_some(self._linked)}. Add one by its own path to index it"
            )

    def _enter(self, start: str, chain: Chain) -> None:
        """Add a repository below the folder; one that cannot be listed is left out, and the rest goes on."""
        entries = self._entries
        directory = entries.absolute(start)
        marker = os.path.join(directory, ".git")
        if not os.path.lexists(marker):
            self._walk.run(start, chain)
            return
        if self._is_second_tree(start, marker):
            return
        try:
            top = self._top(directory, marker)
            if top is None:
                entries.notes.append(
                    f"{marker} names another working tree (core.worktree); "
                    f"the files of {directory} were listed by its own ignore files instead"
                )
                self._walk.run(start, chain)
            else:
                self._ask(start, chain, top)
        except git.GitFailed as failure:
            entries.refuse(start, str(failure))

    def _is_second_tree(self, start: str, marker: str) -> bool:
        """Whether this is a linked worktree of a repository whose files are in the listing already."""
        common = main_repository(marker)
        if common is None:
            return False
        main = os.path.dirname(common)
        inside = os.path.join(main, "").startswith(os.path.join(self._entries.folder, ""))
        if common in self._trees or (inside and os.path.basename(common) == ".git"):
            self._linked.append(start)
            return True
        self._trees.add(common)
        return False

    def _top(self, directory: str, marker: str) -> str | None:
        """The working tree of a nested repository, which must be `directory`; None if it is another one."""
        repository = git_directory(marker)
        if repository is not None and not may_redirect(repository):
            return directory
        place = git.discover(directory, self._timeout)
        return directory if place.kind is git.Kind.REPOSITORY and place.top == directory else None

    def _ask(self, start: str, chain: Chain, top: str) -> None:
        """Add what git lists below `start`, a directory of the working tree `top`."""
        entries = self._entries
        directory = entries.absolute(start) if start else entries.folder
        listed = git.list_paths(directory, top, self._timeout)
        prefix = f"{start}/" if start else ""
        if "" in listed.unruled:
            raise git.GitFailed(
                f"a .gitignore file in force in {directory} cannot be read, so nobody knows what it ignores. "
                "Make it readable"
            )
        entries.unread.update(prefix + path if path else start for path in listed.unread)
        for path in listed.unruled:
            entries.refuse(prefix + path, "its .gitignore cannot be read; make it readable")
        directories = _Directories(entries, start, chain, {prefix + path for path in listed.unruled})
        nested = [self._add(directories, prefix + each) for each in listed.paths]
        for path in filter(None, nested):
            parent, _, name = path.rpartition("/")
            within = directories.rules(parent)
            if within is not None and not entries.excludes(path) and not ignored(within, path, name, True):
                self._enter(path, within)

    def _add(self, directories: _Directories, path: str) -> str | None:
        """Add a file that git listed; the path if it is a directory (nested repository, submodule)."""
        entries = self._entries
        if path.endswith("/"):
            return path[:-1]
        parent, _, name = path.rpartition("/")
        chain = directories.rules(parent)
        if chain is None or name == INDEXIGNORE or entries.excludes(path):
            return None
        if chain and ignored(chain, path, name, False):
            return None
        try:
            status = os.lstat(entries.absolute(path))
        except OSError as error:
            entries.failed(path, error, directory=False)
            return None
        if is_directory(status):
            return path
        entries.add(path, name, status)
        return None


class _Directories:
    """The rules in force in each directory of a repository; None where nothing is to be listed."""

    def __init__(self, entries: Entries, start: str, chain: Chain, closed: set[str]) -> None:
        self._entries = entries
        self._closed = closed
        self._known: dict[str, Chain | None] = {start: entries.with_indexignore(chain, start)}

    def rules(self, directory: str) -> Chain | None:
        """The rules for the entries of a directory, its own `.indexignore` included."""
        if directory in self._known:
            return self._known[directory]
        missing = [directory]
        while (parent := missing[-1].rpartition("/")[0]) not in self._known:
            missing.append(parent)
        chain = self._known[parent]
        for path in reversed(missing):
            chain = None if chain is None else self._step(chain, path)
            self._known[path] = chain
        return chain

    def _step(self, chain: Chain, path: str) -> Chain | None:
        entries = self._entries
        if path in self._closed or entries.excludes(path):
            return None
        if chain and ignored(chain, path, path.rpartition("/")[2], True):
            return None
        try:
            status = os.lstat(entries.absolute(path))
        except OSError as error:
            entries.failed(path, error, directory=True)
            return None
        # A tracked directory that became a link, or a file, holds nothing of ours.
        return None if is_link(status) or not is_directory(status) else entries.with_indexignore(chain, path)


def _some(paths: list[str]) -> str:
    shown = ", ".join(paths[:_MAX_REFUSALS])
    more = len(paths) - _MAX_REFUSALS
    return f"{shown} and {more} more" if more > 0 else shown
