"""Which folders and files a question is about, and the one way from an argument to a path."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..corpus import Corpus
from ..errors import FolderError, QueryError
from ..folders import Folder, is_inside
from ..languages import resolve_language
from ..stores import Filter


def resolve_filter(
    corpus: Corpus, folders: Sequence[str] | None, globs: Sequence[str], languages: Sequence[str]
) -> Filter:
    """A filter for the arms from what a user typed. Raises FolderError, QueryError."""
    scopes = None if not folders else tuple(resolve_scope(corpus, name) for name in folders)
    resolved = []
    for name in languages:
        language = resolve_language(name)
        if language is None:
            raise QueryError(f"{name}: no language or kind of file is known by this name")
        resolved.append(language)
    return Filter(scopes, tuple(glob for glob in globs if glob), tuple(resolved))


def resolve_scope(corpus: Corpus, name_or_path: str) -> tuple[str, str]:
    """(folder path, relative prefix) of a folder's name, its path, or a path in it. Raises FolderError."""
    known = corpus.known_folders()
    for folder in known:
        if folder.name == name_or_path:
            return folder.path, ""
    path = os.path.realpath(os.path.abspath(os.path.expanduser(name_or_path)))
    owner = owner_of(path, known)
    if owner is None:
        names = ", ".join(folder.name for folder in known) or "none yet"
        raise FolderError(f"{name_or_path}: not in an indexed folder. There are: {names}")
    prefix = "" if path == owner.path else os.path.relpath(path, owner.path).replace(os.sep, "/")
    return owner.path, prefix


def owner_of(path: str, folders: Sequence[Folder]) -> Folder | None:
    """The innermost folder that a resolved path lies in."""
    return max(
        (folder for folder in folders if is_inside(path, folder.path)),
        key=lambda folder: len(folder.path),
        default=None,
    )


def folders_in(corpus: Corpus, wanted: Filter) -> list[Folder]:
    """The folders that a filter reaches."""
    known = corpus.known_folders()
    if wanted.scopes is None:
        return list(known)
    paths = {path for path, _ in wanted.scopes}
    return [folder for folder in known if folder.path in paths]
