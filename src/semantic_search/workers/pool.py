"""The indexer's side of its workers: batches go out, passages come back in the order of the batches."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait

from ..formats.worker import Died, Unstarted, Worker
from ..passages import Cutter, Recipe
from ..types import Skip, Skipped, SourceFile
from .messages import Outcome, outcomes_of, recipe_frame, request_frame

MOST_WORKERS = 3
"""More do not help: the process that writes cannot keep up with four."""

LEAST_BYTES = 4_000_000
"""Less text is cut in the time that workers take to start."""

# Seconds. Documents have limits of their own; a batch that takes so long never ends.
_BATCH_LIMIT = 3600.0
_START_LIMIT = 120.0
_LOOK = 0.1


class WorkerPool:
    """Up to `size` workers that cut by one recipe, started when they are needed.

    `cutter` cuts by the same recipe in this process: it reads what no worker can be had for. `module` is what
    a worker runs, `path` where else it is looked for.
    """

    def __init__(
        self,
        cutter: Cutter,
        recipe: Recipe,
        size: int,
        *,
        module: str = f"{__package__}.child",
        path: Sequence[str] = (),
    ) -> None:
        self._module, self._path = module, tuple(path)
        self._cutter, self._recipe, self._size = cutter, recipe, size
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._closed = False
        self._refusal = ""

    @property
    def pids(self) -> list[int]:
        """The processes of the workers that live."""
        with self._lock:
            return [worker.pid for worker in (*self._idle, *self._busy)]

    def cut(
        self,
        batches: Sequence[Sequence[SourceFile]],
        known_hash: Callable[[str], str] = lambda _: "",
        stop: Callable[[], bool] = lambda: False,
    ) -> Iterator[list[Outcome]]:
        """What became of the files of each batch, in order. It is asked once; the workers end with it.

        `known_hash` gives, by path, the hash of the content that need not be cut again, or an empty string:
        such a file comes back as a Document without text. Where no worker can be had, files come back as
        Documents that are still to be cut. Once `stop` says so no more batches come, but the first one always
        does: a run that is always stopped gets on too.
        """
        waiting: deque[tuple[Sequence[SourceFile], Future[list[Outcome] | None]]] = deque()
        left = iter(batches)
        first = True
        with ThreadPoolExecutor(self._size, thread_name_prefix="cut") as threads:
            try:
                while True:
                    # One more than there are workers, so that none waits while a batch is written.
                    while len(waiting) <= self._size and (batch := next(left, None)) is not None:
                        hashes = [known_hash(file.path) for file in batch]
                        waiting.append((batch, threads.submit(self._batch, batch, hashes)))
                    if not waiting:
                        return
                    batch, future = waiting.popleft()
                    done = False
                    while not done:
                        if not first and stop():
                            return
                        done = bool(wait([future], _LOOK).done)
                    first = False
                    outcomes = future.result()
                    yield [self._cutter.read(file) for file in batch] if outcomes is None else outcomes
            finally:
                self._close()
                threads.shutdown(cancel_futures=True)

    def _close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            for worker in self._busy:
                worker.kill()
        for worker in idle:
            worker.close()

    def _batch(self, files: Sequence[SourceFile], hashes: Sequence[str]) -> list[Outcome] | None:
        """What became of the files; None when no worker can be had."""
        try:
            try:
                return self._ask(files, hashes)
            except Died:
                # One file may be the cause. Each is asked for alone, so that the others are not lost.
                tried = len(files) == 1
                pairs = zip(files, hashes, strict=True)
                return [self._alone(file, known, tried=tried) for file, known in pairs]
        except Unstarted:
            return None

    def _alone(self, file: SourceFile, known: str, *, tried: bool) -> Outcome:
        if not tried:
            with contextlib.suppress(Died):
                return self._ask([file], [known])[0]
        # That worker may have been dead already: the judgement is that of one that saw no other file.
        try:
            return self._ask([file], [known], fresh=True)[0]
        except Died as death:
            return Skipped(file, *_cause(death))

    def _ask(
        self, files: Sequence[SourceFile], hashes: Sequence[str], *, fresh: bool = False
    ) -> list[Outcome]:
        worker = self._borrow(fresh=fresh)
        keep = False
        try:
            header, body = worker.exchange(*request_frame(files, hashes), _BATCH_LIMIT)
            keep = True
        except Died:
            if self._closed:
                raise CancelledError from None
            raise
        finally:
            self._return(worker, keep=keep)
        return outcomes_of(header, body, files[0].folder)

    def _borrow(self, *, fresh: bool) -> Worker:
        with self._lock:
            if self._closed:
                raise CancelledError
            if self._refusal:
                raise Unstarted(self._refusal)
            worker = self._idle.pop() if self._idle and not fresh else None
            if worker is not None:
                self._busy.add(worker)
                return worker
        return self._enlisted(self._started())

    def _enlisted(self, worker: Worker) -> Worker:
        with self._lock:
            self._busy.add(worker)
            if self._closed:
                worker.kill()
        return worker

    def _started(self) -> Worker:
        """A new worker that knows the recipe. Raises Unstarted, from then on at once."""
        worker = None
        try:
            worker = Worker(0, self._path, module=self._module)
            header, _ = worker.exchange(*recipe_frame(self._recipe), _START_LIMIT)
            if header.get("fingerprint") == self._cutter.fingerprint:
                return worker
            self._refusal = str(header.get("refused", "it has another model"))
        except Died as death:
            self._refusal = f"it ended with status {death.status}"
        except Unstarted as error:
            self._refusal = str(error)
        if worker is not None:
            worker.close()
        raise Unstarted(self._refusal)

    def _return(self, worker: Worker, *, keep: bool) -> None:
        with self._lock:
            self._busy.discard(worker)
            if keep and not self._closed:
                self._idle.append(worker)
                return
        worker.close()


def _cause(death: Died) -> tuple[Skip, str]:
    """What the death of a worker that had one file says about the file."""
    if death.expired:
        return Skip.TIMED_OUT, ""
    ended = f"status {death.status}"
    with contextlib.suppress(ValueError):
        ended = signal.Signals(-death.status).name
    return Skip.FAULT, f"the process that cut it ended with {ended}"
