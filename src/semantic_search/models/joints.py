"""Where words may be cut before they are segmented, without changing how they are segmented.

No piece of a vocabulary holds `d(` or `.a`: no segmentation of `self.add(x)` crosses those places, and the
best one is the best of `self`, of `.`, of `add` … in a row. Such parts recur far more often than words do: in
28 MB of source code there are 360 000 different words, made of 61 000 different parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

JOINTS = "pieces.joints"

_BITS = 10  # most alphabets lie below U+0400 or use no more than this: their pairs have a slot of their own
_SMALL = 1 << _BITS
_SLOTS = 1 << 2 * _BITS
_SPREAD = np.uint32(0x9E3779B1)
_LETTERS = 0x110000


def write(folder: Path, texts: Iterable[str]) -> None:
    """Writes which neighbouring letters occur in pieces, and which letters are pieces, as one bit each."""
    texts = list(texts)
    table = np.zeros(2 * _SLOTS + _LETTERS, np.bool_)
    pairs = sorted({pair for text in texts for pair in pairwise(text)})
    if pairs:
        points = np.array([[ord(a), ord(b)] for a, b in pairs], np.uint32)
        table[_slots(points[:, 0], points[:, 1])] = True
    table[[2 * _SLOTS + ord(text) for text in texts if len(text) == 1]] = True
    np.packbits(table).tofile(folder / JOINTS)


class Joints:
    """What `write` wrote. Two pairs of rare letters may share a slot, which only leaves a word whole."""

    def __init__(self, folder: Path) -> None:
        table = np.unpackbits(np.fromfile(folder / JOINTS, np.uint8)).view(np.bool_)
        self._together, self._lone = table[: 2 * _SLOTS], table[2 * _SLOTS :]

    def between(self, points: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """For each two neighbours of n code points whether they may be cut apart, (n - 1,)."""
        covered = self._together[_slots(points[:-1], points[1:])]
        # Letters that no piece covers are one token together, however many they are.
        unknown = ~self._lone[points]
        return ~(covered | (unknown[:-1] & unknown[1:]))


def _slots(first: NDArray[np.uint32], second: NDArray[np.uint32]) -> NDArray[np.uint32]:
    both = (first << np.uint32(_BITS)) | second
    large = np.flatnonzero((first | second) >= _SMALL)
    mixed = ((first[large] * _SPREAD) ^ second[large]) * _SPREAD
    both[large] = np.uint32(_SLOTS) + (mixed >> np.uint32(32 - 2 * _BITS))
    return both
