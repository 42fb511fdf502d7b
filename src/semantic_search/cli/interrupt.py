"""Ctrl-C and SIGTERM as a wish to stop at the next good place."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from . import INTERRUPTED
from .session import note

GRACE = 1.0
"""Seconds that a process has to end by itself after the second signal."""


@contextlib.contextmanager
def until_interrupted() -> Iterator[Callable[[], bool]]:
    """A function that says whether to stop. The first signal only asks; a second Ctrl-C ends at once.

    Even then nothing is damaged: every write is a transaction.
    """
    asked: list[int] = []
    # Threads are waited for, and one may wait for ever, for a file on a network that is gone.
    timer = threading.Timer(GRACE, _end)
    timer.daemon = True

    def handle(number: int, _frame: FrameType | None) -> None:
        asked.append(number)
        if len(asked) > 1:
            if len(asked) == 2:
                timer.start()
            raise KeyboardInterrupt
        note("stopping after the batch under way … (Ctrl-C again to stop at once)")

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _end() -> None:
    # The bar hid the cursor of the terminal, and nobody else comes to show it again.
    cursor = "\x1b[?25h\n" if sys.stderr.isatty() else ""
    text = f"{cursor}interrupted in the middle of a file or passage; what was written is kept\n"
    os.write(2, text.encode())
    os._exit(INTERRUPTED)
