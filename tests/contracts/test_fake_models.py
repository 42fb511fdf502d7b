"""The model of words keeps to what real models keep to, so that tests with it say something about them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from fakes import WordsEmbedder, WordsModels

from semantic_search import models
from semantic_search.errors import ModelUnavailable
from semantic_search.models.embedder import Embedder

TEXTS = ["the rate limiter", "обмежувач частоти", "x = 1\ny = 2", "…", "word " * 500]


def parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


@pytest.mark.parametrize(
    "name", ["can_read", "token_starts", "embed_query", "embed_passages", "verify", "close"]
)
def test_it_is_called_as_a_real_one_is(name: str) -> None:
    assert parameters(getattr(WordsEmbedder, name)) == parameters(getattr(Embedder, name))


@pytest.mark.parametrize("name", ["open_embedder", "fingerprint_of"])
def test_its_source_is_called_as_the_real_one_is(name: str) -> None:
    assert parameters(getattr(WordsModels(), name)) == parameters(getattr(models, name))


def test_it_has_every_name_of_a_real_one() -> None:
    real = {name for name, _ in inspect.getmembers(Embedder) if not name.startswith("_")}
    fake = {name for name in dir(WordsEmbedder()) if not name.startswith("_")}
    assert real - fake == {"window"}


def test_vectors_are_unit_and_a_batch_is_one_by_one() -> None:
    model = WordsEmbedder()
    together = model.embed_passages(TEXTS[:3] + TEXTS[4:])
    assert together.dtype == np.float32
    assert together.shape == (4, model.dimension)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    alone = np.stack([model.embed_passages([text])[0] for text in TEXTS[:3] + TEXTS[4:]])
    assert np.array_equal(together, alone)
    assert model.embed_passages([]).shape == (0, model.dimension)
    assert model.embed_query("rate").shape == (model.dimension,)


def test_shared_words_are_near() -> None:
    model = WordsEmbedder()
    near, far = model.embed_passages(["the limiter of the rate", "tomatoes in May"])
    query = model.embed_query("rate limiter")
    assert float(query @ near) > float(query @ far)


@pytest.mark.parametrize("text", TEXTS)
def test_token_starts_ascend_within_the_text(text: str) -> None:
    (starts,) = WordsEmbedder().token_starts([text])
    assert all(0 <= a < b < len(text) for a, b in pairwise(starts))


def test_scripts_and_fingerprints() -> None:
    latin = WordsEmbedder(scripts=frozenset({"Latin"}))
    assert latin.can_read("rate limiter")
    assert not latin.can_read("обмежувач частоти")
    assert WordsEmbedder("a").fingerprint == WordsEmbedder("a").fingerprint != WordsEmbedder("b").fingerprint
    assert len(WordsEmbedder().fingerprint) == 64


def test_a_missing_model_is_missing() -> None:
    source = WordsModels(missing=["gone"])
    with pytest.raises(ModelUnavailable):
        source.open_embedder("gone", cache_dir="")
    assert source.fingerprint_of("gone", "") is None
    found = source.fingerprint_of("here", "")
    assert found == source.open_embedder("here", cache_dir="").fingerprint
