"""What single terms add to scores, remembered, so that a process that searches again need not count again.

BM25 is a sum over terms. The common ones are in most questions and in most rows, and take nearly all of the
time that FTS5 needs; what each adds to each row is the same for every question until somebody writes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping

import numpy as np
import numpy.typing as npt

# Bytes of remembered terms: at 50 000 passages, some hundred of the commonest.
MOST_BYTES = 64_000_000
_BYTES_OF_A_ROW = 12
# A term of fewer rows is asked for anew: that takes less than a millisecond.
FEWEST_ROWS = 500

# How many rows of terms that are not remembered a question may wait for: some 60 ms.
MOST_NEW_ROWS = 60_000

Read = Callable[[str], list[tuple[int, float]]]
"""Gives the rows that a term is in, with what it adds to the score of each."""

_Added = tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]


class TermScores:
    """Scores of rows by terms, for one state of one table. Not for several threads at once."""

    def __init__(self, read: Read, last_row: int) -> None:
        self._read = read
        self._last_row = last_row
        self._known: OrderedDict[str, _Added] = OrderedDict()
        self._bytes = 0
        self._asked: set[str] = set()

    def ready_for(self, counts: Mapping[str, int]) -> bool:
        """Whether `best` is quick for these terms, given in how many rows each is.

        Where too much is new, FTS5 answers sooner; but of the terms that were asked for before one is
        remembered now, the commonest, so that the next questions with it are quick.
        """
        new = [term for term in counts if term not in self._known]
        if sum(counts[term] for term in new) <= MOST_NEW_ROWS:
            return True
        again = [term for term in new if term in self._asked]
        self._asked.update(term for term in new if counts[term] >= FEWEST_ROWS)
        if again:
            self._added_by(max(again, key=counts.__getitem__))
        return False

    def best(self, terms: Iterable[str], k: int) -> list[tuple[int, float]]:
        """The k rows with the highest sums over the terms, best first; equal ones by row. Sums are exact.

        They are added in the order of the terms, so they are bit for bit those of FTS5 for the same order.
        """
        sums = np.zeros(self._last_row + 1)
        for term in terms:
            rows, scores = self._added_by(term)
            sums[rows] += scores
        count = min(k, len(sums))
        least = np.partition(sums, len(sums) - count)[len(sums) - count]
        best = np.flatnonzero(sums >= max(least, np.nextafter(0, 1)))
        best = best[np.lexsort((best, -sums[best]))][:k]
        return list(zip(best.tolist(), sums[best].tolist(), strict=True))

    def _added_by(self, term: str) -> _Added:
        if term in self._known:
            self._known.move_to_end(term)
            return self._known[term]
        pairs = self._read(term)
        rows = np.fromiter((row for row, _ in pairs), np.int32, len(pairs))
        added = rows, np.fromiter((score for _, score in pairs), np.float64, len(pairs))
        if len(pairs) >= FEWEST_ROWS:
            self._known[term] = added
            self._bytes += _BYTES_OF_A_ROW * len(pairs)
            while self._bytes > MOST_BYTES:
                _, (gone, _) = self._known.popitem(last=False)
                self._bytes -= _BYTES_OF_A_ROW * len(gone)
        return added
