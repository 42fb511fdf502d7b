"""Keeps the C library from holding on to memory that LanceDB has freed.

glibc gives each of LanceDB's dozens of threads a heap of its own, up to eight a core, and returns little of
any to the system: of 900 MB after 100 000 passages half was free. Other C libraries need nothing of this.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

# Parameters of glibc's `mallopt`, and what they are set to. Blocks from the threshold on are mapped one by
# one and unmapped when freed; without it glibc raises the threshold to 32 MB by itself.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_ARENAS = 2
_THRESHOLD = 128 * 1024
# Variables by which a user may have chosen otherwise.
BY_USER = ("MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES")


def bound_heaps() -> None:
    """Sets how many heaps there may be and what is returned at once. Call it before LanceDB is imported."""
    mallopt = _of_libc("mallopt")
    if mallopt is None:
        return
    mallopt(_M_ARENA_MAX, _ARENAS)
    mallopt(_M_MMAP_THRESHOLD, _THRESHOLD)
    mallopt(_M_TRIM_THRESHOLD, _THRESHOLD)


def give_back() -> None:
    """Returns to the system what was freed. Takes some milliseconds."""
    trim = _of_libc("malloc_trim")
    if trim is not None:
        trim(ctypes.c_size_t(0))


def _of_libc(name: str) -> Any:
    """A function of the C library this process runs on, None where it has none of the name."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
