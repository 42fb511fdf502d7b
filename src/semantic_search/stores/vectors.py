"""Unit vectors kept as int8 with one scale each, and exact search over them.

A component's error is at most half a step of 1/127 of the vector's largest component, which moves a cosine
by about 0.0005; a passage costs 4 + dimension bytes instead of 4 x dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BLOCK = 8192

# A script's own mean counts as much as that of all once it has so many passages: the one Russian note among
# English ones would otherwise be its own mean, and never near to anything.
DRAWN = 3

_NEVER = -9.0


def row_type(dimension: int) -> np.dtype[np.void]:
    """The layout of a stored vector: little-endian float32 scale, then int8 components."""
    return np.dtype([("scale", "<f4"), ("values", "i1", (dimension,))])


def pack(vectors: npt.NDArray[np.float32]) -> list[bytes]:
    """Stored forms of unit vectors, float32 (n, dimension), in order."""
    peaks = np.abs(vectors).max(axis=1, initial=0.0)
    scales = np.where(peaks > 0, peaks / 127.0, 1.0).astype(np.float32)
    rows = np.empty(len(vectors), dtype=row_type(vectors.shape[1]))
    rows["scale"] = scales
    rows["values"] = np.rint(vectors / scales[:, None]).astype(np.int8)
    return [row.tobytes() for row in rows]


def unpack(blob: bytes) -> npt.NDArray[np.float32]:
    """The vector of a stored form, float32 (dimension)."""
    row = np.frombuffer(blob, dtype=row_type(len(blob) - 4))[0]
    values: npt.NDArray[np.float32] = row["values"].astype(np.float32) * row["scale"]
    return values


@dataclass(frozen=True, slots=True)
class VectorTable:
    """Every embedded passage in memory: ids and file ids int64 (n), packed vectors (n), and scripts.

    `group` int64 (n) numbers the script of each passage, `means` float32 (groups, dimension) holds the mean
    vector of each script.
    """

    ids: npt.NDArray[np.int64]
    files: npt.NDArray[np.int64]
    rows: npt.NDArray[np.void]
    group: npt.NDArray[np.int64]
    means: npt.NDArray[np.float32]

    @classmethod
    def of(
        cls, ids: Sequence[int], files: Sequence[int], scripts: Sequence[str], blobs: Sequence[bytes]
    ) -> VectorTable:
        """A table of stored vectors, all of one dimension, in the order given."""
        dimension = len(blobs[0]) - 4 if blobs else 1
        rows = np.frombuffer(b"".join(blobs), dtype=row_type(dimension))
        numbers = {script: n for n, script in enumerate(dict.fromkeys(scripts))}
        group = np.fromiter((numbers[script] for script in scripts), dtype=np.int64, count=len(scripts))
        means = _means(rows, group, max(len(numbers), 1))
        return cls(np.asarray(ids, dtype=np.int64), np.asarray(files, dtype=np.int64), rows, group, means)

    def cosines(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The cosine of each row with a unit query vector, float32 (n)."""
        scores = np.empty(len(self.ids), dtype=np.float32)
        for start in range(0, len(scores), BLOCK):
            block = self.rows[start : start + BLOCK]
            scores[start : start + BLOCK] = block["values"].astype(np.float32) @ query * block["scale"]
        return scores

    def fair_cosines(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Cosines with what a script has in advance taken away, float32 (n).

        Multilingual models put a text nearer to every text of its own language than to its translation, so
        that in a mixed folder the answer in the other language comes after all that merely shares the
        language of the question. The mean cosine of each script's passages is moved to that of all. With
        one script these are the plain cosines.
        """
        advance = self.means @ query
        overall = np.bincount(self.group, minlength=len(advance)) @ advance / max(len(self.group), 1)
        return self.cosines(query) + (overall - advance)[self.group].astype(np.float32)

    def nearest(
        self, query: npt.NDArray[np.float32], k: int, wanted_files: Sequence[int] | None
    ) -> list[tuple[int, float]]:
        """The k passages nearest to the query as (id, fair cosine), nearest first; ties by lower id."""
        if not len(self.ids):
            return []
        scores = self.fair_cosines(query)
        if wanted_files is not None:
            scores = np.where(np.isin(self.files, np.asarray(wanted_files, dtype=np.int64)), scores, _NEVER)
        count = min(k, len(scores))
        top = np.argpartition(-scores, count - 1)[:count]
        top = top[np.lexsort((self.ids[top], -scores[top]))]
        return [(int(self.ids[i]), float(scores[i])) for i in top if scores[i] > _NEVER]


def _means(rows: npt.NDArray[np.void], group: npt.NDArray[np.int64], groups: int) -> npt.NDArray[np.float32]:
    """The mean vector of each group, drawn towards the mean of all where a group is small."""
    dimension = rows.dtype["values"].shape[0]
    sums = np.zeros((groups, dimension), dtype=np.float64)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        vectors = block["values"].astype(np.float32) * block["scale"][:, None]
        part = group[start : start + BLOCK]
        for number in range(groups):
            sums[number] += vectors[part == number].sum(axis=0)
    overall = sums.sum(axis=0) / max(len(rows), 1)
    counts = np.bincount(group, minlength=groups)[:, None]
    drawn: npt.NDArray[np.float32] = ((sums + DRAWN * overall) / (counts + DRAWN)).astype(np.float32)
    return drawn
