"""Which files a filter lets through."""

from __future__ import annotations

from collections.abc import Iterable, Set
from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import QueryError
from ..notes import has_tag
from .rows import Filter, text_to_tags

if TYPE_CHECKING:
    import pathspec


def files_wanted(files: Iterable[tuple[int, str, str, str, str]], wanted: Filter) -> list[int]:
    """Ids of the files (id, folder, path, language, tags as text) that pass, in their order.

    Raises QueryError.
    """
    include = _spec(tuple(glob for glob in wanted.globs if not glob.startswith("!")))
    exclude = _spec(tuple(glob[1:] for glob in wanted.globs if glob.startswith("!")))
    scopes: dict[str, set[str]] = {}
    for folder, prefix in wanted.scopes or ():
        scopes.setdefault(folder, set()).add(prefix)
    return [
        id_
        for id_, folder, path, language, tags in files
        if (wanted.scopes is None or _in_scope(path, scopes.get(folder)))
        and (not wanted.languages or language in wanted.languages)
        and (not wanted.tags or _is_tagged(tags, wanted.tags))
        and (include is None or include.match_file(_unicode(path)))
        and (exclude is None or not exclude.match_file(_unicode(path)))
    ]


def _is_tagged(tags: str, wanted: tuple[str, ...]) -> bool:
    own = text_to_tags(tags)
    return bool(own) and any(has_tag(own, tag) for tag in wanted)


def _in_scope(path: str, prefixes: Set[str] | None) -> bool:
    """Whether a path is one of its folder's prefixes, or below one."""
    if prefixes is None:
        return False
    while path not in prefixes:
        if not path:
            return False
        path = path.rpartition("/")[0]
    return True


def _unicode(path: str) -> str:
    """Bytes that are not UTF-8 as characters for private use: pathspec encodes what it matches."""
    return path if path.isascii() else path.translate(_PRIVATE)


_PRIVATE = {0xDC00 + byte: 0xF700 + byte for byte in range(0x80, 0x100)}


@lru_cache(maxsize=64)
def _spec(globs: tuple[str, ...]) -> pathspec.GitIgnoreSpec | None:
    if not globs:
        return None
    import pathspec

    try:
        return pathspec.GitIgnoreSpec.from_lines(map(_unicode, globs))
    except ValueError as error:
        raise QueryError(f"the glob cannot be read: {error}") from error
