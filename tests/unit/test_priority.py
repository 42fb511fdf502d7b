"""Work in the background gives way, and only that work."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from semantic_search.priority import NICENESS, give_way

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have no niceness")


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_the_thread_that_asks_gives_way_and_no_other() -> None:
    before = niceness()
    with ThreadPoolExecutor(1, initializer=give_way) as pool:
        assert pool.submit(niceness).result() == max(before, NICENESS)
    assert niceness() == before


def test_what_gives_way_more_already_is_left_so() -> None:
    def lower_still() -> int:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 15)
        give_way()
        return niceness()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lower_still).result() == 15
