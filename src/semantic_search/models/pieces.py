"""A SentencePiece Unigram vocabulary, and how it segments a short text without the `tokenizers` library.

Building that library's tokenizer from 250 000 pieces takes half a second, more than a whole search may cost.
A query needs a few hundred look-ups, which a sorted array of hashes read by memory map answers at once.

Unigram segmentation: Kudo, "Subword Regularization" (2018): the sequence of pieces with the highest sum of
log probabilities, by dynamic programming over positions.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXTS, SCORES, INDEX = "pieces.txt", "pieces.f32", "pieces.index"
FILES = (TEXTS, SCORES, INDEX)

_INDEX_ROW = np.dtype([("hash", "<u8"), ("id", "<u4")])
_UNKNOWN_PENALTY = 10.0  # SentencePiece's: an unknown letter scores the worst piece's score minus this
_SPACE = "\u2581"  # SentencePiece writes a space as this letter
_WHITE_SPACE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_NO_TEXT = "\ufdd0"  # a noncharacter: a special piece that begins with it matches no text


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

    def without_special_texts(self) -> Pieces:
        """The same ids, but `<s>` and the like, which are not for text, no longer match any."""
        texts = [_NO_TEXT + text if re.fullmatch("</?[a-z]+>", text) else text for text in self.texts]
        return Pieces(texts, self.scores, self.special)


def write(folder: Path, pieces: Pieces) -> None:
    """Writes a vocabulary as three files. Raises ModelUnavailable for one that they cannot hold."""
    index = np.empty(len(pieces.texts), _INDEX_ROW)
    index["hash"] = [_hash(text) for text in pieces.texts]
    index["id"] = np.arange(len(index))
    index.sort(order=["hash", "id"])
    if len(np.unique(index["hash"])) != len(index) or any("\n" in text for text in pieces.texts):
        raise ModelUnavailable("the model's vocabulary has two equal pieces, or one with a line break")
    (folder / TEXTS).write_bytes("\n".join(pieces.texts).encode())
    np.array(pieces.scores, "<f4").tofile(folder / SCORES)
    index.tofile(folder / INDEX)


def read(folder: Path) -> list[tuple[str, float]]:
    """The pieces that `write` wrote with their scores, in the order of their ids."""
    texts = (folder / TEXTS).read_bytes().decode().split("\n")
    return list(zip(texts, np.fromfile(folder / SCORES, "<f4").tolist(), strict=True))


class Segmenter:
    """Segments texts with a vocabulary that lies in files; nothing is loaded before it is needed."""

    def __init__(self, folder: Path, special: SpecialIds, longest: int) -> None:
        index = np.memmap(folder / INDEX, _INDEX_ROW, "r")
        self._hashes: NDArray[np.uint64] = index["hash"]
        self._ids: NDArray[np.uint32] = index["id"]
        self._scores: NDArray[np.float32] = np.memmap(folder / SCORES, "<f4", "r")
        self._special = special
        self._unknown_score = float(self._scores.min()) - _UNKNOWN_PENALTY
        self._longest = longest

    def ids(self, text: str) -> list[int]:
        """The ids of a text's pieces without special ones, as the `tokenizers` library finds them.

        Meant for short texts: some 10 microseconds a letter.
        """
        words = _WHITE_SPACE.split(unicodedata.normalize("NFKC", text))
        return [piece for word in words if word for piece in self._segment(_SPACE + word)]

    def _segment(self, word: str) -> list[int]:
        found = self._look_up(word)
        # best[i] is the score of the best segmentation of word[:i], step[i] the (start, id) of its last piece
        best = [0.0] + [-np.inf] * len(word)
        step = [(0, 0)] * (len(word) + 1)
        for start in range(len(word)):
            pieces = found.get(start, [])
            if not any(end == start + 1 for end, _, _ in pieces):
                pieces = [*pieces, (start + 1, self._special.unknown, self._unknown_score)]
            for end, piece, score in pieces:
                if best[start] + score > best[end]:
                    best[end] = best[start] + score
                    step[end] = (start, piece)
        ids: list[int] = []
        end = len(word)
        while end:
            end, piece = step[end]
            if (
                piece != self._special.unknown or not ids or ids[-1] != piece
            ):  # a run of unknown letters is one piece
                ids.append(piece)
        return ids[::-1]

    def _look_up(self, word: str) -> dict[int, list[tuple[int, int, float]]]:
        """For each start the pieces that lie there in the word: (end, id, score)."""
        spans = [
            (start, end)
            for start in range(len(word))
            for end in range(start + 1, min(start + self._longest, len(word)) + 1)
        ]
        wanted = np.array([_hash(word[start:end]) for start, end in spans], np.uint64)
        rows = np.minimum(np.searchsorted(self._hashes, wanted), len(self._hashes) - 1)
        found: dict[int, list[tuple[int, int, float]]] = {}
        for hit in np.flatnonzero(self._hashes[rows] == wanted).tolist():
            start, end = spans[hit]
            piece = int(self._ids[rows[hit]])
            found.setdefault(start, []).append((end, piece, float(self._scores[piece])))
        return found


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
