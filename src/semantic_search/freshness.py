"""A cheap look at the disk before a search: what changed since the index was written goes into it first."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import partial

from .changes import Look, changed_files, is_recorded, take_look
from .corpus import Corpus
from .embedding import fill_vectors
from .errors import FolderError, IndexBusy, ModelUnavailable, SemanticSearchError
from .folders import Folder
from .indexing import index_folder
from .pruning import to_forget
from .runs import FolderReport, RunOptions, Step
from .stores import Filter, Store

# How long a search may be kept waiting for changed files, in seconds.
READ_SECONDS = 2.0
EMBED_SECONDS = 1.0
# Of more changed files than these, no vectors would be made in that time.
MOST_SCOPES = 100


def refresh(corpus: Corpus, folders: Sequence[Folder]) -> list[str]:
    """Brings changed files of the folders into the index, within a time budget; returns notes for the user.

    Never fails: what could not be done is a note. Vectors of what changed are made as far as time allows.
    """
    if corpus.settings.read_only:
        return []
    store, current = corpus.reading()
    if not current:
        return ["the index was made with other settings; run `semantic-search index` to renew it"]
    indexed = set(store.folders())
    looks = [(folder, _look(corpus, store, folder)) for folder in folders if folder.path in indexed]
    stale = [(folder, look) for folder, look in looks if look is not None]
    if not stale:
        return []
    try:
        with corpus.writing(wait=corpus.patience) as writable:
            return _bring_up_to_date(corpus, writable, stale)
    except IndexBusy:
        return ["another process is updating the index; newest changes may be missing"]
    except SemanticSearchError as error:
        return [f"recent changes could not be indexed: {error}"]


def _look(corpus: Corpus, store: Store, folder: Folder) -> Look | None:
    """The look at a folder that differs from what is known of it, None for one that does not."""
    try:
        look = take_look(folder.path, corpus.listing_rules(folder.path), store.known(folder.path))
    except FolderError:
        return None
    listing, known = look.listing, look.known
    if changed_files(listing.files, known, retry_failed=False):
        return look
    if not all(is_recorded(skip, known.get(skip.source.path)) for skip in listing.skipped):
        return look
    listed = {file.path for file in listing.files} | {skip.source.path for skip in listing.skipped}
    return look if any(to_forget(folder.path, known, listed, listing.unread, (), force=False)) else None


def _bring_up_to_date(corpus: Corpus, store: Store, stale: Sequence[tuple[Folder, Look]]) -> list[str]:
    end = time.monotonic() + READ_SECONDS
    notes = []
    changed: list[tuple[str, str]] = []
    embedder = corpus.embedder_or_none()
    for folder, look in stale:
        rules = corpus.listing_rules(folder.path)
        make_cutter = partial(corpus.cutter, folder.path, embedder)
        report = FolderReport(folder.name, folder.path)
        # A file that takes longer than its limit every time must not take that long at every search.
        options = RunOptions(
            threads=corpus.settings.threads,
            stop=lambda: time.monotonic() > end,
            retry_failed=False,
            workers=False,
        )
        steps: list[Step] = []
        index_folder(store, make_cutter, rules, report, options, steps.append, look=look)
        changed += [(folder.path, step.path) for step in steps if step.chunks]
        if report.interrupted:
            notes.append(f"{folder.name}: many files changed; run `semantic-search index` to index them all")
        elif report.error:
            notes.append(report.error)
    if embedder is not None and changed:
        # What waits for longer would take all the time there is, and what changed is what is being worked on.
        wanted = Filter(scopes=tuple(changed[:MOST_SCOPES]))
        threads = corpus.settings.threads
        try:
            fill_vectors(store, embedder, threads=threads, seconds=EMBED_SECONDS, wanted=wanted)
        except ModelUnavailable as error:
            notes.append(str(error))
    return notes


def changed_on_disk(folder: str, path: str, stamp: tuple[int, int, int, int]) -> bool:
    """Whether a file differs from its stamp (size, mtime, ctime, inode) now, or is gone."""
    try:
        found = os.lstat(os.path.join(folder, path))
    except OSError:
        return True
    return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino) != stamp
