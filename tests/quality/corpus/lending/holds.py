"""Reservations: readers wait for a copy in the order in which they asked."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from datetime import date, timedelta

SHELF_DAYS = timedelta(days=7)


@dataclass
class Hold:
    """One reader waiting for one copy; `shelved` is when it was laid aside for them."""

    card: str
    placed: date
    shelved: date | None = None


class HoldQueue:
    """First come, first served, for each copy."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, deque[Hold]] = defaultdict(deque)

    def place(self, barcode: str, card: str, today: date) -> int:
        """Joins the queue, once; returns the place in it, from 1."""
        queue = self._waiting[barcode]
        for position, hold in enumerate(queue, 1):
            if hold.card == card:
                return position
        queue.append(Hold(card, today))
        return len(queue)

    def next_in_line(self, barcode: str) -> Hold | None:
        """Who gets the copy when it comes back."""
        queue = self._waiting[barcode]
        return queue[0] if queue else None

    def expire_unclaimed(self, today: date) -> list[str]:
        """Drops holds that nobody picked up within a week; returns the barcodes that move on."""
        moved = []
        for barcode, queue in self._waiting.items():
            if queue and queue[0].shelved and today - queue[0].shelved > SHELF_DAYS:
                queue.popleft()
                moved.append(barcode)
        return moved
