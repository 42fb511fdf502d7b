"""A run in one folder: how it is to go, and what it did, as it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .types import Skip, Skipped, SourceFile

# A thousand files with one and the same trouble are told of by their number.
MOST_NOTES = 20


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run: `force` reads every file again and allows pruning of most of a folder; `max_files` is the
    number of files to index at most (None: all), not counting those that turn out to be as they were or have
    no text; `stop` is asked between files; `within` is a subdirectory (relative path) to keep to.
    `retry_failed` reads files again that could not be read or took too long, though they look as they did.
    `workers` lets other processes cut where there is much to do."""

    force: bool = False
    max_files: int | None = None
    threads: int = 1
    stop: Callable[[], bool] = lambda: False
    within: str = ""
    retry_failed: bool = True
    workers: bool = True


@dataclass(slots=True)
class FolderReport:
    """What a run did in one folder. Counts are files, except `chunks`; `unread` are directories (relative
    paths) that could not be listed, whose files are as they were."""

    name: str
    path: str
    processed: int = 0
    unchanged: int = 0
    touched: int = 0
    deleted: int = 0
    failed: int = 0
    chunks: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    truncated: bool = False
    interrupted: bool = False
    unread: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: str = ""

    def count(self, skip: Skipped) -> None:
        """Counts a file without passages; trouble that may pass is noted."""
        reason = skip.reason
        self.skipped[reason.value] = self.skipped.get(reason.value, 0) + 1
        # A file that went away meanwhile is one file less, not one that something is wrong with.
        if reason.transient and reason is not Skip.VANISHED:
            self.failed += 1
            why = f"{reason.sentence} ({skip.detail})" if skip.detail else reason.sentence
            self.complain(f"{skip.source.path}: {why}; it is tried again at the next run")

    def complain(self, sentence: str) -> None:
        """Notes a sentence for the user; from the twenty-first on only that there are more."""
        if len(self.notes) < MOST_NOTES:
            self.notes.append(sentence)
        elif len(self.notes) == MOST_NOTES:
            self.notes.append(
                "… and more: `semantic-search status --skipped` lists files, `doctor` directories"
            )


@dataclass(frozen=True, slots=True)
class Step:
    """A file that was indexed or skipped in a run, and how far the run is in files and bytes."""

    path: str
    outcome: Skip | None
    chunks: int
    done: int
    total: int
    done_bytes: int
    total_bytes: int


class Progress:
    """Tells `on_step` of each file that is done, out of so many and so many bytes."""

    def __init__(self, total: int, total_bytes: int, on_step: Callable[[Step], None]) -> None:
        self._total, self._total_bytes, self._tell = total, total_bytes, on_step
        self._done = self._bytes = 0

    def step(self, source: SourceFile, outcome: Skip | None, chunks: int) -> None:
        """A file is done."""
        self._done += 1
        self._bytes += source.size
        self._tell(
            Step(source.path, outcome, chunks, self._done, self._total, self._bytes, self._total_bytes)
        )
