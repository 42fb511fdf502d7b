"""Unit vectors kept as int8 with one scale each, and exact search over them.

A component's error is at most half a step of 1/127 of the vector's largest component, which moves a cosine
by about 0.0005; a passage costs 4 + dimension bytes instead of 4 x dimension.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# Numbers that are turned into float32 at a time: half a megabyte stays in the cache of one core, which makes
# the scan three times as fast as large blocks do, and OpenBLAS takes no second thread for so few.
BLOCK = 1 << 17

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

    `group` int16 (n) numbers the script of each passage, `counts` int64 (groups) says how many passages each
    script has, and `means` float32 (groups, dimension) holds its mean vector.
    """

    ids: npt.NDArray[np.int64]
    files: npt.NDArray[np.int64]
    rows: npt.NDArray[np.void]
    group: npt.NDArray[np.int16]
    counts: npt.NDArray[np.int64]
    means: npt.NDArray[np.float32]

    @classmethod
    def of(cls, batches: Iterable[Sequence[tuple[int, int, str, bytes]]]) -> VectorTable:
        """A table of (passage id, file id, script, stored vector), all of one dimension, in the order given.

        Rows come in batches, so that never more of them than that are Python objects.
        """
        ids, files, group = array("q"), array("q"), array("h")
        numbers: dict[str, int] = {}
        packed = bytearray()
        size = 0
        for batch in batches:
            some_ids, some_files, scripts, blobs = zip(*batch, strict=True)
            size = len(blobs[0])
            ids.extend(some_ids)
            files.extend(some_files)
            for script in dict.fromkeys(scripts):
                numbers.setdefault(script, len(numbers))
            group.extend(map(numbers.__getitem__, scripts))
            packed += b"".join(blobs)
        rows = np.frombuffer(packed, dtype=row_type(max(size - 4, 1)))
        groups = np.frombuffer(group, dtype=np.int16)
        counts = np.bincount(groups, minlength=1)
        return cls(
            np.frombuffer(ids, dtype=np.int64),
            np.frombuffer(files, dtype=np.int64),
            rows,
            groups,
            counts,
            _means(rows, groups, counts),
        )

    def cosines(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The cosine of each row with a unit query vector, float32 (n)."""
        query = np.ascontiguousarray(query, dtype=np.float32)
        scores = np.empty(len(self.ids), dtype=np.float32)
        for start, values in _blocks(self.rows):
            np.dot(values, query, out=scores[start : start + len(values)])
        scores *= self.rows["scale"]
        return scores

    def fair_cosines(self, query: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Cosines with what a script has in advance taken away, float32 (n).

        Multilingual models put a text nearer to every text of its own language than to its translation, so
        that in a mixed folder the answer in the other language comes after all that merely shares the
        language of the question. The mean cosine of each script's passages is moved to that of all. With
        one script these are the plain cosines.
        """
        scores = self.cosines(query)
        if len(self.counts) > 1:
            advance = self.means @ query
            overall = self.counts @ advance / len(self.ids)
            scores += (overall - advance).astype(np.float32)[self.group]
        return scores

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


def _blocks(rows: npt.NDArray[np.void]) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
    """The components of some rows after the other as float32, with the place of the first of them.

    Each block lies where the last one lay.
    """
    dimension = rows.dtype["values"].shape[0]
    size = max(BLOCK // dimension, 1)
    room = np.empty((min(size, len(rows)), dimension), dtype=np.float32)
    for start in range(0, len(rows), size):
        block = room[: len(rows) - start]
        np.copyto(block, rows["values"][start : start + size])
        yield start, block


def _means(
    rows: npt.NDArray[np.void], group: npt.NDArray[np.int16], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """The mean vector of each group, drawn towards the mean of all where a group is small."""
    groups = np.arange(len(counts), dtype=np.int16)[:, None]
    sums = np.zeros((len(counts), rows.dtype["values"].shape[0]), dtype=np.float64)
    for start, values in _blocks(rows):
        part = slice(start, start + len(values))
        sums += np.where(group[part] == groups, rows["scale"][part], np.float32(0)) @ values
    overall = sums.sum(axis=0) / max(len(rows), 1)
    drawn: npt.NDArray[np.float32] = ((sums + DRAWN * overall) / (counts[:, None] + DRAWN)).astype(np.float32)
    return drawn
