"""What a command costs as a process: time, CPU and memory, its children included."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cost:
    """A process: wall-clock and CPU seconds, peak resident megabytes, exit status, last line of stdout."""

    wall: float
    cpu: float
    peak: float
    status: int
    last: str


def measure(command: list[str], environment: dict[str, str] | None = None, stop_after: float = 0.0) -> Cost:
    """Runs a command; after `stop_after` seconds (0: never) asks it to stop as Ctrl-C does.

    Memory is the most that the process and its children hold together, pages that they share counted more
    than once; where there is no /proc, the most that one of them held.
    """
    began = time.monotonic()
    done = threading.Event()
    peaks = [0]
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env=environment)
        watcher = threading.Thread(target=_watch, args=(child.pid, peaks, done))
        watcher.start()
        timer = threading.Timer(stop_after, child.send_signal, [signal.SIGINT]) if stop_after else None
        if timer:
            timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        done.set()
        watcher.join()
        if timer:
            timer.cancel()
        out.seek(0)
        lines = out.read().splitlines()
    wall = time.monotonic() - began
    largest = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Cost(
        wall,
        usage.ru_utime + usage.ru_stime,
        (max(peaks) or largest) / 1e6,
        child.returncode,
        lines[-1] if lines else "",
    )


def _watch(pid: int, peaks: list[int], done: threading.Event) -> None:
    while True:
        peaks[0] = max(peaks[0], resident(pid))
        if done.wait(0.02):
            return


def resident(pid: int) -> int:
    """The bytes that a process and its children hold in memory now; 0 where the system does not tell."""
    total = 0
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                total = int(line.split()[1]) * 1024
        # Children belong to the thread that started them.
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += sum(resident(int(child)) for child in (task / "children").read_text().split())
    return total


def own_peak() -> float:
    """The most megabytes that this process has held. For Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024 / 1e6
