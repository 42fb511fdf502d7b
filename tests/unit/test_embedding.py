"""Vectors for what waits, in committed batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from builders import FOLDER, indexed
from fakes import WordsEmbedder

from semantic_search.embedding import BATCH, LeftOut, fill_vectors
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
        def vectors_of(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            if self.embedded:
                raise ModelUnavailable("the session is gone")
            return super().vectors_of(texts)

    with pytest.raises(ModelUnavailable):
        fill(store, Failing())
    assert store.pending_count() == len(TEXTS) - BATCH


class Fragile(WordsEmbedder):
    """A model that fails at the texts it is told of."""

    def __init__(self, error: BaseException, at: Callable[[str], bool]) -> None:
        super().__init__()
        self.error, self.at = error, at
        self.asked: list[str] = []

    def vectors_of(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.asked += texts
        if any(map(self.at, texts)):
            raise self.error
        return super().vectors_of(texts)


ONE = "passage number 5"
PanicException = type("PanicException", (BaseException,), {})


@pytest.mark.parametrize("error", [ValueError("its  own\nwords"), PanicException("x"), MemoryError()])
def test_a_text_that_the_model_fails_at_is_left_out_and_goes_on_waiting(
    store: Store, error: BaseException
) -> None:
    left_out: LeftOut = {}
    model = Fragile(error, lambda text: text == ONE)
    assert fill(store, model, left_out=left_out) == len(TEXTS) - 1 == len(model.embedded)
    assert list(left_out.values()) == [" ".join(str(error).split()) or type(error).__name__]
    assert [text for _, text in store.pending(9)] == [ONE]
    asked = len(model.asked)
    assert fill(store, model, left_out=left_out) == 0
    assert len(model.asked) == asked
    assert fill(store, WordsEmbedder()) == 1


@pytest.mark.parametrize("error", [ValueError("none"), PanicException("none")])
def test_a_model_that_fails_at_every_text_is_at_fault_itself(store: Store, error: BaseException) -> None:
    model = Fragile(error, lambda _: True)
    with pytest.raises(ModelUnavailable, match="fails at every text: none"):
        fill(store, model)
    assert len(model.asked) < BATCH + 20
    assert store.pending_count() == len(TEXTS)


def test_what_is_no_vector_is_left_out(store: Store) -> None:
    class Odd(WordsEmbedder):
        def vectors_of(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            vectors = super().vectors_of(texts)
            vectors[[text == ONE for text in texts]] = np.nan
            return vectors

    left_out: LeftOut = {}
    assert fill(store, Odd(), left_out=left_out) == len(TEXTS) - 1
    assert list(left_out.values()) == ["what the model gave is no vector"]


def test_a_cancelled_batch_is_no_failure_of_the_model(store: Store) -> None:
    left_out: LeftOut = {}
    for at in (ONE, TEXTS[-1]):
        model = Fragile(CancelledError(), lambda text, at=at: text == at)  # type: ignore[misc]
        fill(store, model, left_out=left_out)
        assert at in [text for _, text in store.pending(len(TEXTS))]
    assert left_out == {}


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
