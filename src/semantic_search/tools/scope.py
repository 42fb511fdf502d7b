"""Which folders and files a question is about, and the one way from an argument to a path.

Where the corpus serves only some directories, nothing outside of them is ever named by what comes from here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ..corpus import Corpus
from ..errors import FolderError, QueryError
from ..folders import Folder, folder_meant, is_inside, name_folders
from ..languages import languages as all_languages
from ..languages import resolve_language, with_sources
from ..stores import Filter
from ..suggestions import did_you_mean

Scope = tuple[str, str]
"""A folder's path and the relative path in it to which it is narrowed, empty for all of it."""


def resolve_filter(
    corpus: Corpus,
    folders: Sequence[str] | None,
    globs: Sequence[str],
    languages: Sequence[str],
    tags: Sequence[str] = (),
) -> Filter:
    """A filter for the arms from what a user typed. Raises FolderError, QueryError."""
    scopes = served_scopes(corpus)
    if folders:
        scopes = tuple(dict.fromkeys(scope for name in folders for scope in resolve_scopes(corpus, name)))
    resolved: list[str] = []
    for name in languages:
        language = resolve_language(name)
        if language is None:
            meant = did_you_mean(name, all_languages())
            raise QueryError(f"{name}: no language or kind of file is known by this name{meant}")
        resolved += with_sources(language)
    wanted_tags = tuple(tag for tag in tags if tag.strip("# /"))
    return Filter(scopes, tuple(glob for glob in globs if glob), tuple(resolved), wanted_tags)


def resolve_scopes(corpus: Corpus, name_or_path: str) -> tuple[Scope, ...]:
    """The scopes of a folder's name, its path, a path in it, or one in it that begins with its name.

    A folder that lies inside belongs to it. Raises FolderError.
    """
    known = corpus.known_folders()
    for path in _meant(corpus, name_or_path, known):
        if is_served(corpus, path):
            found = scopes_of(path, known)
        else:
            inside = (root for root in corpus.serve or () if is_inside(root, path))
            found = tuple(scope for root in inside for scope in scopes_of(root, known))
        if found:
            return found
    served = served_folders(corpus)
    names = ", ".join(folder.name for folder in served) or "none yet"
    meant = folder_meant(name_or_path, served)
    raise FolderError(f"{name_or_path}: not in an indexed folder{meant}. There are: {names}")


def _meant(corpus: Corpus, name: str, known: Sequence[Folder]) -> Iterator[str]:
    """The resolved paths that a name or path may stand for, the likeliest first."""
    named = [*served_folders(corpus), *known]
    yield from (folder.path for folder in named if folder.name == name)
    if "\0" in name:
        return
    for folder in named:
        if name.startswith(folder.name + "/"):
            path = os.path.realpath(os.path.join(folder.path, name[len(folder.name) + 1 :]))
            if os.path.exists(path):
                yield path
    path = os.path.realpath(os.path.abspath(os.path.expanduser(name)))
    # A mistyped name is no place in a folder; a folder whose disk is not mounted is still known.
    if os.path.exists(path) or any(folder.path == path for folder in named):
        yield path


def scopes_of(path: str, folders: Sequence[Folder]) -> tuple[Scope, ...]:
    """What holds the files at or below a resolved path: its owner, and the folders below it."""
    below = [(folder.path, "") for folder in folders if folder.path != path and is_inside(folder.path, path)]
    owner = owner_of(path, folders)
    if owner is None:
        return tuple(below)
    prefix = "" if path == owner.path else os.path.relpath(path, owner.path).replace(os.sep, "/")
    return ((owner.path, prefix), *below)


def served_scopes(corpus: Corpus) -> tuple[Scope, ...] | None:
    """All that the corpus serves, None where that is everything."""
    if corpus.serve is None:
        return None
    known = corpus.known_folders()
    return tuple(dict.fromkeys(scope for root in corpus.serve for scope in scopes_of(root, known)))


def served_folders(corpus: Corpus) -> tuple[Folder, ...]:
    """The directories that the corpus serves, by name; every known folder where it serves them all."""
    return corpus.known_folders() if corpus.serve is None else name_folders(corpus.serve)


def is_served(corpus: Corpus, path: str) -> bool:
    """Whether a resolved path lies in what the corpus serves."""
    return corpus.serve is None or any(is_inside(path, root) for root in corpus.serve)


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
