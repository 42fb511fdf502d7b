"""The text of a file inside the folders, as search, gather, grep and cat all show it."""

from __future__ import annotations

import os
import re

from ..corpus import Corpus
from ..errors import FolderError, NoIndex, StoreError
from ..folders import Folder
from ..reading import read
from ..stores import Stored
from ..types import Document, Skipped, SourceFile
from .scope import is_served, owner_of, resolve_scopes, served_folders


def find_file(corpus: Corpus, name: str) -> SourceFile:
    """The listed file of an absolute path, a path relative to here, or one relative to a folder.

    Links are resolved first. Raises FolderError, with one and the same message for what is outside and for
    what does not exist, so that nothing can be learned about other places.
    """
    from ..listing import list_files

    refused = FolderError(
        f"{name}: no indexed file inside the configured folders (see `semantic-search list`)"
    )
    known = corpus.known_folders()
    for path in _spellings(name, (*served_folders(corpus), *known)):
        owner = owner_of(path, known)
        if owner is None or not is_served(corpus, path):
            continue
        relative = os.path.relpath(path, owner.path).replace(os.sep, "/")
        listing = list_files(owner.path, corpus.listing_rules(owner.path))
        for file in listing.files:
            if file.path == relative:
                return file
        for skip in listing.skipped:
            if skip.source.path == relative:
                raise FolderError(f"{name}: not shown, {skip.reason.sentence}")
    raise refused


_ESCAPED_BYTE = re.compile(r"\\x([0-9a-f]{2})")


def listed_files(corpus: Corpus, directory: str) -> list[str]:
    """Paths of the files to be indexed at or below a directory, relative to it, in order.

    Raises FolderError when it is outside of the folders.
    """
    from ..listing import list_files

    found = []
    for scope, prefix in resolve_scopes(corpus, directory):
        for file in list_files(scope, corpus.listing_rules(scope)).files:
            if not prefix or file.path.startswith(prefix + "/"):
                found.append(os.path.relpath(file.absolute, directory).replace(os.sep, "/"))
    return sorted(found)


def _spellings(name: str, folders: tuple[Folder, ...]) -> list[str]:
    if "\0" in name:
        return []
    # A name that is not UTF-8 is shown with escapes, and is found by what was shown.
    unescaped = _ESCAPED_BYTE.sub(lambda found: os.fsdecode(bytes.fromhex(found[1])), name)
    return [path for spelling in dict.fromkeys((name, unescaped)) for path in _places(spelling, folders)]


def _places(name: str, folders: tuple[Folder, ...]) -> list[str]:
    expanded = os.path.expanduser(name)
    places = [os.path.abspath(expanded)]
    if not os.path.isabs(expanded):
        places += [os.path.join(folder.path, expanded) for folder in folders]
        for folder in folders:
            if expanded.startswith(folder.name + "/"):
                places.append(os.path.join(folder.path, expanded[len(folder.name) + 1 :]))
    resolved = [os.path.realpath(place) for place in places]
    return [place for place in dict.fromkeys(resolved) if os.path.isfile(place)]


def text_of(corpus: Corpus, source: SourceFile) -> Document | Skipped:
    """The text of a listed file as it is now.

    A document that takes long to extract comes from the index when the file is as it was.
    """
    rules = corpus.listing_rules(source.folder)
    if os.path.splitext(source.path)[1].lower() in rules.document_extensions:
        stored = stored_text(corpus, source)
        if stored is not None and stored.stamp == source.stamp:
            return Document(source, stored.sha256, stored.text, stored.language, stored.pages)
    return read(source, rules)


def stored_text(corpus: Corpus, source: SourceFile) -> Stored | None:
    """What the index keeps of a file, None where there is no index or nothing in it."""
    try:
        return corpus.reading()[0].document(source.folder, source.path)
    except (NoIndex, StoreError):
        return None
