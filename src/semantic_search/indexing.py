"""Indexing: what changed in a folder is read, cut and written, and what is gone is forgotten."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .changes import KnownRules, Look, changed_files, is_recorded, take_look
from .errors import unforeseen
from .outcomes import KnownHash, known_hashes, outcomes_of
from .passages import Cutter
from .pruning import to_forget
from .reading import fault_of
from .runs import FolderReport, Progress, RunOptions, Step
from .types import Document, Listing, Skipped, SourceFile

if TYPE_CHECKING:
    from .listing import ListingRules
    from .stores import Indexed, Known, Store
    from .workers.messages import Outcome


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

    A cutter is made only when a file is to be read. A `look` just taken is used where the index is as it was
    then. Raises FolderError when the folder cannot be listed, StoreError when the index cannot be written,
    ModelUnavailable; what was written until then stays.
    """
    known = store.known(report.path)
    # What another process wrote since may be newer than the look: it would be taken for gone.
    if look is None or look.known != known:
        look = take_look(report.path, listing_rules, known)
    seen_ns, listing = look.seen_ns, _within(look.listing, options.within)
    report.notes.extend(listing.notes)
    report.unread.extend(listing.unread)
    for path in listing.unread:
        report.complain(f"{path or '.'}: could not be read; what is known of the files in it stays")
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
    for skip in listing.skipped:
        report.count(skip)
    fresh = [skip for skip in listing.skipped if not is_recorded(skip, known.get(skip.source.path))]
    _record_skips(store, report.path, fresh, seen_ns)
    hashes: set[str] = set()
    if work:
        progress = Progress(len(work), sum(file.size for file in work), on_step)
        known_hash = known_hashes(known, force=options.force)
        writer = _Writer(store, make_cutter(), report, known_hash, options.max_files, seen_ns, progress)
        hashes = _read_and_write(writer, work, known, options)
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


def _record_skips(store: Store, folder: str, skips: Sequence[Skipped], seen_ns: int) -> None:
    """Writes reasons; those that may pass leave a file the passages it had."""
    for passing in (False, True):
        part = [skip for skip in skips if skip.reason.transient is passing]
        if part:
            store.write(folder, skipped=part, seen_ns=seen_ns, keep_passages=passing)


def _read_and_write(
    writer: _Writer, work: Sequence[SourceFile], known: Mapping[str, Known], options: RunOptions
) -> set[str]:
    """Reads, cuts and writes the files batch by batch; returns the hashes of what was read."""
    report = writer.report
    hashes: set[str] = set()
    read = 0
    coming = outcomes_of(writer.cutter, work, known, writer.known_hash, options)
    with contextlib.closing(coming) as batches_of_outcomes:
        for outcomes in batches_of_outcomes:
            writer.write(outcomes)
            hashes.update(_document(item).sha256 for item in outcomes if not isinstance(item, Skipped))
            read += len(outcomes)
            report.interrupted = read < len(work) and options.stop()
            if report.truncated or report.interrupted:
                break
    report.interrupted = report.interrupted or (read < len(work) and not report.truncated)
    return hashes


def _document(item: Document | Indexed) -> Document:
    return item if isinstance(item, Document) else item.document


class _Writer:
    """Cuts and writes what became of files, batch by batch, and counts it in the report.

    Of files that changed, `max_files` are indexed at most in the run; then the report is `truncated`.
    """

    def __init__(
        self,
        store: Store,
        cutter: Cutter,
        report: FolderReport,
        known_hash: KnownHash,
        max_files: int | None,
        seen_ns: int,
        progress: Progress,
    ) -> None:
        self._store, self.cutter, self.report, self.known_hash = store, cutter, report, known_hash
        self._max_files, self._seen_ns, self._progress = max_files, seen_ns, progress

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """Writes a batch. Raises StoreError, ModelUnavailable."""
        equal, changed = self._parted(outcomes)
        cut = self._cut(changed)
        skips = [item for item in (*outcomes, *cut) if isinstance(item, Skipped)]
        touched = [document.source for document in equal]
        gone = [skip for skip in skips if not skip.reason.transient]
        whole = [item for item in cut if not isinstance(item, Skipped)]
        indexed, unwritten = self._written(whole, gone, touched)
        transient = [skip for skip in skips if skip.reason.transient]
        _record_skips(self._store, self.report.path, [*transient, *unwritten], self._seen_ns)
        self._count(indexed, [*skips, *unwritten], touched)

    def _parted(self, outcomes: Sequence[Outcome]) -> tuple[list[Document], list[Document | Indexed]]:
        """The documents whose content is known, and those that changed, as far as there is room for them."""
        equal: list[Document] = []
        changed: list[Document | Indexed] = []
        for item in outcomes:
            if isinstance(item, Document) and item.sha256 == self.known_hash(item.source.path):
                equal.append(item)
            elif not isinstance(item, Skipped):
                changed.append(item)
        room = None if self._max_files is None else self._max_files - self.report.processed
        if room is not None and len(changed) > room:
            changed = changed[:room]
            self.report.truncated = True
        return equal, changed

    def _cut(self, changed: Sequence[Document | Indexed]) -> list[Indexed | Skipped]:
        """All of them cut: those that come from workers already are."""
        here = iter(self.cutter.cut([item for item in changed if isinstance(item, Document)]))
        return [next(here) if isinstance(item, Document) else item for item in changed]

    def _written(
        self, indexed: Sequence[Indexed], gone: Sequence[Skipped], touched: Sequence[SourceFile]
    ) -> tuple[Sequence[Indexed], list[Skipped]]:
        """Writes a batch in one go, or file by file where our code fails at it: what went in, what not."""
        folder, seen_ns = self.report.path, self._seen_ns
        try:
            self._store.write(folder, indexed, gone, touched, seen_ns=seen_ns)
        except unforeseen():
            pass
        else:
            return indexed, []
        written: list[Indexed] = []
        failed: list[Skipped] = []
        for item in indexed:
            try:
                self._store.write(folder, [item], seen_ns=seen_ns)
                written.append(item)
            except unforeseen() as error:
                failed.append(fault_of(item.document.source, error))
        self._store.write(folder, (), gone, touched, seen_ns=seen_ns)
        return written, failed

    def _count(
        self, indexed: Sequence[Indexed], skips: Sequence[Skipped], touched: Sequence[SourceFile]
    ) -> None:
        self.report.touched += len(touched)
        for item in indexed:
            self.report.processed += 1
            self.report.chunks += len(item.chunks)
            for note in item.document.notes:
                self.report.complain(f"{item.document.source.path}: {note}")
            self._progress.step(item.document.source, None, len(item.chunks))
        for skip in skips:
            self.report.count(skip)
            self._progress.step(skip.source, skip.reason, 0)
        for source in touched:
            self._progress.step(source, None, 0)


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
