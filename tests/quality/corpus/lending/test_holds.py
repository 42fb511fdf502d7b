"""The queue of reservations."""

from __future__ import annotations

from datetime import date, timedelta

from .holds import HoldQueue

TODAY = date(2025, 5, 5)


def test_the_first_to_ask_is_next_in_line() -> None:
    queue = HoldQueue()
    assert [queue.place("B-7", card, TODAY) for card in ("R-1", "R-2", "R-1")] == [1, 2, 1]
    first = queue.next_in_line("B-7")
    assert first is not None and first.card == "R-1"


def test_a_hold_that_nobody_picked_up_expires_after_a_week() -> None:
    queue = HoldQueue()
    queue.place("B-7", "R-1", TODAY)
    first = queue.next_in_line("B-7")
    assert first is not None
    first.shelved = TODAY
    assert queue.expire_unclaimed(TODAY + timedelta(days=7)) == []
    assert queue.expire_unclaimed(TODAY + timedelta(days=8)) == ["B-7"]
