"""The indexes at a location: one for each way of making passages and vectors.

An index file is named by its fingerprint. When a setting changes how passages or vectors are made, a new
file is built beside the old one, which goes on being searched; `complete` in the new file is the switch.
"""

from __future__ import annotations

import contextlib
import hashlib
import os

from .errors import IndexDamaged, IndexOutdated, IndexReplaced, IndexTooNew, NoIndex, StoreError
from .stores import Store, open_store
from .stores.places import IndexFile, bytes_of, exists, index_files, index_path, remove, set_aside

__all__ = [
    "COMPLETE",
    "LOCK_NAME",
    "MODEL",
    "IndexFile",
    "cannot_be_used",
    "exists",
    "folders_of",
    "forget_folder",
    "index_bytes",
    "index_files",
    "index_path",
    "open_for_reading",
    "open_for_writing",
    "predecessor",
    "set_aside",
    "switch",
]

COMPLETE = "complete"
MODEL = "model"
LOCK_NAME = "index.lock"


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


def open_for_writing(
    directory: str, backend: str, fingerprint: str, *, check: bool = False
) -> tuple[Store, str]:
    """The fingerprint's own index, made where there is none, and a note for the user (or an empty string).

    A damaged file is moved aside, never deleted, and built afresh; with `check` all of it is read to see
    whether it is damaged. Call it with the index lock held. Raises IndexTooNew, and StoreError where it can
    not be opened or read for now.
    """
    path = index_path(directory, backend, fingerprint)
    store = _undamaged(backend, path, check=check)
    if store is not None:
        return store, ""
    aside = set_aside(path)
    note = f"the index was damaged: it is built afresh (the old file is {aside})"
    return open_store(backend, path, create=True), note


def _undamaged(backend: str, path: str, *, check: bool) -> Store | None:
    try:
        store = open_store(backend, path, create=True)
    except (IndexDamaged, IndexReplaced):  # nobody else writes: what is missing is so for good
        return None
    with contextlib.ExitStack() as unless_sound:
        unless_sound.callback(store.close)
        if check and store.check():
            return None
        unless_sound.pop_all()
    return store


def predecessor(directory: str, backend: str, fingerprint: str) -> IndexFile | None:
    """The complete index made with other settings that the fingerprint's own is to take the place of.

    Raises StoreError where there may be one that cannot be read for now.
    """
    for file in index_files(directory, backend):
        if file.fingerprint == fingerprint:
            continue
        try:
            with contextlib.closing(open_store(backend, file.path, any_version=True)) as store:
                if store.meta(COMPLETE):
                    return file
        except StoreError as error:
            if not cannot_be_used(error):
                raise
    return None


def cannot_be_used(error: StoreError) -> bool:
    """Whether an index that could not be opened will not open another time either.

    It is damaged, empty, or of another version. Trouble of the disk passes, and what is behind it must not be
    taken for nothing.
    """
    return isinstance(error, NoIndex | IndexDamaged | IndexReplaced | IndexOutdated | IndexTooNew)


def forget_folder(backend: str, file: IndexFile, folder: str) -> None:
    """Notes in an index of an older version that a folder was removed, so that the index that takes its place
    will not have it. Raises StoreError."""
    with contextlib.closing(open_store(backend, file.path, any_version=True)) as store:
        store.set_meta(_removed(folder), "1")


def folders_of(backend: str, file: IndexFile) -> list[str]:
    """The folders of an index of any version, but for those removed since. Raises StoreError."""
    with contextlib.closing(open_store(backend, file.path, any_version=True)) as store:
        return [folder for folder in store.folders() if not store.meta(_removed(folder))]


def _removed(folder: str) -> str:
    return "removed:" + hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]


def switch(directory: str, backend: str, fingerprint: str, store: Store) -> None:
    """Makes the fingerprint's own index the one that is searched, and removes the others of its store.

    One that a newer release wrote stays: that release is in use here too, or will be again.
    """
    store.set_meta(COMPLETE, "1")
    for file in index_files(directory, backend):
        if file.fingerprint != fingerprint and not _is_newer(backend, file.path):
            remove(file.path)


def _is_newer(backend: str, path: str) -> bool:
    try:
        open_store(backend, path, any_version=True).close()
    except IndexTooNew:
        return True
    except StoreError:
        return False
    return False


def index_bytes(location: str, backend: str) -> int | None:
    """What the indexes take on disk; None for those at a URI, where only its provider knows."""
    sizes = [bytes_of(file.path) for file in index_files(location, backend)]
    return None if None in sizes else sum(size for size in sizes if size is not None)
