"""Vectors for the passages that wait for one, in committed batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING

from .errors import ModelUnavailable, unforeseen
from .stores import EVERYTHING, Filter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .engines import RayWorkers
    from .models.embedder import Embedder
    from .stores import Store

# Large enough that batches sorted by length waste little padding, small enough that a killed run loses a
# few seconds of work.
BATCH = 128


# A model that fails at each of so many texts is itself at fault.
_TELLING = 8

LeftOut = dict[int, str]
"""Embedding ids of texts that the model failed at, each with the cause."""


def fill_vectors(
    store: Store,
    embedder: Embedder | RayWorkers,
    *,
    threads: int,
    stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
    seconds: float | None = None,
    batch_size: int = BATCH,
    left_out: LeftOut | None = None,
    wanted: Filter = EVERYTHING,
) -> int:
    """Embeds what waits, of wanted files alone, batch by batch, until nothing does; returns how many texts
    were embedded.

    A text that the model fails at goes to `left_out` and goes on waiting; what is in there is not tried.
    Stops early when `stop` says so or after `seconds`, of which a first batch is made whatever it takes:
    who never has enough of them gets on too. `batch_size` texts are committed together.
    `on_progress` is told texts done and texts in all.
    Raises StoreError, ModelUnavailable; batches written until then stay.
    """
    end = None if seconds is None else time.monotonic() + seconds
    left_out = {} if left_out is None else left_out
    total = store.pending_count(wanted)
    done = 0
    first = True
    on_progress(done, total)
    while not stop() and (first or end is None or time.monotonic() < end):
        first = False
        size = batch_size if end is None else 16
        waiting = store.pending(size + len(left_out), wanted)
        batch = [(id_, text) for id_, text in waiting if id_ not in left_out][:size]
        if not batch:
            break
        try:
            ids, vectors = _embedded(embedder, batch, threads, stop, left_out)
        except CancelledError:
            break
        if ids:
            store.put_vectors(ids, vectors)
        done += len(ids)
        on_progress(done, max(total, done))
    return done


def sentence_of(left_out: LeftOut) -> str:
    """What a person should know of texts that were left out, empty where there are none."""
    if not left_out:
        return ""
    return (
        f"{len(left_out)} passages could not be embedded ({next(iter(left_out.values()))}): they are found "
        "by their words, and tried again at the next run"
    )


def _embedded(
    embedder: Embedder | RayWorkers,
    batch: Sequence[tuple[int, str]],
    threads: int,
    stop: Callable[[], bool],
    left_out: LeftOut,
) -> tuple[list[int], npt.NDArray[np.float32]]:
    """Vectors of the texts of a batch, one by one where the batch as a whole fails."""
    import numpy as np

    def embed(part: Sequence[tuple[int, str]]) -> npt.NDArray[np.float32]:
        vectors = embedder.embed_passages([text for _, text in part], threads=threads, cancelled=stop)
        if vectors.shape != (len(part), embedder.dimension) or not np.isfinite(vectors).all():
            raise ValueError("what the model gave is no vector")
        return vectors

    try:
        return [id_ for id_, _ in batch], embed(batch)
    except CancelledError:
        raise
    except unforeseen():  # the runtime's errors have no common base
        if stop():
            raise CancelledError from None
    ids, rows = [], []
    for place, (id_, text) in enumerate(batch, 1):
        try:
            rows.append(embed([(id_, text)]))
            ids.append(id_)
        except CancelledError:
            raise
        except unforeseen() as error:
            left_out[id_] = " ".join(str(error).split())[:200] or type(error).__name__
            if not ids and place == _TELLING:
                raise ModelUnavailable(f"the model fails at every text: {left_out[id_]}") from error
    return ids, np.concatenate(rows) if rows else np.empty((0, embedder.dimension), np.float32)
