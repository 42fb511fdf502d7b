"""Which remembered files are really gone, and when not to believe it."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .stores import Known

# Below this number a folder may lose everything without a question.
SMALL = 20


def to_forget(
    folder: str,
    known: Mapping[str, Known],
    listed: Collection[str],
    unread: Collection[str],
    new_hashes: Collection[str],
    *,
    force: bool,
) -> tuple[list[str], str]:
    """The remembered paths to forget, and a sentence when forgetting the vanished ones is refused.

    A file that is there but no longer listed (ignored, excluded) is always forgotten. One that vanished is
    forgotten too, unless more than half of a folder's files vanished at once without turning up elsewhere in
    it: that is more often an unmounted disk than a wish. Files below a subtree that could not be read stay.
    """
    missing = [path for path in known if path not in listed and not _below_any(path, unread)]
    there = [path for path in missing if os.path.lexists(os.path.join(folder, path))]
    vanished = sorted(set(missing).difference(there))
    lost = [path for path in vanished if known[path].chunks and known[path].sha256 not in new_hashes]
    had = sum(1 for row in known.values() if row.chunks)
    if not force and had > SMALL and len(lost) * 2 > had:
        return there, (
            f"{len(lost)} of {had} files of {folder} are gone from the disk; their passages are kept. "
            "If that is right, run `semantic-search index --force`"
        )
    return there + vanished, ""


def _below_any(path: str, directories: Collection[str]) -> bool:
    return any(not d or path == d or path.startswith(d + "/") for d in directories)
