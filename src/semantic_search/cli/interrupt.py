"""Ctrl-C and SIGTERM as a wish to stop at the next good place."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

from .session import note


@contextlib.contextmanager
def until_interrupted() -> Iterator[Callable[[], bool]]:
    """A function that says whether to stop. The first signal only asks; a second Ctrl-C ends at once.

    Even then nothing is damaged: every write is a transaction.
    """
    asked: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        note("stopping after the batch under way … (Ctrl-C again to stop at once)")

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
