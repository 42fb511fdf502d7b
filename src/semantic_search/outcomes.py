"""What became of files that are to be read, batch by batch: cut by workers, or read here to be cut."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

from .passages import Cutter
from .runs import RunOptions
from .types import Document, Skip, Skipped, SourceFile

if TYPE_CHECKING:
    from .stores import Known
    from .workers.messages import Outcome

BATCH_FILES = 64
BATCH_BYTES = 2_000_000

KnownHash = Callable[[str], str]
"""The hash, by path, of the content that the index has of a file and need not get again; empty for none."""


def known_hashes(known: Mapping[str, Known], *, force: bool) -> KnownHash:
    """Those of what is known of a folder; with `force` everything is got again."""

    def known_hash(path: str) -> str:
        row = known.get(path)
        return "" if force or row is None or row.reason is not None else row.sha256

    return known_hash


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


def outcomes_of(
    cutter: Cutter,
    work: Sequence[SourceFile],
    known: Mapping[str, Known],
    known_hash: KnownHash,
    options: RunOptions,
) -> Generator[Sequence[Outcome]]:
    """What became of files of one folder, batch by batch, suspects first; each file once.

    A Document is still to be cut, unless its content is known. It ends early once `options.stop` says so,
    with one file at least: a run that is always stopped gets on too. Close it when it is left before its end.
    Raises ModelUnavailable.
    """
    from .workers.pool import LEAST_BYTES, MOST_WORKERS, WorkerPool

    suspects = _suspects(cutter, work, known)
    if suspects and cutter.recipe is not None and cutter.suspects is not None:
        came = 0
        for outcomes in WorkerPool(cutter, cutter.recipe, 1).cut(
            list(batches(suspects)), known_hash, options.stop
        ):
            came += len(outcomes)
            yield [_never_here(item, known_hash) for item in outcomes]
        if came < len(suspects):
            return  # stopped: those that are left go on being suspects
        cutter.suspects.clear(suspects[0].folder)
        paths = {file.path for file in suspects}
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


def _suspects(cutter: Cutter, work: Sequence[SourceFile], known: Mapping[str, Known]) -> list[SourceFile]:
    """The files that may end the process that cuts them: one did that, or failed at them otherwise."""
    if cutter.recipe is None or cutter.suspects is None:
        return []
    noted = cutter.suspects.of_folder(work[0].folder)
    return [
        file
        for file in work
        if file.path in noted or ((row := known.get(file.path)) is not None and row.reason is Skip.FAULT)
    ]


def _never_here(item: Outcome, known_hash: KnownHash) -> Outcome:
    """What became of a suspect. One that no other process could be had for is not cut in this one."""
    if isinstance(item, Document) and item.sha256 != known_hash(item.source.path):
        return Skipped(item.source, Skip.FAULT, "no process could be started to cut it")
    return item


def _read_ahead(
    pool: ThreadPoolExecutor,
    cutter: Cutter,
    parts: Sequence[Sequence[SourceFile]],
    stop: Callable[[], bool],
) -> Iterator[list[Document | Skipped]]:
    """Results of each part in order, the next part being read meanwhile."""
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
    """Results in order; once `stop` says so the part ends early, with one file at least."""
    outcomes: list[Document | Skipped] = []
    for future in waiting:
        if outcomes and stop():
            break
        outcomes.append(future.result())
    return outcomes
