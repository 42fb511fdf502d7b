"""Vectors for the passages that wait for one, in committed batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .engines import RayWorkers
    from .models.embedder import Embedder
    from .stores import Store

# Large enough that batches sorted by length waste little padding, small enough that a killed run loses a
# few seconds of work.
BATCH = 128


def fill_vectors(
    store: Store,
    embedder: Embedder | RayWorkers,
    *,
    threads: int,
    stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
    seconds: float | None = None,
    batch_size: int = BATCH,
) -> int:
    """Embeds what waits, batch by batch, until nothing does; returns how many texts were embedded.

    Stops early when `stop` says so or after `seconds`. `batch_size` texts are committed together.
    `on_progress` is told texts done and texts in all.
    Raises StoreError, ModelUnavailable; batches written until then stay.
    """
    end = None if seconds is None else time.monotonic() + seconds
    total = store.pending_count()
    done = 0
    on_progress(done, total)
    while not stop() and (end is None or time.monotonic() < end):
        batch = store.pending(batch_size if end is None else 16)
        if not batch:
            break
        try:
            vectors = embedder.embed_passages([text for _, text in batch], threads=threads, cancelled=stop)
        except CancelledError:
            break
        store.put_vectors([id_ for id_, _ in batch], vectors)
        done += len(batch)
        on_progress(done, max(total, done))
    return done
