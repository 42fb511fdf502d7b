"""A folder that is asked about before it was ever indexed is indexed first."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

from ..corpus import Corpus
from ..embedding import fill_vectors
from ..errors import ModelUnavailable, NoIndex, StoreError
from ..index_files import COMPLETE
from ..stores import EVERYTHING, Filter
from .index import Request, Watcher, index
from .scope import owner_of, scopes_of

# How long a search waits for the vectors of a folder it had to index, in seconds; words work at once.
EMBED_SECONDS = 20.0
# After so many of them it does not wait for what it would not have half of in time: a few vectors among many
# passages without one help no search.
TRIED_SECONDS = 3.0


def index_what_is_missing(corpus: Corpus, folders: Sequence[str], watcher: Watcher | None = None) -> None:
    """Indexes those of the folders (names or paths) that are directories and not in the index yet.

    Text first, then their vectors within a time budget. Raises FolderError, IndexBusy, StoreError.
    """
    if corpus.settings.read_only:
        return
    named = {folder.name: folder.path for folder in corpus.known_folders()}
    for name in folders:
        path = named.get(name) or os.path.realpath(os.path.abspath(os.path.expanduser(name)))
        if not os.path.isdir(path) or _indexed(corpus, path):
            continue
        corpus.note(f"{name} is not indexed yet: indexing it first")
        run = index(corpus, Request(path, threads=corpus.settings.threads, embed=False), watcher)
        if watcher is None:
            for report in run.failed:
                corpus.note(report.error)
        _embed(corpus, path, watcher or Watcher())
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


def _embed(corpus: Corpus, path: str, watcher: Watcher) -> None:
    pace = _Pace(watcher)
    try:
        embedder = corpus.embedder
        with corpus.writing() as store:
            # An index that is to take another one's place does so once all of it has its vectors.
            whole = not store.meta(COMPLETE)
            scopes = scopes_of(path, corpus.known_folders())
            fill_vectors(
                store,
                embedder,
                threads=corpus.settings.threads,
                stop=pace.is_hopeless,
                on_progress=pace.tell,
                seconds=EMBED_SECONDS,
                wanted=EVERYTHING if whole else Filter(scopes),
            )
    except ModelUnavailable as error:
        corpus.note(str(error))


class _Pace:
    """How fast the vectors come, for a watcher, and whether it is worth while to wait for them."""

    def __init__(self, watcher: Watcher, clock: Callable[[], float] = time.monotonic) -> None:
        self._watcher, self._clock, self._began = watcher, clock, clock()
        self._done = self._total = 0

    def tell(self, done: int, total: int) -> None:
        if not done:
            self._began = self._clock()  # the model is there
        self._done, self._total = done, total
        self._watcher.embedding(done, total)

    def is_hopeless(self) -> bool:
        elapsed = self._clock() - self._began
        return elapsed > TRIED_SECONDS and 0 < self._done * EMBED_SECONDS < self._total * elapsed / 2
