"""What differs from what the index remembers: files by stamp, folders by the rules they were listed by."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .types import Listing, Skipped, SourceFile

if TYPE_CHECKING:
    from .listing import ListingRules
    from .stores import Known, Store

# A file that was written less than this before it was looked at may be written again within one tick of
# its clock; it is hashed again at the next look.
RACY_NS = 2_000_000_000


_WITH_SECRETS = "with-secrets:"


class KnownRules:
    """The rules that a folder was listed by at its last whole run, and whether they are others now.

    `stricter` when text that went in may be refused now for what it holds, whatever the stamps say.
    """

    def __init__(self, store: Store, folder: str, rules: ListingRules) -> None:
        self._store = store
        self._key = "rules:" + hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        digest = hashlib.sha256(repr(rules).encode(errors="backslashreplace")).hexdigest()[:16]
        self._now = f"{_WITH_SECRETS if rules.index_secrets else ''}{digest}"
        before = store.meta(self._key)
        self.changed = before != self._now
        self.stricter = before.startswith(_WITH_SECRETS) and not rules.index_secrets

    def keep(self) -> None:
        """Notes that every file was looked at by these rules."""
        if self.changed:
            self._store.set_meta(self._key, self._now)


@dataclass(frozen=True, slots=True)
class Look:
    """What a folder lists, what was known of it, and when the look began, in nanoseconds of the epoch."""

    listing: Listing
    known: dict[str, Known]
    seen_ns: int


def take_look(folder: str, rules: ListingRules, known: dict[str, Known]) -> Look:
    """A look at a folder of which so much is known. Raises FolderError when it cannot be listed."""
    from .listing import list_files

    seen_ns = time.time_ns()
    return Look(list_files(folder, rules), known, seen_ns)


def changed_files(
    files: Sequence[SourceFile],
    known: dict[str, Known],
    *,
    everything: bool = False,
    retry_skipped: bool = False,
    retry_failed: bool = True,
) -> list[SourceFile]:
    """The files that must be read: new ones, those whose stamp differs, and those whose stamp says nothing.

    `everything` takes all. `retry_skipped` also takes files that were skipped, since the rules that skipped
    them may be others now; `retry_failed` those whose trouble may have passed.
    """
    if everything:
        return list(files)

    def unchanged(file: SourceFile) -> bool:
        row = known.get(file.path)
        if row is None or not _looks_unchanged(file, row):
            return False
        return row.reason is None or not (retry_skipped or (retry_failed and row.reason.transient))

    return [file for file in files if not unchanged(file)]


def _looks_unchanged(file: SourceFile, row: Known) -> bool:
    return row.stamp == file.stamp and max(file.mtime_ns, file.ctime_ns) + RACY_NS < row.seen_ns


def is_recorded(skip: Skipped, row: Known | None) -> bool:
    """Whether the index has a skipped file as it is."""
    return row is not None and row.reason is skip.reason and row.stamp == skip.source.stamp
