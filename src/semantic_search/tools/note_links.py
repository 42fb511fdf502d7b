"""Where the links of a note lead: to files of its folder, as note-taking programs resolve them."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace

from ..notes import NOTE_LANGUAGES, NoteLink, heading_line, links_in
from ..stores import Store
from ..types import Hit

_ENDINGS = ("", ".md", ".markdown", ".mdx", ".org")


def with_links(store: Store, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, those of notes with what the links in their passage point at, links to nothing left out.

    A link to a heading has its line: `path:line`. Paths are relative to the folder of the hit.
    """
    folders: dict[str, _Folder] = {}
    found = []
    for hit in hits:
        links = links_in(hit.chunk.text) if hit.language in NOTE_LANGUAGES else []
        if links:
            folder = folders.setdefault(hit.folder, _Folder(store, hit.folder))
            targets = (folder.resolve(link, hit.path) for link in links)
            hit = replace(hit, links=tuple(dict.fromkeys(filter(None, targets))))
        found.append(hit)
    return found


class _Folder:
    """The files of a folder, by path and by name."""

    def __init__(self, store: Store, folder: str) -> None:
        self._store, self._folder = store, folder
        self._paths: dict[str, str] = {}
        self._names: dict[str, list[str]] = {}
        # Of files with the same name the one nearest to the top is meant.
        for path in sorted(store.known(folder), key=lambda path: (path.count("/"), path)):
            self._paths.setdefault(path.casefold(), path)
            self._names.setdefault(posixpath.basename(path).casefold(), []).append(path)

    def resolve(self, link: NoteLink, source: str) -> str:
        path = self._file(link.target, source) if link.target else source
        if not path or not link.heading:
            return path
        document = self._store.document(self._folder, path)
        line = heading_line(document.text, link.heading) if document is not None else None
        return f"{path}:{line}" if line is not None else path

    def _file(self, target: str, source: str) -> str:
        """The path in full or relative to the note, else the file of this name, with `.md` or as it is."""
        here = posixpath.dirname(source)
        places = (target.lstrip("/"), posixpath.join(here, target))
        for place in places:
            normal = posixpath.normpath(place).casefold()
            for ending in _ENDINGS:
                if (found := self._paths.get(normal + ending)) is not None:
                    return found
        for ending in _ENDINGS:
            for path in self._names.get(posixpath.basename(target).casefold() + ending, ()):
                if f"/{path}".casefold().endswith(f"/{target}{ending}".casefold()):
                    return path
        return ""
