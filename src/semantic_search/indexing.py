"""Indexing: a folder's files into passages, and passages into vectors. Nothing here prints."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .changes import KnownRules, Look, changed_files, is_recorded, take_look
from .errors import unforeseen
from .passages import Cutter
from .pruning import to_forget
from .types import Document, Listing, Skip, Skipped, SourceFile

if TYPE_CHECKING:
    from .listing import ListingRules
    from .stores import Indexed, Known, Store
    from .workers.messages import Outcome

BATCH_FILES = 64
BATCH_BYTES = 2_000_000
# A thousand files with one and the same trouble are told of by their number.
MOST_NOTES = 20


@dataclass(slots=True)
class FolderReport:
    """What a run did in one folder. Counts are files, except `chunks`; `unread` are directories (relative
    paths) that could not be listed, whose files are as they were."""

    name: str
    path: str
    processed: int = 0
    unchanged: int = 0
    touched: int = 0
    deleted: int = 0
    failed: int = 0
    chunks: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    truncated: bool = False
    interrupted: bool = False
    unread: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A file that was indexed or skipped in a run, and how far the run is in files and bytes."""

    path: str
    outcome: Skip | None
    chunks: int
    done: int
    total: int
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run: `force` reads every file again and allows pruning of most of a folder; `max_files` is the
    number of files to index at most (None: all), not counting those that turn out to be as they were or have
    no text; `stop` is asked between files; `within` is a subdirectory (relative path) to keep to.
    `retry_failed` reads files again that could not be read or took too long, though they look as they did.
    `workers` lets other processes cut where there is much to do."""

    force: bool = False
    max_files: int | None = None
    threads: int = 1
    stop: Callable[[], bool] = lambda: False
    within: str = ""
    retry_failed: bool = True
    workers: bool = True


def index_folder(
    store: Store,
    make_cutter: Callable[[], Cutter],
    listing_rules: ListingRules,
    report: FolderReport,
    options: RunOptions,
    on_step: Callable[[Step], None] = lambda _: None,
    look: Look | None = None,
) -> None:
    """Brings the index of a folder up to date with the disk and fills in the report.

    `options.within` limits the run to a subdirectory (relative path). A cutter is made only when a file is to
    be read. A `look` just taken is used where the index is as it was then. Raises FolderError when the folder
    cannot be listed, StoreError when the index cannot be written; what was written until then stays.
    """
    known = store.known(report.path)
    # What another process wrote since may be newer than the look: it would be taken for gone.
    if look is None or look.known != known:
        look = take_look(report.path, listing_rules, known)
    seen_ns, listing = look.seen_ns, _within(look.listing, options.within)
    report.notes.extend(listing.notes)
    report.unread.extend(listing.unread)
    for path in listing.unread:
        _complain(report, f"{path or '.'}: could not be read; what is known of the files in it stays")
    if options.within:
        known = {path: row for path, row in known.items() if _below(path, options.within)}
    rules = KnownRules(store, report.path, listing_rules)
    work = changed_files(
        listing.files,
        known,
        everything=options.force or rules.stricter,
        retry_skipped=rules.changed,
        retry_failed=options.retry_failed,
    )
    report.unchanged = len(listing.files) - len(work)
    _record_listed_skips(store, report, listing.skipped, known, seen_ns)
    hashes: set[str] = set()
    if work:
        hashes = _read_and_write(store, make_cutter(), report, work, known, options, seen_ns, on_step)
    if report.interrupted or report.truncated:
        return
    _prune(store, report, listing, known, hashes, force=options.force)
    if not options.within:
        rules.keep()
    store.record_run(report.path, datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"))


def _below(path: str, directory: str) -> bool:
    return not directory or path == directory or path.startswith(directory + "/")


def _within(listing: Listing, directory: str) -> Listing:
    if not directory:
        return listing
    return Listing(
        tuple(file for file in listing.files if _below(file.path, directory)),
        tuple(skip for skip in listing.skipped if _below(skip.source.path, directory)),
        tuple(path for path in listing.unread if _below(path, directory) or _below(directory, path)),
        listing.notes,
    )


def _record_listed_skips(
    store: Store, report: FolderReport, skipped: Sequence[Skipped], known: dict[str, Known], seen_ns: int
) -> None:
    for skip in skipped:
        _count(report, skip)
    fresh = [skip for skip in skipped if not is_recorded(skip, known.get(skip.source.path))]
    for passing in (False, True):
        part = [skip for skip in fresh if skip.reason.transient is passing]
        if part:
            store.write(report.path, skipped=part, seen_ns=seen_ns, keep_passages=passing)


def _count(report: FolderReport, skip: Skipped) -> None:
    reason = skip.reason
    report.skipped[reason.value] = report.skipped.get(reason.value, 0) + 1
    # A file that went away meanwhile is one file less, not one that something is wrong with.
    if reason.transient and reason is not Skip.VANISHED:
        report.failed += 1
        why = f"{reason.sentence} ({skip.detail})" if skip.detail else reason.sentence
        _complain(report, f"{skip.source.path}: {why}; it is tried again at the next run")


def _complain(report: FolderReport, sentence: str) -> None:
    if len(report.notes) < MOST_NOTES:
        report.notes.append(sentence)
    elif len(report.notes) == MOST_NOTES:
        report.notes.append(
            "… and more: `semantic-search status --skipped` lists files, `doctor` directories"
        )


def batches(files: Sequence[SourceFile]) -> Iterator[list[SourceFile]]:
    """Files in runs of bounded number and size, in order."""
    batch: list[SourceFile] = []
    size = 0
    for file in files:
        if batch and (len(batch) >= BATCH_FILES or size + file.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(file)
        size += file.size
    if batch:
        yield batch


def _read_and_write(
    store: Store,
    cutter: Cutter,
    report: FolderReport,
    work: Sequence[SourceFile],
    known: dict[str, Known],
    options: RunOptions,
    seen_ns: int,
    on_step: Callable[[Step], None],
) -> set[str]:
    """Reads, cuts and writes the files batch by batch; returns the hashes of what was read."""
    hashes: set[str] = set()
    read = 0
    progress = _Progress(len(work), sum(file.size for file in work), on_step)
    with contextlib.closing(_outcomes(cutter, work, known, options)) as batches_of_outcomes:
        for outcomes in batches_of_outcomes:
            _write_batch(store, cutter, report, outcomes, known, options, seen_ns, progress)
            hashes.update(_document(item).sha256 for item in outcomes if not isinstance(item, Skipped))
            read += len(outcomes)
            report.interrupted = read < len(work) and options.stop()
            if report.truncated or report.interrupted:
                break
    report.interrupted = report.interrupted or (read < len(work) and not report.truncated)
    return hashes


def _outcomes(
    cutter: Cutter, work: Sequence[SourceFile], known: dict[str, Known], options: RunOptions
) -> Generator[Sequence[Outcome]]:
    """What became of the files, batch by batch: by workers where there is enough to do, else read here."""
    from .workers.pool import LEAST_BYTES, MOST_WORKERS, WorkerPool

    def known_hash(path: str) -> str:
        return _known_hash(known.get(path), options)

    careful = _suspects(cutter, work, known)
    if careful and cutter.recipe is not None and cutter.suspects is not None:
        pool = WorkerPool(cutter, cutter.recipe, 1)
        for outcomes in pool.cut(list(batches(careful)), known_hash, options.stop):
            yield [_never_here(item, known_hash) for item in outcomes]
        cutter.suspects.clear(careful[0].folder)
        paths = {file.path for file in careful}
        work = [file for file in work if file.path not in paths]
    parts = list(batches(work))
    size = min(options.threads, MOST_WORKERS, len(parts))
    large = options.workers and sum(min(file.size, BATCH_BYTES) for file in work) >= LEAST_BYTES
    if size > 1 and large and cutter.recipe is not None and options.max_files is None:
        yield from WorkerPool(cutter, cutter.recipe, size).cut(parts, known_hash, options.stop)
        return
    with ThreadPoolExecutor(options.threads, thread_name_prefix="read") as threads:
        try:
            yield from _read_ahead(threads, cutter, parts, options.stop)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def _suspects(cutter: Cutter, work: Sequence[SourceFile], known: dict[str, Known]) -> list[SourceFile]:
    """The files that may end the process that cuts them: one did that, or failed at them otherwise."""
    if cutter.recipe is None or cutter.suspects is None:
        return []
    noted = cutter.suspects.of_folder(work[0].folder)
    return [
        file
        for file in work
        if file.path in noted or ((row := known.get(file.path)) is not None and row.reason is Skip.FAULT)
    ]


def _never_here(item: Outcome, known_hash: Callable[[str], str]) -> Outcome:
    """What became of a suspect. One that no other process could be had for is not cut in this one."""
    if isinstance(item, Document) and item.sha256 != known_hash(item.source.path):
        return Skipped(item.source, Skip.FAULT, "no process could be started to cut it")
    return item


def _known_hash(row: Known | None, options: RunOptions) -> str:
    """The hash of the content that the index has of a file and need not get again, empty for none."""
    return "" if options.force or row is None or row.reason is not None else row.sha256


def _document(item: Document | Indexed) -> Document:
    return item if isinstance(item, Document) else item.document


def _read_ahead(
    pool: ThreadPoolExecutor,
    cutter: Cutter,
    parts: Sequence[Sequence[SourceFile]],
    stop: Callable[[], bool],
) -> Iterator[list[Document | Skipped]]:
    """Results of each part in order, the next part being read meanwhile.

    Once `stop` says so a part ends early, with one file at least: a run that is always stopped gets on too.
    """
    waiting: list[Future[Document | Skipped]] = []
    for part in parts:
        reading = [pool.submit(cutter.read, file) for file in part]
        if waiting:
            yield _until(stop, waiting)
        waiting = reading
    if waiting:
        yield _until(stop, waiting)


def _until(
    stop: Callable[[], bool], waiting: Sequence[Future[Document | Skipped]]
) -> list[Document | Skipped]:
    outcomes: list[Document | Skipped] = []
    for future in waiting:
        if outcomes and stop():
            break
        outcomes.append(future.result())
    return outcomes


class _Progress:
    def __init__(self, total: int, total_bytes: int, on_step: Callable[[Step], None]) -> None:
        self._total, self._total_bytes, self._tell = total, total_bytes, on_step
        self._done = self._bytes = 0

    def step(self, source: SourceFile, outcome: Skip | None, chunks: int) -> None:
        self._done += 1
        self._bytes += source.size
        self._tell(
            Step(source.path, outcome, chunks, self._done, self._total, self._bytes, self._total_bytes)
        )


def _write_batch(
    store: Store,
    cutter: Cutter,
    report: FolderReport,
    outcomes: Sequence[Outcome],
    known: dict[str, Known],
    options: RunOptions,
    seen_ns: int,
    progress: _Progress,
) -> None:
    equal: list[Document] = []
    changed: list[Document | Indexed] = []
    for item in outcomes:
        if isinstance(item, Document) and item.sha256 == _known_hash(known.get(item.source.path), options):
            equal.append(item)
        elif not isinstance(item, Skipped):
            changed.append(item)
    room = None if options.max_files is None else options.max_files - report.processed
    if room is not None and len(changed) > room:
        changed = changed[:room]
        report.truncated = True
    here = iter(cutter.cut([item for item in changed if isinstance(item, Document)]))
    cut = [next(here) if isinstance(item, Document) else item for item in changed]
    indexed = [item for item in cut if not isinstance(item, Skipped)]
    skips = [item for item in (*outcomes, *cut) if isinstance(item, Skipped)]
    touched = [document.source for document in equal]
    gone = [skip for skip in skips if not skip.reason.transient]
    indexed, unwritten = _written(store, report.path, indexed, gone, touched, seen_ns)
    kept = [skip for skip in (*skips, *unwritten) if skip.reason.transient]
    dropped = [skip for skip in unwritten if not skip.reason.transient]
    skips += unwritten
    for part, passing in ((kept, True), (dropped, False)):
        if part:
            store.write(report.path, skipped=part, seen_ns=seen_ns, keep_passages=passing)
    report.touched += len(touched)
    for item in indexed:
        report.processed += 1
        report.chunks += len(item.chunks)
        for note in item.document.notes:
            _complain(report, f"{item.document.source.path}: {note}")
        progress.step(item.document.source, None, len(item.chunks))
    for skip in skips:
        _count(report, skip)
        progress.step(skip.source, skip.reason, 0)
    for source in touched:
        progress.step(source, None, 0)


def _written(
    store: Store,
    folder: str,
    indexed: list[Indexed],
    gone: Sequence[Skipped],
    touched: Sequence[SourceFile],
    seen_ns: int,
) -> tuple[list[Indexed], list[Skipped]]:
    """Writes a batch in one go, or file by file where our code fails at it: what went in, and what not."""
    from .reading import fault_of

    try:
        store.write(folder, indexed, gone, touched, seen_ns=seen_ns)
    except unforeseen():
        pass
    else:
        return indexed, []
    written: list[Indexed] = []
    failed: list[Skipped] = []
    for item in indexed:
        try:
            store.write(folder, [item], seen_ns=seen_ns)
            written.append(item)
        except unforeseen() as error:
            failed.append(fault_of(item.document.source, error))
    store.write(folder, (), gone, touched, seen_ns=seen_ns)
    return written, failed


def _prune(
    store: Store,
    report: FolderReport,
    listing: Listing,
    known: dict[str, Known],
    new_hashes: set[str],
    *,
    force: bool,
) -> None:
    listed = {file.path for file in listing.files} | {skip.source.path for skip in listing.skipped}
    gone, refusal = to_forget(report.path, known, listed, listing.unread, new_hashes, force=force)
    if refusal:
        report.notes.append(refusal)
        report.error = refusal
    if gone:
        store.forget(report.path, gone)
        report.deleted = len(gone)
