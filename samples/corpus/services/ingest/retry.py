"""Try again after a failure, later each time, and never in step with the others."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


class GaveUp(Exception):
    """Every attempt failed; the last failure is the cause."""


def backoff_delays(first: float, ceiling: float, attempts: int, source: random.Random) -> list[float]:
    """Seconds to wait between attempts: each drawn evenly from nothing up to a bound that doubles."""
    return [source.uniform(0, min(ceiling, first * 2**attempt)) for attempt in range(attempts - 1)]


def with_retries(
    action: Callable[[], Result],
    *,
    attempts: int = 6,
    first: float = 0.5,
    ceiling: float = 60.0,
    sleep: Callable[[float], None] = time.sleep,
    source: random.Random | None = None,
) -> Result:
    """What `action` returns. Connection failures and timeouts are tried again, other errors come through."""
    delays = backoff_delays(first, ceiling, attempts, source or random.SystemRandom())
    for delay in [*delays, None]:
        try:
            return action()
        except (ConnectionError, TimeoutError) as error:
            if delay is None:
                raise GaveUp(f"{attempts} attempts failed") from error
            sleep(delay)
    raise GaveUp("no attempt was allowed")
