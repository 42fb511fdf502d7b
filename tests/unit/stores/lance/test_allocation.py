"""The heaps of the C library."""

from __future__ import annotations

import platform
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the heaps of glibc")

_HEAPS = """
import ctypes, sys, threading
if sys.argv[1] == "bound":
    import semantic_search.stores.lance
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
together = threading.Barrier(40)
def work():
    together.wait()
    blocks = [libc.malloc(50_000) for _ in range(20)]
    together.wait()
    for block in blocks:
        libc.free(ctypes.c_void_p(block))
threads = [threading.Thread(target=work) for _ in range(40)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


def heaps(how: str, **environment: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", _HEAPS, how], capture_output=True, text=True, check=True, env=environment
    )
    return len(re.findall(r"<heap nr=", done.stdout))


def test_threads_share_two_heaps() -> None:
    assert heaps("not") > 2
    assert 1 <= heaps("bound") <= 2


def test_what_a_user_chose_stays() -> None:
    assert heaps("bound", MALLOC_ARENA_MAX="4") > 2
