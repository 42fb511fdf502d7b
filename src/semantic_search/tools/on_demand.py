"""A folder that is asked about before it was ever indexed is indexed first."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..corpus import Corpus
from ..embedding import fill_vectors
from ..errors import ModelUnavailable, NoIndex, StoreError
from .index import Request, index
from .scope import owner_of

# How long a search waits for the vectors of a folder it had to index, in seconds; words work at once.
EMBED_SECONDS = 20.0


def index_what_is_missing(corpus: Corpus, folders: Sequence[str]) -> None:
    """Indexes those of the folders (names or paths) that are directories and not in the index yet.

    Text first, then vectors within a time budget. Raises FolderError, IndexBusy, StoreError.
    """
    if corpus.settings.read_only:
        return
    named = {folder.name: folder.path for folder in corpus.known_folders()}
    for name in folders:
        path = named.get(name) or os.path.realpath(os.path.abspath(os.path.expanduser(name)))
        if not os.path.isdir(path) or _indexed(corpus, path):
            continue
        corpus.note(f"{name} is not indexed yet: indexing it first")
        run = index(corpus, Request(path, threads=corpus.settings.threads, embed=False))
        for report in run.failed:
            corpus.note(report.error)
        _embed(corpus)
        if not run.failed and not _indexed(corpus, path):
            _switch(corpus, path, name)


def _switch(corpus: Corpus, path: str, name: str) -> None:
    """Has an index that was renewed on the way searched, which only a run does that finds it whole."""
    index(corpus, Request(path, threads=corpus.settings.threads, embed=False))
    if not _indexed(corpus, path):
        raise StoreError(
            f"{name} is only in the index that takes the old one's place when it is whole: "
            "run `semantic-search index`, then search again"
        )


def _indexed(corpus: Corpus, path: str) -> bool:
    try:
        indexed = set(corpus.reading()[0].folders())
    except NoIndex:
        return False
    owner = owner_of(path, corpus.known_folders())
    return owner is not None and owner.path in indexed


def _embed(corpus: Corpus) -> None:
    try:
        embedder = corpus.embedder
        with corpus.writing() as store:
            fill_vectors(store, embedder, threads=corpus.settings.threads, seconds=EMBED_SECONDS)
    except ModelUnavailable as error:
        corpus.note(str(error))
