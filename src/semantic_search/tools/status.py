"""What is indexed, what waits, and what was left out and why."""

from __future__ import annotations

import os
from dataclasses import dataclass

from .. import index_files
from ..corpus import Corpus, asked_again
from ..errors import NoIndex
from ..stores import Filter, SkippedFile
from .scope import folders_in, served_scopes


@dataclass(frozen=True, slots=True)
class FolderStatus:
    """A folder's numbers. `last_run` is an ISO 8601 time in UTC, empty before the first run."""

    name: str
    path: str
    configured: bool
    missing: bool
    files: int
    chunks: int
    pending: int
    skipped: dict[str, int]
    last_run: str


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the index. `current` is False when it was made with other settings than those in force.

    `index_bytes` is None for an index at a URI, whose size only its provider knows.
    """

    folders: list[FolderStatus]
    model: str
    store: str
    index_path: str
    index_bytes: int | None
    current: bool
    skipped: list[SkippedFile]


@asked_again
def status(corpus: Corpus, *, with_skipped: bool = False) -> Status:
    """Numbers for each folder, configured or indexed by path, and every skipped file when asked for."""
    s = corpus.settings
    counts, skipped, current, model, path = {}, [], True, s.model, ""
    try:
        store, current = corpus.reading()
        counts = {count.path: count for count in store.counts()}
        skipped = store.skipped() if with_skipped else []
        model = store.meta(index_files.MODEL) or s.model
        path = store.path
    except NoIndex:
        pass
    configured = {folder.path for folder in corpus.folders}
    folders = []
    for folder in folders_in(corpus, Filter(served_scopes(corpus))):
        count = counts.get(folder.path)
        folders.append(
            FolderStatus(
                folder.name,
                folder.path,
                folder.path in configured,
                folder.missing,
                count.files if count else 0,
                count.chunks if count else 0,
                count.pending if count else 0,
                count.skipped if count else {},
                count.last_run if count else "",
            )
        )
    size = index_files.index_bytes(s.index_location, s.store)
    return Status(folders, model, s.store, path or s.index_location, size, current, skipped)


def lock_held(corpus: Corpus) -> bool:
    """Whether some process is writing the index now, told by the lock itself."""
    import filelock

    path = os.path.join(corpus.settings.paths.index_directory, index_files.LOCK_NAME)
    if not os.path.exists(path):
        return False
    lock = filelock.FileLock(path, timeout=0, mode=0o600)
    try:
        with lock:
            return False
    except filelock.Timeout:
        return True
