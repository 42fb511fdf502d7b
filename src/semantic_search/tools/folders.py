"""Add, list and remove folders, with what that means for the index."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from .. import index_files
from ..corpus import Corpus
from ..errors import NoIndex
from ..folders import Added, Folder, add_folders, configured_folders, find_folder, remove_folders
from ..settings import load_settings
from ..stores import open_store
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
    if listed:
        remove_folders(corpus.settings, listed)
    left = configured_folders(load_settings())
    if keep_index:
        return [Removed(folder, True) for folder in chosen]
    return _remove_passages(corpus, chosen, left)


def _remove_passages(corpus: Corpus, chosen: Sequence[Folder], left: Sequence[Folder]) -> list[Removed]:
    removed = []
    s = corpus.settings
    stores = [file.path for file in index_files.index_files(s.paths.index_directory, s.store)]
    try:
        corpus.reading()
    except NoIndex:
        return [Removed(folder, False) for folder in chosen]
    with corpus.locked_index():
        for folder in chosen:
            owner = owner_of(folder.path, left)
            for path in stores:
                store = open_store(s.store, path)
                try:
                    if folder.path not in store.folders():
                        continue
                    if owner is None:
                        store.remove_folder(folder.path)
                    else:
                        prefix = os.path.relpath(folder.path, owner.path).replace(os.sep, "/") + "/"
                        store.move_files(folder.path, owner.path, prefix)
                finally:
                    store.close()
            removed.append(Removed(folder, False, owner.name if owner else ""))
    return removed
