"""Add, list and remove folders, with what that means for the index."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .. import index_files
from ..corpus import Corpus
from ..errors import StoreError
from ..folders import Added, Folder, add_folders, find_folder, remove_folders
from ..stores import Store, open_store
from .scope import owner_of


@dataclass(frozen=True, slots=True)
class Removed:
    """A folder that was removed. `covered_by` is the configured folder that goes on holding its files."""

    folder: Folder
    kept_index: bool
    covered_by: str = ""


def add(corpus: Corpus, paths: Sequence[str], *, force: bool = False) -> list[Added]:
    """Adds folders to the configuration, all or none. Raises FolderError, SettingsError."""
    return add_folders(corpus.settings, paths, force=force)


def remove(corpus: Corpus, names: Sequence[str], *, keep_index: bool = False) -> list[Removed]:
    """Removes folders by name or path, and their passages unless `keep_index`.

    Passages that another configured folder still covers are handed to it. A folder that was only indexed by
    path is removed from the index. Raises FolderError, IndexBusy, SettingsError.
    """
    known = corpus.known_folders()
    chosen = list(dict.fromkeys(find_folder(known, name) for name in names))
    configured = {folder.path for folder in corpus.folders}
    listed = [folder.path for folder in chosen if folder.path in configured]
    location, backend = corpus.settings.index_location, corpus.settings.store
    kept = keep_index or corpus.settings.read_only
    owners: dict[str, Folder | None] = {}
    with contextlib.ExitStack() as stack:
        if not kept:
            left = [folder for folder in corpus.folders if folder not in chosen]
            owners = {folder.path: owner_of(folder.path, left) for folder in chosen}
            if index_files.index_files(location, backend):
                # The configuration comes last: where this is cut short the folder is still configured, and a
                # run puts back what went. The other way round its passages would be found for ever.
                stack.enter_context(corpus.locked_index())
                _remove_passages(corpus, owners)
        if listed:
            remove_folders(corpus.settings, listed)
    names_of = {path: owner.name if owner else "" for path, owner in owners.items()}
    return [Removed(folder, kept, names_of.get(folder.path, "")) for folder in chosen]


def _remove_passages(corpus: Corpus, owners: Mapping[str, Folder | None]) -> None:
    backend = corpus.settings.store
    for file in index_files.index_files(corpus.settings.index_location, backend):
        try:
            store = open_store(backend, file.path)
        except StoreError as error:
            if not index_files.cannot_be_used(error):
                raise
            corpus.note(str(error))
            with contextlib.suppress(StoreError):  # nothing is taken over from an index that is damaged
                for path, owner in owners.items():
                    if owner is None:
                        index_files.forget_folder(backend, file, path)
            continue
        with contextlib.closing(store):
            _remove_from(store, owners)


def _remove_from(store: Store, owners: Mapping[str, Folder | None]) -> None:
    """Removes folders (by path) from a store, or hands their files to the folder that holds them now."""
    for path in set(owners).intersection(store.folders()):
        owner = owners[path]
        if owner is None:
            store.remove_folder(path)
        else:
            store.move_files(path, owner.path, os.path.relpath(path, owner.path).replace(os.sep, "/") + "/")
