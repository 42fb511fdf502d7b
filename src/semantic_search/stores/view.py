"""A store seen from this machine: its folders under the paths that they have here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .rows import EVERYTHING, Filter, FolderCounts, Indexed, Kept, Known, Passage, SkippedFile, Stored

if TYPE_CHECKING:
    from ..types import Skipped, SourceFile
    from . import Store

Places = Callable[[Sequence[str]], dict[str, str]]
"""Tells for the folders of a store, by path, where those are that are elsewhere on this machine."""


class FolderView:
    """See `Store`. What names no folder goes to the store as it is.

    With `by_size` a passage whose file has its size here is given the stamp that the file has here: times and
    inodes in the index are those of another machine.
    """

    def __init__(self, store: Store, places: Places, *, by_size: bool) -> None:
        self._store, self._places, self._by_size = store, places, by_size
        self.path = store.path
        self._here: dict[str, str] = {}
        self._there: dict[str, str] = {}
        self._look()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def _look(self) -> None:
        folders = self._store.folders()
        moved = self._places(folders)
        self._here = {folder: moved.get(folder, folder) for folder in folders}
        self._there = {here: folder for folder, here in self._here.items()}

    def _local(self, folder: str) -> str:
        if folder not in self._here:
            self._look()
        return self._here.get(folder, folder)

    def _stored(self, folder: str) -> str:
        if folder not in self._there:
            self._look()
        return self._there.get(folder, folder)

    def _wanted(self, wanted: Filter) -> Filter:
        if wanted.scopes is None:
            return wanted
        return replace(wanted, scopes=tuple((self._stored(folder), path) for folder, path in wanted.scopes))

    def folders(self) -> list[str]:
        """See `Store`."""
        self._look()
        return sorted(self._there)

    def known(self, folder: str) -> dict[str, Known]:
        """See `Store`."""
        return self._store.known(self._stored(folder))

    def write(
        self,
        folder: str,
        indexed: Sequence[Indexed] = (),
        skipped: Sequence[Skipped] = (),
        touched: Sequence[SourceFile] = (),
        *,
        seen_ns: int,
        keep_passages: bool = False,
    ) -> None:
        """See `Store`."""
        self._store.write(
            self._stored(folder), indexed, skipped, touched, seen_ns=seen_ns, keep_passages=keep_passages
        )

    def forget(self, folder: str, paths: Sequence[str]) -> None:
        """See `Store`."""
        self._store.forget(self._stored(folder), paths)

    def move_files(self, source: str, target: str, prefix: str) -> None:
        """See `Store`."""
        self._store.move_files(self._stored(source), self._stored(target), prefix)

    def remove_folder(self, folder: str) -> None:
        """See `Store`."""
        self._store.remove_folder(self._stored(folder))

    def record_run(self, folder: str, when: str) -> None:
        """See `Store`."""
        self._store.record_run(self._stored(folder), when)

    def contents(self, folder: str) -> Iterator[Kept]:
        """See `Store`."""
        yield from self._store.contents(self._stored(folder))

    def pending(self, limit: int, wanted: Filter = EVERYTHING) -> list[tuple[int, str]]:
        """See `Store`."""
        return self._store.pending(limit, self._wanted(wanted))

    def pending_count(self, wanted: Filter = EVERYTHING) -> int:
        """See `Store`."""
        return self._store.pending_count(self._wanted(wanted))

    def match(self, terms: Sequence[str], wanted: Filter, k: int) -> list[tuple[int, float]]:
        """See `Store`."""
        return self._store.match(terms, self._wanted(wanted), k)

    def match_files(
        self, terms: Sequence[str], wanted: Filter, k: int
    ) -> list[tuple[tuple[str, str], float]]:
        """See `Store`."""
        found = self._store.match_files(terms, self._wanted(wanted), k)
        return [((self._local(folder), path), score) for (folder, path), score in found]

    def symbols(self, files: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
        """See `Store`."""
        stored = {(self._stored(folder), path): (folder, path) for folder, path in files}
        return {stored[file]: names for file, names in self._store.symbols(list(stored)).items()}

    def nearest(self, vector: Any, wanted: Filter, k: int) -> list[tuple[int, float]]:
        """See `Store`."""
        return self._store.nearest(vector, self._wanted(wanted), k)

    def passages(self, ids: Sequence[int]) -> dict[int, Passage]:
        """See `Store`."""
        return {id_: self._seen(passage) for id_, passage in self._store.passages(ids).items()}

    def passages_of(self, folder: str, path: str) -> list[Passage]:
        """See `Store`."""
        return [self._seen(passage) for passage in self._store.passages_of(self._stored(folder), path)]

    def _seen(self, passage: Passage) -> Passage:
        folder = self._local(passage.folder)
        stamp = self._stamp(folder, passage.path, passage.stamp)
        return replace(passage, folder=folder, stamp=stamp)

    def _stamp(self, folder: str, path: str, stamp: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        if self._by_size:
            try:
                found = os.lstat(os.path.join(folder, path))
            except OSError:
                return stamp
            if found.st_size == stamp[0]:
                return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        return stamp

    def document(self, folder: str, path: str) -> Stored | None:
        """See `Store`."""
        found = self._store.document(self._stored(folder), path)
        return replace(found, stamp=self._stamp(folder, path, found.stamp)) if found else None

    def counts(self) -> list[FolderCounts]:
        """See `Store`."""
        found = [replace(counts, path=self._local(counts.path)) for counts in self._store.counts()]
        return sorted(found, key=lambda counts: counts.path)

    def skipped(self) -> list[SkippedFile]:
        """See `Store`."""
        found = [replace(file, folder=self._local(file.folder)) for file in self._store.skipped()]
        return sorted(found, key=lambda file: (file.folder, file.path))
