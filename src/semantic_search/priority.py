"""Work that gives way to whatever else the machine is doing."""

from __future__ import annotations

import contextlib
import os
import sys
import threading

NICENESS = 5
"""A third of the share that a program without niceness gets on a busy core; all of an idle one."""


def give_way() -> None:
    """Raises the niceness of the calling thread, and of what it starts, to `NICENESS`, if it is less.

    On Linux, where each thread has its own (sched(7)); elsewhere nothing happens: what other systems offer
    keeps such work off the quick cores even when these are idle.
    """
    if sys.platform != "linux":
        return
    thread = threading.get_native_id()
    with contextlib.suppress(OSError):
        if os.getpriority(os.PRIO_PROCESS, thread) < NICENESS:
            os.setpriority(os.PRIO_PROCESS, thread, NICENESS)
