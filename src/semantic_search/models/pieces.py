"""A SentencePiece Unigram vocabulary in files, and the segmentation of words by it in numpy.

The `tokenizers` library could do this too, but its tokenizer of 250 000 pieces takes 0.6 seconds to build and
280 MB to hold, more than all else that a search does. Here the vocabulary is a table of hashes that opens in
milliseconds, and many words are segmented at once by array operations, as fast as there.

Unigram segmentation: Kudo, "Subword Regularization" (2018): the sequence of pieces with the highest sum of
log probabilities, by dynamic programming over positions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelUnavailable
from . import joints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

INDEX, BUCKETS, SCORES = "pieces.index", "pieces.buckets", "pieces.f32"

_ROW = np.dtype([("hash", "<u8"), ("id", "<u4")])
_BUCKET_BITS = 20
_SHIFT = np.uint64(64 - _BUCKET_BITS)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, with well spread bits
_UNKNOWN_PENALTY = 10.0  # SentencePiece's: an unknown letter scores the worst piece's score minus this
_BATCH = 65_536  # characters segmented at once: some 20 MB of arrays


@dataclass(frozen=True, slots=True)
class SpecialIds:
    """The ids that begin and end a text, and the one that stands for what no piece covers."""

    begin: int
    end: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces in the order of their ids, their log probabilities, and the ids of the special ones."""

    texts: list[str]
    scores: list[float]
    special: SpecialIds

    @property
    def longest(self) -> int:
        """The length of the longest piece in characters."""
        return max(map(len, self.texts))


def write(folder: Path, pieces: Pieces) -> None:
    """Writes a vocabulary as four files.

    `<s>` and the like are left out: they are not for text. Raises ModelUnavailable for pieces that cannot be
    told apart.
    """
    ids = [id_ for id_, text in enumerate(pieces.texts) if text and not re.fullmatch("</?[a-z]+>", text)]
    index = np.empty(len(ids), _ROW)
    index["id"] = ids
    index["hash"] = _hashes([pieces.texts[id_] for id_ in ids])
    index.sort(order="hash")
    if len(np.unique(index["hash"])) != len(index):
        raise ModelUnavailable("the model's vocabulary has two equal pieces")
    index.tofile(folder / INDEX)
    edges = np.arange(1 << _BUCKET_BITS, dtype=np.uint64)
    buckets = np.searchsorted(index["hash"] >> _SHIFT, edges)
    np.append(buckets, len(index)).astype("<u4").tofile(folder / BUCKETS)
    np.array(pieces.scores, "<f4").tofile(folder / SCORES)
    joints.write(folder, [pieces.texts[id_] for id_ in ids])


class Segmenter:
    """Segments words with a vocabulary that `write` wrote."""

    def __init__(self, folder: Path, special: SpecialIds, longest: int) -> None:
        index = np.memmap(folder / INDEX, _ROW, "r")
        self._hashes = np.ascontiguousarray(index["hash"])
        self._ids = index["id"].astype(np.int32)
        self._buckets = np.fromfile(folder / BUCKETS, "<u4")
        self._scores = np.fromfile(folder / SCORES, "<f4").astype(np.float64)
        self._unknown = special.unknown
        self._unknown_score = float(np.min(self._scores)) - _UNKNOWN_PENALTY
        self._longest = longest
        self._folder = folder

    @cached_property
    def joints(self) -> joints.Joints:
        """Where no piece crosses from one letter to the next."""
        return joints.Joints(self._folder)

    def segment(self, words: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """For each word, which must not be empty, the ids of its pieces and the offsets at which they start.

        A run of letters that no piece covers is one piece with the unknown id.
        """
        segmented: list[tuple[list[int], list[int]]] = []
        batch: list[str] = []
        size = 0
        for word in words:
            batch.append(word)
            size += len(word)
            if size >= _BATCH:
                segmented += self._segment(batch)
                batch, size = [], 0
        if batch:
            segmented += self._segment(batch)
        return segmented

    def _segment(self, words: list[str]) -> list[tuple[list[int], list[int]]]:
        lengths = np.array([len(word) for word in words])
        ends = np.cumsum(lengths)
        room = np.repeat(ends, lengths) - np.arange(ends[-1])  # characters up to the end of the word
        piece = self._pieces_at(_code_points("".join(words)), room)
        steps, ids = self._best_steps(piece, ends - lengths, lengths)
        return [
            self._path(start, end, steps, ids)
            for start, end in zip((ends - lengths).tolist(), ends.tolist(), strict=True)
        ]

    def _pieces_at(self, points: NDArray[np.uint64], room: Ints) -> NDArray[np.int32]:
        """The id of the piece of each length at each position, -1 for none: (lengths, positions)."""
        count = len(points)
        longest = min(self._longest, int(np.max(room)))
        piece = np.full((longest, count), -1, np.int32)
        values = np.zeros(count, np.uint64)
        for length in range(1, longest + 1):
            last = count - length + 1
            values = values[:last] * _FACTOR + points[length - 1 :]
            where = np.flatnonzero(room[:last] >= length)
            wanted = _mixed(values[where])
            slot = wanted >> _SHIFT
            row, stop = self._buckets[slot], self._buckets[slot + np.uint64(1)]
            open_ = np.flatnonzero(row < stop)
            while len(open_):
                hit = self._hashes[row[open_]] == wanted[open_]
                found = open_[hit]
                piece[length - 1, where[found]] = self._ids[row[found]]
                open_ = open_[~hit]
                row[open_] += 1
                open_ = open_[row[open_] < stop[open_]]
        return piece

    def _best_steps(
        self, piece: NDArray[np.int32], starts: Ints, lengths: Ints
    ) -> tuple[list[int], list[int]]:
        """For each position, of the best segmentation that ends behind it, the last piece's length and id."""
        longest, count = piece.shape
        score = np.where(piece >= 0, self._scores[piece], -np.inf)
        lone = piece[0] < 0  # a letter that is no piece is unknown
        score[0, lone] = self._unknown_score
        piece[0, lone] = self._unknown
        best = np.full(count, -np.inf)
        step = np.ones(count, np.int64)
        order = np.argsort(-lengths, kind="stable")
        starts, lengths = starts[order], lengths[order]
        for position in range(int(lengths[0])):
            # All words with a letter here; ties go to the longer last piece, as in the library.
            here = starts[: int(np.searchsorted(-lengths, -position, side="left"))] + position
            top = np.full(len(here), -np.inf)
            for length in range(min(position + 1, longest), 0, -1):
                first = here - (length - 1)
                total = score[length - 1, first]
                if length <= position:
                    total = total + best[first - 1]
                better = total > top
                top[better] = total[better]
                step[here[better]] = length
            best[here] = top
        chosen = piece[step - 1, np.arange(count) - step + 1]
        return step.tolist(), chosen.tolist()

    def _path(self, start: int, end: int, steps: list[int], ids: list[int]) -> tuple[list[int], list[int]]:
        pieces: list[int] = []
        offsets: list[int] = []
        while end > start:
            id_ = ids[end - 1]
            end -= steps[end - 1]
            if pieces and id_ == pieces[-1] == self._unknown:
                offsets[-1] = end - start
            else:
                pieces.append(id_)
                offsets.append(end - start)
        return pieces[::-1], offsets[::-1]


def _code_points(text: str) -> NDArray[np.uint64]:
    return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint64)


def _hashes(texts: list[str]) -> NDArray[np.uint64]:
    """The hash of each text: a polynomial in its code points modulo 2^64, mixed."""
    lengths = np.array([len(text) for text in texts])
    starts = np.cumsum(lengths) - lengths
    points = np.append(_code_points("".join(texts)), np.zeros(1, np.uint64))
    values = np.zeros(len(texts), np.uint64)
    for position in range(int(lengths.max())):
        inside = lengths > position
        values[inside] = values[inside] * _FACTOR + points[starts[inside] + position]
    return _mixed(values)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spreads differences in low bits over all of them; one to one (Steele et al., SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
