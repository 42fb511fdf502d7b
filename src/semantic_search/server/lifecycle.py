"""The end of a server: end of input, a signal, or the death of the client, whatever is under way.

Long work is asked to stop and given a moment; then the process ends, hard. Nothing is lost by that: every
write to the index is a transaction, and extraction children end with their parent.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType

# Seconds from the end of input to the end of the process, at most. Calls under way may be answered meanwhile.
GRACE = 1.5
_PARENT_LOOKS = 0.5


class Lifecycle:
    """Whether the server is to end, and the thread that sees to it that it does."""

    def __init__(self, *, leave: Callable[[int], None] = os._exit) -> None:
        self._leave = leave
        self._stopping = threading.Event()
        self._idle = threading.Event()
        self._gone = threading.Event()
        self._threads: list[threading.Thread] = []

    def stopping(self) -> bool:
        """Whether the server is to end."""
        return self._stopping.is_set()

    def wait(self, seconds: float) -> bool:
        """Waits, or until the server is to end; whether it is."""
        return self._stopping.wait(seconds)

    def spawn(self, name: str, work: Callable[[], None]) -> None:
        """Starts work in a thread, which has to look at `stopping` and does not keep the process alive."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(threading.Thread(target=work, name=name, daemon=True))
        self._threads[-1].start()

    def join(self, seconds: float) -> None:
        """Waits for the threads that were started, for so many seconds each."""
        for thread in self._threads:
            thread.join(seconds)

    def end(self, status: int = 0, *, grace: float = GRACE) -> None:
        """Has the process end with this status after `grace` seconds, or once `finished` was called."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        threading.Thread(target=self._last, args=(status, grace), name="mcp-end", daemon=True).start()

    def finished(self) -> None:
        """Says that nothing is left to be answered."""
        self._idle.set()

    def wait_for_the_end(self) -> None:
        """Never comes back in a process that is to end."""
        self._gone.wait()

    def _last(self, status: int, grace: float) -> None:
        self._idle.wait(grace)
        self._leave(status)
        self._gone.set()

    def watch(self) -> None:
        """Ends the process upon a signal to, and when its parent is gone. Call it from the main thread."""
        for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGBREAK"):
            number = getattr(signal, name, None)
            if number is not None:
                signal.signal(number, self._on_signal)
        parent = os.getppid()
        if os.name == "posix" and parent > 1:
            threading.Thread(
                target=self._watch_parent, args=(parent,), name="mcp-parent", daemon=True
            ).start()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self.end(128 + number, grace=0.5)

    def _watch_parent(self, parent: int) -> None:
        # End of input tells most deaths; not where another child of the client holds the pipe open.
        while os.getppid() == parent:
            time.sleep(_PARENT_LOOKS)
        self.end()
