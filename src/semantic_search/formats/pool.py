"""Extraction for several threads: lends each call a child, and reads what became of it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from ..types import Skip
from .outcome import Extracted, Refused, clean
from .worker import Died, Task, Unstarted, Worker

MEMORY_LIMIT = 1_500_000_000
"""Address space of one child in bytes, where the system can limit it."""

TIME_LIMIT = 60.0
"""Seconds one document may take, by the clock."""


class Pool:
    """Each call of `extract` gets a child of its own, which is kept for the next call.

    `formats` names, by lower-case suffix, the modules whose `extract(data)` runs in the child; `path` are
    folders they may be imported from besides the usual ones. At most `limit` children live at a time;
    `memory` is the address space of each, in bytes.
    """

    def __init__(
        self,
        formats: Mapping[str, str],
        *,
        limit: int = 4,
        memory: int = MEMORY_LIMIT,
        path: Sequence[str] = (),
    ) -> None:
        self._formats = formats
        self._memory = memory
        self._path = tuple(path)
        self._slots = threading.BoundedSemaphore(limit)
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._closings = 0

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def extract(
        self,
        suffix: str,
        data: bytes,
        *,
        seconds: float = TIME_LIMIT,
        options: Mapping[str, Any] | None = None,
    ) -> Extracted | Refused:
        """The text of a document, or why there is none. Never raises because of what `data` holds.

        `options` are arguments of the module's `extract`, of types that JSON has.

        Raises KeyError for a suffix that is no format. A child that dies or runs out of time or memory is a
        `Refused`; the next document gets a new one.
        """
        target = self._formats[suffix.lower()]
        if not data:
            return Refused(Skip.EMPTY)
        with self._slots:
            try:
                return self._attempt(Task(target, seconds, options or {}), data)
            except Unstarted as error:
                return Refused(Skip.UNREADABLE, f"the extraction process could not be started: {error}")

    def close(self) -> None:
        """End the idle children now, those at work when they are done. The pool stays usable."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._closings += 1
        for worker in idle:
            worker.close()

    def _attempt(self, task: Task, data: bytes) -> Extracted | Refused:
        worker, closings = self._borrow()
        keep = False
        try:
            header, body = worker.ask(task, data)
            outcome = _outcome(header, body)
            keep = header.get("last") is False
        except Died as death:
            if death.expired or worker.served == 1:
                return _cause(death)
        except ValueError as error:
            return Refused(Skip.DAMAGED, f"the extraction process answered nonsense: {error}")
        else:
            return outcome
        finally:
            self._return(worker, closings, keep=keep)
        # An earlier document may have harmed this child: the judgement is that of one that saw no other.
        return self._attempt_alone(task, data)

    def _attempt_alone(self, task: Task, data: bytes) -> Extracted | Refused:
        worker = Worker(self._memory, self._path)
        try:
            return _outcome(*worker.ask(task, data))
        except Died as death:
            return _cause(death)
        except ValueError as error:
            return Refused(Skip.DAMAGED, f"the extraction process answered nonsense: {error}")
        finally:
            worker.close()

    def _borrow(self) -> tuple[Worker, int]:
        with self._lock:
            closings = self._closings
            if self._idle:
                return self._idle.pop(), closings
        return Worker(self._memory, self._path), closings

    def _return(self, worker: Worker, closings: int, *, keep: bool) -> None:
        with self._lock:
            if keep and closings == self._closings:
                self._idle.append(worker)
                return
        worker.close()


def _outcome(header: dict[str, Any], body: bytes) -> Extracted | Refused:
    """The value a frame stands for; raises ValueError for nonsense: a document may control the child."""
    if "refused" in header:
        return Refused(Skip(header["refused"]), _line(header.get("detail")))
    text = body.decode("utf-8")
    if clean(text) != text:
        raise ValueError("text that is not clean")
    pages, notes = header.get("pages"), header.get("notes")
    if not isinstance(pages, list) or not isinstance(notes, list):
        raise ValueError("no pages or notes")
    if not all(type(page) is int and 0 <= page <= len(text) for page in pages) or pages != sorted(pages):
        raise ValueError("pages outside of the text")
    return Extracted(text, tuple(pages), tuple(_line(note) for note in notes))


def _line(message: object) -> str:
    return " ".join(clean(str(message or "")).split())[:200]


def _cause(death: Died) -> Refused:
    """What a child's death says about the document."""
    if death.expired or death.status == -getattr(signal, "SIGXCPU", 0):
        return Refused(Skip.TIMED_OUT)
    # A parser that is refused memory aborts, and the system's own killer kills. The rest are bad pointers.
    starved = {-getattr(signal, name, 0) for name in ("SIGABRT", "SIGTRAP", "SIGILL", "SIGKILL")}
    if death.status in starved - {0}:
        return Refused(Skip.TOO_COMPLEX, "the extraction process gave up, probably for want of memory")
    return Refused(Skip.DAMAGED, f"the extraction process ended with status {death.status}")
