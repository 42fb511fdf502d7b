"""Which passages wait for a vector, in arrays: as Python objects a million of them take 300 MB."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .tables import SPAN, file_of


class Waiting:
    """Passages that stand for texts without a vector, in the order of their ids; each text counts once.

    Of several passages with one text the first stands for it.
    """

    def __init__(self) -> None:
        self._ids: npt.NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._keys: npt.NDArray[np.bytes_] = np.empty(0, dtype="S1")
        self._scripts: npt.NDArray[np.object_] = np.empty(0, dtype=object)
        # What was added since; it is sorted in when somebody asks.
        self._added: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.bytes_], npt.NDArray[np.object_]]] = []
        self._last_file = -1

    @classmethod
    def of(cls, passages: pa.Table) -> Waiting:
        """What waits when these do: columns id, key and script."""
        waiting = cls()
        for batch in passages.to_batches(max_chunksize=8192):
            waiting.add(*(batch[name].to_pylist() for name in ("id", "key", "script")))
        return waiting

    def __len__(self) -> int:
        self._settle()
        return len(self._ids)

    def add(self, ids: Sequence[int], keys: Sequence[str], scripts: Iterable[str]) -> None:
        """More passages wait, unless others do with their keys (hexadecimal digits)."""
        if ids:
            # A handful of names: one object each, whatever number of passages has them.
            names = np.array([sys.intern(script) for script in scripts], dtype=object)
            self._added.append((np.array(ids, dtype=np.int64), np.array(keys, dtype=bytes), names))
            self._last_file = max(self._last_file, file_of(max(ids)))

    def any_in(self, files: Collection[int]) -> bool:
        """Whether a passage of one of the files waits."""
        if not files or min(files) > self._last_file:
            return False
        self._settle()
        return bool(np.isin(self._ids // SPAN, list(files)).any())

    def first(self, count: int) -> list[int]:
        """The ids of the first so many."""
        self._settle()
        found: list[int] = self._ids[:count].tolist()
        return found

    def places(self, ids: Sequence[int]) -> npt.NDArray[np.intp]:
        """Where each passage is in here, -1 where it does not wait: intp (len(ids))."""
        self._settle()
        wanted = np.asarray(ids, dtype=np.int64)
        places = np.searchsorted(self._ids, wanted)
        there = places < len(self._ids)
        there[there] = self._ids[places[there]] == wanted[there]
        return np.where(there, places, -1)

    def keys(self, places: npt.NDArray[np.intp]) -> list[str]:
        """The keys at some places."""
        return [key.decode() for key in self._keys[places].tolist()]

    def scripts(self, places: npt.NDArray[np.intp]) -> list[str]:
        """The scripts at some places."""
        found: list[str] = self._scripts[places].tolist()
        return found

    def with_keys(self, keys: Sequence[str]) -> Waiting:
        """Those of them whose key is one of these."""
        self._settle()
        there = np.isin(self._keys, np.array(keys, dtype=bytes))
        found = Waiting()
        found._ids, found._keys, found._scripts = (
            self._ids[there],
            self._keys[there],
            self._scripts[there],
        )
        found._last_file = self._last_file
        return found

    def drop(self, places: npt.NDArray[np.intp]) -> None:
        """Those at some places wait no more."""
        self._ids = np.delete(self._ids, places)
        self._keys = np.delete(self._keys, places)
        self._scripts = np.delete(self._scripts, places)

    def _settle(self) -> None:
        if not self._added:
            return
        ids = np.concatenate([self._ids, *(part[0] for part in self._added)])
        keys = np.concatenate([self._keys, *(part[1] for part in self._added)])
        scripts = np.concatenate([self._scripts, *(part[2] for part in self._added)])
        self._added = []
        order = np.argsort(ids, kind="stable")
        _, first = np.unique(keys[order], return_index=True)
        kept = order[np.sort(first)]
        self._ids, self._keys, self._scripts = ids[kept], keys[kept], scripts[kept]
