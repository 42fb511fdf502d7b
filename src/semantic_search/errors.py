"""The error tree. Every message names the cause and the next step.

SemanticSearchError
├── SettingsError        a config file or environment value that cannot be used
├── FolderError          a folder that is missing, refused or not ours
│   └── ListingError     a folder whose files cannot be listed safely (git failed)
├── QueryError           a query or pattern that cannot be used
├── ModelUnavailable     no weights, damaged weights, or no way to fetch them
└── StoreError           an index that cannot be opened or written
    ├── IndexBusy        another process is writing and did not finish in time
    ├── IndexReplaced    another process replaced what was being read; it can be asked again
    ├── IndexDamaged     what it holds cannot be read; it is built afresh
    ├── IndexOutdated    an older release wrote it; the next run renews it
    ├── IndexTooNew      a newer release wrote it; it is left to that one
    └── NoIndex          nothing has been indexed yet
"""

from __future__ import annotations

import os
import sys
import traceback

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class SemanticSearchError(Exception):
    """Base of every error that is told to the user in one line."""


class SettingsError(SemanticSearchError):
    """A config file or an environment value that cannot be used."""


class FolderError(SemanticSearchError):
    """A folder, or a path in one, that is missing, refused or not ours."""


class ListingError(FolderError):
    """A folder whose files cannot be listed safely."""


class QueryError(SemanticSearchError):
    """A query or pattern that cannot be used."""


class ModelUnavailable(SemanticSearchError):
    """No weights, damaged weights, or no way to fetch them."""


class StoreError(SemanticSearchError):
    """An index that cannot be opened or written."""


class IndexBusy(StoreError):
    """Another process is writing the index and did not finish in time."""


class IndexReplaced(StoreError):
    """Another process replaced what was being read; it can be asked again."""


class IndexDamaged(StoreError):
    """What an index holds cannot be read, now or later: it must be built afresh."""


class IndexOutdated(StoreError):
    """An older release wrote the index; a run renews it."""


class IndexTooNew(StoreError):
    """A newer release wrote the index, ours or the store's library; it is left to that one."""


class NoIndex(StoreError):
    """Nothing has been indexed yet."""


def unforeseen() -> tuple[type[BaseException], ...]:
    """What `except unforeseen() as error:` catches: an error that nobody foresaw, whatever its class.

    Not one of ours, nor the wish that all should end. A fixed tuple of classes cannot say that: one of them
    would be that of `is_panic`, which each library has to itself. Call it in an `except` clause only.
    """
    error = sys.exception()
    if error is None or isinstance(error, SemanticSearchError):
        return ()
    return (type(error),) if isinstance(error, Exception) or is_panic(error) else ()


def is_panic(error: BaseException) -> bool:
    """Whether a library written in Rust found a fault of its own: what it raises then is no `Exception`."""
    return type(error).__name__ == "PanicException"


def place_of(error: BaseException) -> str:
    """An error in a line: its type and where in our code it came up, `KeyError at chunking/packing.py:120`.

    Not its message, which may quote the text at hand; with SS_DEBUG that too, and all the way to the place.
    """
    frames = [
        f"{frame.filename.removeprefix(_PACKAGE).replace(os.sep, '/')}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(_PACKAGE)
    ]
    name = type(error).__name__
    if os.environ.get("SS_DEBUG"):
        return f"{name}: {' '.join(str(error).split())[:500]} at {' > '.join(frames) or '?'}"
    return f"{name} at {frames[-1] if frames else '?'}"
