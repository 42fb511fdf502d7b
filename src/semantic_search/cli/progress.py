"""How far an index run is: a bar on a terminal, a line now and then elsewhere. Progress goes to stderr."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from ..folders import Folder
from ..output import one_line, shown
from ..runs import FolderReport, Step
from ..tools.index import Watcher
from .session import note, show

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

# Where there is no terminal: seconds between two lines, and before the first.
INTERVAL = 5.0
FIRST = 2.0


class Reporter(Watcher):
    """Prints the report of a run on stdout (unless quiet) and its progress on stderr."""

    def __init__(self, *, verbose: bool = False, quiet: bool = False) -> None:
        self._verbose, self._quiet = verbose, quiet
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._what = self._unit = ""
        self._began = self._told = 0.0

    def __enter__(self) -> Reporter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()
            self._bar = None

    # What happens

    def folder_starts(self, number: int, total: int, folder: Folder) -> None:
        """See `Watcher`."""
        self._line(f"[{number}/{total}] {shown(folder.name)}  {shown(folder.path)}")
        self._start(f"reading {shown(folder.name)}", "files")

    def step(self, step: Step) -> None:
        """See `Watcher`."""
        if step.outcome is None and step.chunks:
            self._line(f"  {shown(step.path)}  ({step.chunks} passages)")
        elif step.outcome is not None and self._verbose:
            self._line(f"  {shown(step.path)}  skipped: {step.outcome.sentence}")
        self._advance(step.done, step.total)

    def folder_ends(self, report: FolderReport) -> None:
        """See `Watcher`."""
        from .index import counts

        self._end()
        for text in report.notes:
            note(text)
        if report.error:
            self._line(f"  failed: {report.error}")
            note(report.error)
        else:
            self._line(f"  {counts(report)}")

    def embedding(self, done: int, total: int) -> None:
        """See `Watcher`."""
        if total and done == 0:
            self._start("making vectors", "passages")
        if total:
            self._advance(done, total)
        if done >= total:
            self._end()

    # How it is shown

    def _line(self, text: str) -> None:
        if self._quiet:
            return
        if self._bar and sys.stdout.isatty():
            self._bar.console.print(one_line(text), markup=False, highlight=False, soft_wrap=True)
        else:
            show(text)

    def _start(self, what: str, unit: str) -> None:
        self._end()
        self._what, self._unit = what, unit
        self._began = time.monotonic()
        self._told = self._began + FIRST - INTERVAL
        if self._bar is None and sys.stderr.isatty():
            self._bar = _bar()
            self._bar.start()
        if self._bar:
            self._task = self._bar.add_task(one_line(what), total=None)

    def _advance(self, done: int, total: int) -> None:
        if self._bar and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)
            return
        now = time.monotonic()
        if now - self._told < INTERVAL:
            return
        self._told = now
        rate = done / max(now - self._began, 1e-9)
        left = f", {format_seconds((total - done) / rate)} left" if done else ""
        note(f"{self._what}: {done}/{total} {self._unit}, {rate:.0f} a second{left}")

    def _end(self) -> None:
        if self._bar and self._task is not None:
            self._bar.remove_task(self._task)
        self._task = None


def format_seconds(seconds: float) -> str:
    """A span of time for a person: 42 s, 3 min 10 s, 1 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from .rates import RateColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
