"""The vector of a question of any length."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from .embedder import Embedder


def question_vector(embedder: Embedder, text: str) -> npt.NDArray[np.float32]:
    """The unit vector of a question, float32 (dimension,): of one longer than the model's window the mean of
    its parts, so that nothing of it is cut off."""
    most = embedder.max_text_tokens
    # A token has a character at least.
    starts = embedder.token_starts([text])[0] if len(text) > most else []
    if len(starts) <= most:
        return embedder.embed_query(text)
    cuts = [0, *starts[most::most], len(text)]
    first, *others = (embedder.embed_query(text[start:end]) for start, end in pairwise(cuts))
    total = sum(others, start=first)
    length = math.sqrt(float(total @ total))
    if not length:  # parts that say the opposite of each other, or nothing
        return first
    mean: npt.NDArray[np.float32] = total / length
    return mean
