"""The index files in the index directory: one for each way of making passages and vectors.

An index file is named by its fingerprint. When a setting changes how passages or vectors are made, a new
file is built beside the old one, which goes on being searched; `complete` in the new file is the switch.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

from .errors import NoIndex, StoreError
from .stores import Store, open_store

COMPLETE = "complete"
MODEL = "model"
LOCK_NAME = "index.lock"


@dataclass(frozen=True, slots=True)
class IndexFile:
    """An index file on disk: its path, its fingerprint, and its last change in seconds of the epoch."""

    path: str
    fingerprint: str
    changed: float


def index_path(directory: str, backend: str, fingerprint: str) -> str:
    """Where the index of a fingerprint is."""
    return os.path.join(directory, f"index-{fingerprint}.{backend}3")


def index_files(directory: str, backend: str) -> list[IndexFile]:
    """The index files there are, the one that changed last first."""
    ending = f".{backend}3"
    found = []
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(directory)):
            if entry.name.startswith("index-") and entry.name.endswith(ending):
                fingerprint = entry.name.removeprefix("index-").removesuffix(ending)
                with contextlib.suppress(OSError):  # another process removed it just now
                    found.append(IndexFile(entry.path, fingerprint, entry.stat().st_mtime))
    return sorted(found, key=lambda file: -file.changed)


def open_for_reading(directory: str, backend: str, fingerprint: str) -> tuple[Store, bool]:
    """The index to search and whether it is of this fingerprint.

    The fingerprint's own once it is complete; else a complete one made with other settings; else its own as
    far as it has come. Raises NoIndex when there is none, StoreError when the only ones cannot be opened.
    """
    trouble: StoreError | None = None
    candidates: list[tuple[int, Store, bool]] = []
    for file in index_files(directory, backend):
        own = file.fingerprint == fingerprint
        try:
            store = open_store(backend, file.path)
        except NoIndex:  # a file without tables holds nothing, whatever emptied it
            continue
        except StoreError as error:
            trouble = trouble or error
            continue
        try:
            complete = bool(store.meta(COMPLETE))
        except StoreError as error:
            store.close()
            trouble = trouble or error
            continue
        rank = 0 if own and complete else 1 if complete else 2 if own else 3
        candidates.append((rank, store, own))
    if not candidates:
        raise trouble or NoIndex(
            "nothing is indexed yet: run `semantic-search add PATH`, then `semantic-search index`"
        )
    candidates.sort(key=lambda candidate: candidate[0])
    for _, store, _ in candidates[1:]:
        store.close()
    return candidates[0][1], candidates[0][2]


def open_for_writing(directory: str, backend: str, fingerprint: str) -> tuple[Store, str]:
    """The fingerprint's own index, made where there is none, and a note for the user (or an empty string).

    A damaged file is moved aside, never deleted, and built afresh. Call it with the index lock held.
    """
    path = index_path(directory, backend, fingerprint)
    try:
        return open_store(backend, path, create=True), ""
    except StoreError as error:
        if "damaged" not in str(error):
            raise
    aside = set_aside(path)
    return open_store(
        backend, path, create=True
    ), f"the index was damaged: it is built afresh (the old file is {aside})"


def set_aside(path: str) -> str:
    """Moves an index file out of the way and returns its new path; its write-ahead log goes."""
    aside = path + ".damaged"
    os.replace(path, aside)
    for ending in ("-wal", "-shm"):
        with contextlib.suppress(OSError):
            os.unlink(path + ending)
    return aside


def predecessor(directory: str, backend: str, fingerprint: str) -> IndexFile | None:
    """The complete index made with other settings that the fingerprint's own is to take the place of."""
    for file in index_files(directory, backend):
        if file.fingerprint == fingerprint:
            continue
        with (
            contextlib.suppress(StoreError),
            contextlib.closing(open_store(backend, file.path, any_version=True)) as store,
        ):
            if store.meta(COMPLETE):
                return file
    return None


def switch(directory: str, backend: str, fingerprint: str, store: Store) -> None:
    """Makes the fingerprint's own index the one that is searched, and removes the others."""
    store.set_meta(COMPLETE, "1")
    for file in index_files(directory, backend):
        if file.fingerprint != fingerprint:
            for ending in ("", "-wal", "-shm"):
                # On Windows a file that a reader holds open cannot go: the next run tries again.
                with contextlib.suppress(OSError):
                    os.unlink(file.path + ending)


def index_bytes(directory: str, backend: str) -> int:
    """What the index files take on disk."""
    total = 0
    for file in index_files(directory, backend):
        for ending in ("", "-wal"):
            with contextlib.suppress(OSError):
                total += os.stat(file.path + ending).st_size
    return total
