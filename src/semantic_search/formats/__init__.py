"""Document formats: bytes to text, in a child process that can be ended.

A new format is one module with `extract(data: bytes) -> Extracted | Refused`, one row in `FORMATS` and one in
`languages.py`.
Importing this package imports no document library.
"""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from functools import cache
from typing import Any

from .outcome import Extract, Extracted, Refused
from .pool import TIME_LIMIT, Pool

__all__ = [
    "FORMATS",
    "TIME_LIMIT",
    "VERBATIM",
    "Extract",
    "Extracted",
    "Pool",
    "Refused",
    "close",
    "extract",
    "is_document",
]

FORMATS: Mapping[str, str] = {
    ".pdf": f"{__name__}.pdf",
    ".docx": f"{__name__}.docx",
    ".docm": f"{__name__}.docx",
    ".doc": f"{__name__}.doc",
    ".pptx": f"{__name__}.pptx",
    ".pptm": f"{__name__}.pptx",
    ".ppt": f"{__name__}.ppt",
    ".xlsx": f"{__name__}.xlsx",
    ".xlsm": f"{__name__}.xlsx",
    ".xls": f"{__name__}.xls",
    ".odt": f"{__name__}.odf",
    ".ods": f"{__name__}.odf",
    ".odp": f"{__name__}.odf",
    ".rtf": f"{__name__}.rtf",
    ".epub": f"{__name__}.epub",
    ".html": f"{__name__}.html",
    ".htm": f"{__name__}.html",
    ".xhtml": f"{__name__}.html",
    ".eml": f"{__name__}.mail",
    ".mbox": f"{__name__}.mbox",
    ".ipynb": f"{__name__}.ipynb",
}
"""The module of each format, by lower-case suffix. It is imported in the child only."""

VERBATIM = frozenset((".html", ".htm", ".xhtml"))
"""Suffixes of formats that are text themselves: what has no text for a reader is read as it is."""


def is_document(suffix: str, data: bytes) -> bool:
    """Whether a file with this lower-case suffix is to be extracted, and not text to be taken as it is."""
    if suffix not in FORMATS:
        return False
    if suffix not in VERBATIM:
        return True
    from .html_source import is_source

    return not is_source(data)


@cache
def _pool() -> Pool:
    pool = Pool(FORMATS)
    atexit.register(pool.close)
    return pool


def extract(
    suffix: str, data: bytes, *, seconds: float = TIME_LIMIT, options: Mapping[str, Any] | None = None
) -> Extracted | Refused:
    """The text of a document with this suffix (`.pdf`), or why there is none.

    `options` are arguments of the format's own `extract`. May be called from several threads; each has a
    child of its own, at most four at a time. Never raises because of what `data` holds. Raises KeyError for
    a suffix that is not in `FORMATS`.
    """
    return _pool().extract(suffix, data, seconds=seconds, options=options)


def close() -> None:
    """End the children that `extract` left waiting for more. It may be called again afterwards."""
    _pool().close()
