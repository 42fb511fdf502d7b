"""Where indexes are: files or directories in a directory of this machine, or tables at a URI.

An index is named by a path: that of its file or directory, or `URI#index-FINGERPRINT`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass

from ..errors import IndexDamaged, StoreError

_LOGS = ("-wal", "-shm")
_GONE = ".gone"
# After the backend's name: SQLite's own custom is `.sqlite3`.
_ENDINGS = {"sqlite": ".sqlite3", "lancedb": ".lancedb"}


@dataclass(frozen=True, slots=True)
class IndexFile:
    """An index: its path, its fingerprint, and its last change in seconds of the epoch."""

    path: str
    fingerprint: str
    changed: float


def is_uri(location: str) -> bool:
    """Whether a location is not a directory of this machine."""
    return "://" in location


def index_path(location: str, backend: str, fingerprint: str) -> str:
    """Where the index of a fingerprint is."""
    if is_uri(location):
        return f"{location}#index-{fingerprint}"
    return os.path.join(location, f"index-{fingerprint}{_ENDINGS[backend]}")


def index_files(location: str, backend: str) -> list[IndexFile]:
    """The indexes there are, the one that changed last first. Raises StoreError where none can be listed."""
    if is_uri(location):
        from .lance.places import indexes

        found = [
            IndexFile(index_path(location, backend, each), each, when) for each, when in indexes(location)
        ]
    else:
        found = _local(location, _ENDINGS[backend])
    return sorted(found, key=lambda file: -file.changed)


def _local(directory: str, ending: str) -> list[IndexFile]:
    try:
        with os.scandir(directory) as listing:
            entries = list(listing)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        # Not "none": what is there must not be taken for nothing.
        raise StoreError(f"{directory} cannot be listed: {error.strerror or error}") from error
    found = []
    for entry in entries:
        if entry.name.startswith("index-") and entry.name.endswith(ending):
            fingerprint = entry.name.removeprefix("index-").removesuffix(ending)
            with contextlib.suppress(OSError):  # another process removed it just now
                found.append(IndexFile(entry.path, fingerprint, _changed(entry.path)))
    return found


def _changed(path: str) -> float:
    if not os.path.isdir(path):
        return os.stat(path).st_mtime
    return max([os.stat(path).st_mtime, *(entry.stat().st_mtime for entry in os.scandir(path))])


def exists(path: str) -> bool:
    """Whether an index is still there."""
    if is_uri(path):
        from .lance.places import is_there

        return is_there(path)
    return os.path.exists(path)


def remove(path: str) -> None:
    """Removes an index with all that belongs to it, as far as the system lets it."""
    if is_uri(path):
        from .lance.places import drop

        drop(path)
    elif os.path.isdir(path):
        _remove_directory(path)
    else:
        for ending in ("", *_LOGS):
            # On Windows a file that a reader holds open cannot go: the next run tries again.
            with contextlib.suppress(OSError):
                os.unlink(path + ending)


def _remove_directory(path: str) -> None:
    # Out of the way first: a reader, or a run that is killed here, never meets half of an index.
    with contextlib.suppress(OSError):
        os.replace(path, path + _GONE)
    for entry in list(os.scandir(os.path.dirname(path))):
        if entry.path == path or (entry.name.startswith("index-") and entry.name.endswith(_GONE)):
            shutil.rmtree(entry.path, ignore_errors=True)


def set_aside(path: str) -> str:
    """Moves a damaged index out of the way and returns its new path; its write-ahead log goes.

    One that was set aside before is kept under one more name, the one before that goes.
    Raises IndexDamaged for one at a URI, where nothing can be moved.
    """
    if is_uri(path):
        raise IndexDamaged(f"the index {path} is damaged: remove its tables, or use another location")
    aside, earlier = path + ".damaged", path + ".damaged.1"
    if os.path.exists(aside):
        if os.path.isdir(earlier):
            shutil.rmtree(earlier)
        os.replace(aside, earlier)
    os.replace(path, aside)
    for ending in _LOGS:
        with contextlib.suppress(OSError):
            os.unlink(path + ending)
    return aside


def bytes_of(path: str) -> int | None:
    """What an index takes on disk; None for one at a URI, where only its provider knows."""
    if is_uri(path):
        return None
    total = 0
    inside = [os.path.join(base, name) for base, _, names in os.walk(path) for name in names]
    for each in [path, path + "-wal", *inside]:
        with contextlib.suppress(OSError):
            if not os.path.isdir(each):
                total += os.stat(each).st_size
    return total
