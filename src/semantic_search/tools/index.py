"""Index: bring folders up to date, then make the vectors that are missing."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING

from .. import index_files
from ..corpus import Corpus
from ..embedding import LeftOut, fill_vectors, sentence_of
from ..engines import LOCAL, check_engine, ray_workers
from ..errors import FolderError, ModelUnavailable, StoreError
from ..folders import Folder, check_folder, is_inside, name_folders
from ..indexing import index_folder
from ..runs import FolderReport, RunOptions, Step
from ..stores import open_store
from .scope import Scope, owner_of, resolve_scopes, served_scopes

if TYPE_CHECKING:
    from ..models.embedder import Embedder
    from ..stores import Store


@dataclass(frozen=True, slots=True)
class Request:
    """What to index: everything configured, or the folder at `path` alone; and what embeds it (`engines`)."""

    path: str | None = None
    force: bool = False
    max_files: int | None = None
    threads: int = 1
    embed: bool = True
    engine: str = LOCAL


@dataclass(slots=True)
class Run:
    """What a run did. `seconds` is wall-clock time, `pending` texts that still wait for a vector, `left_out`
    those of them that the model failed at."""

    reports: list[FolderReport] = field(default_factory=list)
    vectors: int = 0
    pending: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)
    left_out: LeftOut = field(default_factory=dict)

    @property
    def truncated(self) -> bool:
        """Whether `max_files` ended the run with work left."""
        return any(report.truncated for report in self.reports)

    @property
    def failed(self) -> list[FolderReport]:
        """Folders that could not be indexed, or not wholly."""
        return [report for report in self.reports if report.error]

    @property
    def whole(self) -> bool:
        """Whether every folder was indexed, and all that is in them could be read and embedded."""
        return not self.left_out and not any(
            report.error or report.failed or report.unread for report in self.reports
        )


class Watcher:
    """Told what happens during a run, in order. The base one ignores everything."""

    def folder_starts(self, number: int, total: int, folder: Folder) -> None:
        """A folder is about to be indexed."""

    def step(self, step: Step) -> None:
        """A file was indexed or skipped."""

    def folder_ends(self, report: FolderReport) -> None:
        """A folder is done, or failed."""

    def embedding(self, done: int, total: int) -> None:
        """So many of the waiting texts have a vector now."""


def index(
    corpus: Corpus,
    request: Request,
    watcher: Watcher | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Run:
    """Indexes the folders, text first, then vectors; goes on where an earlier run stopped.

    A folder that is missing or cannot be listed is reported and the others go on. `stop` is asked between
    files and batches; what was committed stays. Raises FolderError, IndexBusy, StoreError, SettingsError.
    """
    began = time.monotonic()
    watcher = watcher or Watcher()
    run = Run()
    check_engine(request.engine)
    targets = _what_to_index(corpus, request)
    with corpus.writing(stop=stop, check=request.force) as store:
        # Opened when something is to be cut or embedded: most runs find nothing changed.
        model = cache(partial(_embedder, corpus, run))
        targets = _with_predecessor(corpus, store, targets, run)
        folders = [folder for folder, _ in targets]
        _absorb(corpus, store, folders)
        for number, (folder, within) in enumerate(targets, 1):
            if stop() or run.truncated:
                run.interrupted = run.interrupted or stop()
                break
            watcher.folder_starts(number, len(targets), folder)
            report = _index_one(corpus, store, model, folder, within, request, run, watcher, stop)
            run.reports.append(report)
            watcher.folder_ends(report)
        waiting = store.pending_count() if request.embed and not run.interrupted else 0
        if waiting and (embedder := model()) is not None:
            run.vectors = _embed(corpus, store, embedder, request, watcher, stop, run.left_out)
            run.notes += filter(None, [sentence_of(run.left_out)])
            run.interrupted = run.interrupted or stop()
        run.pending = store.pending_count()
        _finish(corpus, store, folders, run)
    run.seconds = time.monotonic() - began
    return run


def _embed(
    corpus: Corpus,
    store: Store,
    embedder: Embedder,
    request: Request,
    watcher: Watcher,
    stop: Callable[[], bool],
    left_out: LeftOut,
) -> int:
    """Makes the vectors that are missing, here or on workers; returns how many."""
    fill = partial(fill_vectors, store, stop=stop, on_progress=watcher.embedding, left_out=left_out)
    if request.engine == LOCAL:
        return fill(embedder, threads=request.threads)
    s = corpus.settings
    with ray_workers(
        request.engine,
        s.model,
        embedder.fingerprint,
        embedder.dimension,
        threads=request.threads,
        allow_download=s.allow_download,
    ) as workers:
        return fill(workers, threads=1, batch_size=workers.batch)


Target = tuple[Folder, str]
"""A folder, and the subdirectory (relative path) to which the run in it is limited, empty for all of it."""


def _what_to_index(corpus: Corpus, request: Request) -> list[Target]:
    if request.path is None:
        if corpus.serve is not None:
            return _targets(corpus, served_scopes(corpus) or ())
        if not corpus.folders:
            raise FolderError("no folder is configured: run `semantic-search add PATH` first")
        return [(folder, "") for folder in corpus.folders]
    if corpus.serve is not None:
        return _targets(corpus, resolve_scopes(corpus, request.path))
    path = os.path.realpath(os.path.expanduser(request.path))
    if not os.path.exists(path):
        # A folder's name, where no directory here is called so.
        path = next((folder.path for folder in corpus.folders if folder.name == request.path), path)
    if not any(folder.path == path for folder in corpus.folders):  # those were checked when they were added
        path = check_folder(request.path, force=request.force)
    owner = owner_of(path, corpus.known_folders())
    if owner is None:
        return [(name_folders([path])[0], "")]
    return [(owner, "" if owner.path == path else os.path.relpath(path, owner.path).replace(os.sep, "/"))]


def _targets(corpus: Corpus, scopes: Sequence[Scope]) -> list[Target]:
    """The folders of scopes. Raises FolderError when there are none: nothing is served then."""
    if not scopes:
        raise FolderError("no folder is configured: run `semantic-search add PATH` first")
    folders = {folder.path: folder for folder in corpus.known_folders()}
    return [(folders[path], prefix) for path, prefix in scopes]


def _embedder(corpus: Corpus, run: Run) -> Embedder | None:
    try:
        return corpus.embedder
    except ModelUnavailable as error:
        if _replaces_vectors(corpus):
            raise  # an index with vectors is not given up for one without
        run.notes.append(f"indexed for search by words alone: {error}")
        return None


def _replaces_vectors(corpus: Corpus) -> bool:
    """Whether an index made with other settings is to be replaced that has vectors."""
    s = corpus.settings
    old = index_files.predecessor(s.index_location, s.store, corpus.fingerprint())
    if old is None:
        return False
    try:
        with contextlib.closing(open_store(s.store, old.path, any_version=True)) as store:
            return store.has_vectors()
    except StoreError:
        return True


def _with_predecessor(corpus: Corpus, store: Store, targets: list[Target], run: Run) -> list[Target]:
    """What to index; where an index made with other settings is to be replaced, all that is in it as well."""
    if store.meta(index_files.COMPLETE):
        return targets
    s = corpus.settings
    old = index_files.predecessor(s.index_location, s.store, corpus.fingerprint())
    if old is None:
        return targets
    run.notes.append(
        "settings changed: the index is rebuilt beside the old one, which serves searches meanwhile"
    )
    paths: list[str] = []
    try:
        paths = index_files.folders_of(s.store, old)
        store.adopt_vectors(old.path)
    except StoreError as error:
        if not index_files.cannot_be_used(error):
            raise
        run.notes.append("the old index is damaged: what could not be taken over from it is made anew")
    wanted = [folder.path for folder in (*(folder for folder, _ in targets), *corpus.folders)]
    everything = name_folders(wanted + [path for path in paths if not _covered(path, wanted)])
    return [(folder, "") for folder in everything]


def _covered(path: str, folders: Sequence[str]) -> bool:
    return any(is_inside(path, folder) for folder in folders)


def _absorb(corpus: Corpus, store: Store, folders: Sequence[Folder]) -> None:
    """Folders once indexed by path that a configured folder holds now become part of it."""
    configured = {folder.path for folder in corpus.folders}
    for inner in store.folders():
        owner = owner_of(inner, corpus.folders)
        if inner not in configured and owner is not None:
            prefix = os.path.relpath(inner, owner.path).replace(os.sep, "/") + "/"
            store.move_files(inner, owner.path, prefix)


def _index_one(
    corpus: Corpus,
    store: Store,
    model: Callable[[], Embedder | None],
    folder: Folder,
    within: str,
    request: Request,
    run: Run,
    watcher: Watcher,
    stop: Callable[[], bool],
) -> FolderReport:
    report = FolderReport(folder.name, folder.path)
    left = None if request.max_files is None else request.max_files - sum(r.processed for r in run.reports)
    options = RunOptions(request.force, left, request.threads, stop, within)
    try:
        rules = corpus.listing_rules(folder.path)
        index_folder(store, lambda: corpus.cutter(folder.path, model()), rules, report, options, watcher.step)
    except FolderError as error:
        report.error = str(error)
    run.interrupted = run.interrupted or report.interrupted
    return report


def _finish(corpus: Corpus, store: Store, folders: Sequence[Folder], run: Run) -> None:
    if run.interrupted or run.truncated:
        return
    waiting = run.pending > len(run.left_out)
    if not store.meta(index_files.COMPLETE) and (run.failed or (waiting and _replaces_vectors(corpus))):
        run.notes.append("the old index stays in use until every folder is indexed again")
        return
    s = corpus.settings
    index_files.switch(s.index_location, s.store, corpus.fingerprint(), store)
    try:
        store.tidy()
    except StoreError as error:
        run.notes.append(str(error))
