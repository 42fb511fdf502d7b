"""Document formats: bytes to text, in a child process that can be ended.

A new format is one module with `extract(data: bytes) -> Extracted | Refused` and one row in `FORMATS`.
Importing this package imports no document library.
"""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from functools import cache

from .outcome import Extract, Extracted, Refused
from .pool import TIME_LIMIT, Pool

__all__ = ["FORMATS", "Extract", "Extracted", "Pool", "Refused", "close", "extract"]

FORMATS: Mapping[str, str] = {
    ".pdf": f"{__name__}.pdf",
    ".docx": f"{__name__}.docx",
}
"""The module of each format, by lower-case suffix. It is imported in the child only."""


@cache
def _pool() -> Pool:
    pool = Pool(FORMATS)
    atexit.register(pool.close)
    return pool


def extract(suffix: str, data: bytes, *, seconds: float = TIME_LIMIT) -> Extracted | Refused:
    """The text of a document with this suffix (`.pdf`), or why there is none.

    May be called from several threads; each has a child of its own, at most four at a time. Never raises
    because of what `data` holds. Raises KeyError for a suffix that is not in `FORMATS`.
    """
    return _pool().extract(suffix, data, seconds=seconds)


def close() -> None:
    """End the children that `extract` left waiting for more. It may be called again afterwards."""
    _pool().close()
