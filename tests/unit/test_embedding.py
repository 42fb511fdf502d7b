"""Vectors for what waits, in committed batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from builders import FOLDER, indexed
from fakes import WordsEmbedder

from semantic_search.embedding import BATCH, fill_vectors
from semantic_search.errors import ModelUnavailable
from semantic_search.models.embedder import Embedder
from semantic_search.stores import Store, open_store

TEXTS = [f"passage number {n}" for n in range(2 * BATCH + 7)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store("sqlite", str(tmp_path / "index-x.sqlite3"), create=True)
    opened.write(FOLDER, [indexed("a.md", *TEXTS)], seen_ns=1)
    yield opened
    opened.close()


@pytest.fixture
def words() -> WordsEmbedder:
    return WordsEmbedder()


def fill(store: Store, model: WordsEmbedder, **options: object) -> int:
    return fill_vectors(store, cast(Embedder, model), threads=1, **options)  # type: ignore[arg-type]


def test_everything_that_waits_is_embedded_once(store: Store, words: WordsEmbedder) -> None:
    told: list[tuple[int, int]] = []
    assert fill(store, words, on_progress=lambda *step: told.append(step)) == len(TEXTS)
    assert sorted(words.embedded) == sorted(TEXTS)
    assert store.pending_count() == 0
    assert told == [(0, len(TEXTS)), (BATCH, len(TEXTS)), (2 * BATCH, len(TEXTS)), (len(TEXTS), len(TEXTS))]
    assert fill(store, words) == 0
    assert len(words.embedded) == len(TEXTS)


def test_nothing_to_do_is_told(store: Store, words: WordsEmbedder) -> None:
    fill(store, words)
    told: list[tuple[int, int]] = []
    assert fill(store, words, on_progress=lambda *step: told.append(step)) == 0
    assert told == [(0, 0)]


def test_a_stop_keeps_the_batches_before_it(store: Store, words: WordsEmbedder) -> None:
    assert fill(store, words, stop=lambda: bool(words.embedded)) == BATCH
    assert store.pending_count() == len(TEXTS) - BATCH
    assert fill(store, words) == len(TEXTS) - BATCH


def test_crash_a_model_that_fails_loses_its_own_batch_alone(store: Store) -> None:
    class Failing(WordsEmbedder):
        def embed_passages(
            self,
            texts: Sequence[str],
            *,
            threads: int | None = None,
            cancelled: Callable[[], bool] | None = None,
        ) -> npt.NDArray[np.float32]:
            if self.embedded:
                raise ModelUnavailable("the session is gone")
            return super().embed_passages(texts, threads=threads, cancelled=cancelled)

    with pytest.raises(ModelUnavailable):
        fill(store, Failing())
    assert store.pending_count() == len(TEXTS) - BATCH


def test_without_time_one_small_batch_is_made(store: Store, words: WordsEmbedder) -> None:
    made = [fill(store, words, seconds=0.0), fill(store, words, seconds=0.0)]
    assert made == [16, 16]
    assert store.pending_count() == len(TEXTS) - 32


def test_a_time_limit_is_kept_by_small_batches(store: Store, words: WordsEmbedder) -> None:
    sizes: list[int] = []

    def progress(done: int, _total: int) -> None:
        sizes.append(done)

    fill(store, words, seconds=1000.0, on_progress=progress)
    assert sizes[1] <= 16
    assert store.pending_count() == 0
