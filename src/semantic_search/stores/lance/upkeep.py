"""What keeps a LanceDB index quick and small: merging pieces, renewing indexes, dropping old versions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from lancedb.index import IvfSq

from .allocation import give_back
from .failures import translated
from .tables import ENTRIES, META, VECTORS
from .vectors import WAITING, LanceVectors, mark

# From so many vectors on an index over them pays. Of 100 000, comparing with each takes 200 ms, where this
# index takes 7 and finds the same 25; it is made in 4 s, one of HNSW in 190, of product quantisation in 97.
VECTOR_INDEX_ROWS = 50_000
# How many vectors for each of its parts the index is made from. LanceDB's own 256 takes 5 s at
# 300 000 vectors instead of 3, and finds the same.
_SAMPLES = 64
# How many small pieces a table may be in, or versions it may have, before they are merged: when there is time
# (`tidy`), and at the latest. Merging writes the whole table anew.
_PIECES = 64
# A piece takes so much beside its rows: a small table may be in fewer.
_PIECE_BYTES = 100_000
_FEW_PIECES = 6
_MOST_PIECES = 400
# How many new rows at least, and which part of all, are searched without an index before it is renewed.
_TAIL_ROWS = 2_000
_TAIL_PART = 8
_TIDIED = "tidied:"


class LanceUpkeep(LanceVectors):
    """See `Store` for the public methods."""

    def __init__(self, path: str, *, create: bool, any_version: bool = False) -> None:
        super().__init__(path, create=create, any_version=any_version)
        self._commits: dict[str, int] = {}

    def tidy(self) -> None:
        """See `Store`. Vectors of vanished text are kept until they outnumber the live ones, so that a
        change of branch and back embeds nothing again."""
        with self._lock:
            left = self._left_unfinished()
            self._refresh()
            waiting = self._waiting_now()
            if self._count("kind = 0"):
                self._commit(self._entries, lambda: self._entries.delete("kind = 0"))
            if self._vectors is not None:
                orphans = self._orphans()
                total = self._count(None, self._vectors)
                if len(orphans) > max(1000, total - len(orphans)):
                    self._drop_orphans()
                self._index_vectors()
            for name in (ENTRIES, VECTORS, META):
                self._keep_up(name, pieces=-1 if left else _PIECES, tail=_TAIL_ROWS, part=_TAIL_PART)
            with self.snapshot():
                # A search then need not compare all keys to say how many texts wait.
                count = len(self._waiting() if waiting is None else waiting)
                self.set_meta(WAITING, mark(self._state(), count))
            self._mark_finished()

    def _committed(self, name: str) -> None:
        """Counts commits of a table, and looks after it now and then: however long the run, and however many
        runs of a few commits there are, such as those of searches that find changed files."""
        before = self._commits.get(name, 0)
        self._commits[name] = before + 1
        if before % _PIECES == 0:
            for each in (name, META):
                self._keep_up(each, pieces=_MOST_PIECES, tail=10 * _TAIL_ROWS, part=1)
            if name == VECTORS:
                # Every batch of texts to be embedded is looked up, and what no index covers is read whole.
                self._keep_up(ENTRIES, pieces=_MOST_PIECES, tail=10 * _TAIL_ROWS, part=_TAIL_PART)

    def _keep_up(self, name: str, *, pieces: int, tail: int, part: int) -> None:
        """Merges small pieces when they are many, and renews indexes when much is not in them yet.

        `pieces`, or less in a small table, also bounds the versions since the last time; `tail` rows, or the
        `part`th part of those in the index, may be outside of it.
        """
        table, index = self._named_table(name)
        if table is None:
            return
        with translated(self.path):
            table.checkout_latest()
            stats = table.stats()
            pieces = min(pieces, max(_FEW_PIECES, stats["total_bytes"] // _PIECE_BYTES))
            # A new table has a version for itself and one for each of its indexes.
            since = int(self.meta(_TIDIED + name) or 1 + stats["num_indices"])
            due = table.version - since > pieces
            due = due or stats["fragment_stats"]["num_small_fragments"] > pieces
            if index and not due:
                found = table.index_stats(index)
                due = found.num_unindexed_rows > max(tail, found.num_indexed_rows // part)
        if due:
            give_back()
            # Nobody else writes here meanwhile: what nothing refers to is what a killed process left.
            self._optimize(table, self.retention, unverified=not self.remote)
            # A call of its own: whoever begins to read during the long one may see what it replaced.
            with self._readers.none() as unread:
                if unread and self.retention:
                    self._optimize(table, timedelta(0), unverified=True)
            self.set_meta(_TIDIED + name, str(table.version))

    def _named_table(self, name: str) -> tuple[Any, str]:
        """A table and the index that tells how much of it is in indexes."""
        if name == ENTRIES:
            return self._entries, "words_idx"
        return (self._vectors, "key_idx") if name == VECTORS else (self._meta, "")

    def _index_vectors(self) -> None:
        """Makes the index over the vectors once they are many; LanceDB keeps it up from then on."""
        names = {column for index in self._vectors.list_indices() for column in index.columns}
        if self._count(None, self._vectors) >= VECTOR_INDEX_ROWS and "vector" not in names:
            config = IvfSq(distance_type="cosine", sample_rate=_SAMPLES)
            give_back()
            self._commit(self._vectors, lambda: self._vectors.create_index("vector", config=config))
