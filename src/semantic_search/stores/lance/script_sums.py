"""Sums of vectors by script: what the fair comparison of texts in different scripts needs of all of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..vectors import DRAWN

ScriptSums = dict[str, tuple[float, npt.NDArray[np.float64]]]
"""For each script how many vectors there are and their sum, float64 (dimension)."""


def advances_of(sums: ScriptSums) -> dict[str, npt.NDArray[np.float32]]:
    """What each script's passages have in advance, as a vector to multiply with the question's.

    See `VectorTable.fair_cosines`: the mean of each script's vectors, drawn towards that of all where there
    are few, less the mean of those means.
    """
    if len(sums) < 2:
        return {script: np.zeros(len(total), dtype=np.float32) for script, (_, total) in sums.items()}
    counts = np.array([count for count, _ in sums.values()])
    totals = np.stack([total for _, total in sums.values()])
    overall = totals.sum(axis=0) / counts.sum()
    means = (totals + DRAWN * overall) / (counts + DRAWN)[:, None]
    common = counts @ means / counts.sum()
    return {script: (mean - common).astype(np.float32) for script, mean in zip(sums, means, strict=True)}


def add_to_sums(sums: ScriptSums, scripts: Sequence[str], vectors: npt.NDArray[np.float32]) -> None:
    """Counts vectors, float32 (n, dimension), and adds them to the sums of their scripts."""
    each = np.asarray(scripts)
    for script in dict.fromkeys(each.tolist()):
        part = vectors[each == script]
        count, total = sums.get(script, (0.0, np.zeros(vectors.shape[1])))
        sums[script] = (count + len(part), total + part.sum(axis=0, dtype=np.float64))


def pack_sums(sums: ScriptSums) -> str:
    """Sums as text."""
    return json.dumps(
        {
            script: [count, base64.b64encode(total.astype("<f8").tobytes()).decode()]
            for script, (count, total) in sums.items()
        }
    )


def unpack_sums(text: str) -> ScriptSums:
    """Sums from text, none from an empty one."""
    found: dict[str, Any] = json.loads(text) if text else {}
    return {
        script: (float(count), np.frombuffer(base64.b64decode(total), dtype="<f8"))
        for script, (count, total) in found.items()
    }
