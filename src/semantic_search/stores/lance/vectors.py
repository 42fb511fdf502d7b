"""Vectors of a LanceDB index: which texts wait for one, and the table that keeps them by key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from lancedb.index import BTree

from ..rows import EVERYTHING, Filter
from .contents import LanceContents
from .failures import translated
from .script_sums import ScriptSums, add_to_sums, pack_sums
from .search import SUMS
from .tables import PASSAGE, VECTORS, Row, any_of, vectors_schema
from .waiting import Waiting

_SLICE = 5_000
WAITING = "waiting"


class LanceVectors(LanceContents):
    """See `Store` for the public methods."""

    def has_vectors(self) -> bool:
        """See `Store`."""
        with self.snapshot():
            return self._vectors is not None and self._count(None, self._vectors) > 0

    def pending_count(self, wanted: Filter = EVERYTHING) -> int:
        """See `Store`."""
        with self.snapshot():
            if not wanted.empty and self.pending_count():
                return len(self._waiting_in(wanted))
            state, _, count = self.meta(WAITING).rpartition(" ")
            return int(count) if state == mark(self._state()) else len(self._waiting())

    def pending(self, limit: int, wanted: Filter = EVERYTHING) -> list[tuple[int, str]]:
        """See `Store`. An embedding's id is that of a passage with its text."""
        with self.snapshot():
            ids = self._waiting_in(wanted).first(limit)
            found = self.passages(ids)
        return [(id_, found[id_].chunk.embedded_text) for id_ in ids]

    def _waiting_in(self, wanted: Filter) -> Waiting:
        """What waits and is a text of wanted files."""
        waiting = self._waiting()
        condition = self._condition(wanted)
        if condition == "":
            return waiting
        if condition is None or not len(waiting):
            return Waiting()
        return waiting.with_keys(
            self._table(["key"], f"kind = {PASSAGE} AND ({condition})")["key"].to_pylist()
        )

    def _waiting(self) -> Waiting:
        return self._kept("waiting", self._find_waiting)

    def _waiting_now(self) -> Waiting | None:
        """What waits, where that is known without comparing all keys."""
        state = self._state()
        if self._cache[0] == state and "waiting" in self._cache[1]:
            found: Waiting = self._cache[1]["waiting"]
            return found
        return Waiting() if self.meta(WAITING) == mark(state, 0) else None

    def _carry_waiting(self, before: Waiting | None, rows: Sequence[Row]) -> None:
        """What waits after a commit of rows, from what waited before it (None: not known)."""
        if before is None or before.any_in({row["file"] for row in rows}):
            return  # another passage may have the text of one that is gone: all keys are compared again
        new = [row for row in rows if row["kind"] == PASSAGE]
        if new and self._vectors is not None:
            keys = any_of("key", {row["key"] for row in new})
            there = set(self._table(["key"], keys, self._vectors)["key"].to_pylist())
            new = [row for row in new if row["key"] not in there]
        before.add(*([row[name] for row in new] for name in ("id", "key", "script")))
        self._kept("waiting", lambda: before)

    def _find_waiting(self) -> Waiting:
        known = self._waiting_now()
        return Waiting.of(self._keys_without_vector()) if known is None else known

    def _waiting_passages(self) -> list[int]:
        found: list[int] = self._keys_without_vector()["id"].to_pylist()
        return found

    def _keys_without_vector(self) -> pa.Table:
        passages = self._table(["id", "key", "script"], f"kind = {PASSAGE}")
        if self._vectors is None:
            return passages
        return passages.filter(pc.invert(pc.is_in(passages["key"], self._keys())))

    def _keys(self) -> pa.Array:
        return self._table(["key"], "", self._vectors)["key"].combine_chunks()

    def _orphans(self) -> list[str]:
        if self._vectors is None:
            return []
        live = self._table(["key"], f"kind = {PASSAGE}")["key"].combine_chunks()
        keys = self._keys()
        found: list[str] = keys.filter(pc.invert(pc.is_in(keys, live))).to_pylist()
        return found

    def _drop_orphans(self) -> None:
        self._refresh()
        orphans = self._orphans()
        for start in range(0, len(orphans), _SLICE):
            self._drop_vectors(orphans[start : start + _SLICE])
        if orphans:
            self._keep_sums(self._summed())

    def _drop_vectors(self, keys: Sequence[str]) -> None:
        self._commit(self._vectors, lambda: self._vectors.delete(any_of("key", keys)))

    def put_vectors(self, ids: Sequence[int], vectors: npt.NDArray[np.float32]) -> None:
        """See `Store`."""
        with self._lock:
            with self.snapshot():
                waiting = self._waiting()
            places = waiting.places(ids)
            there = places >= 0
            if not there.any():
                return
            places = places[there]
            self._add_vectors(waiting.keys(places), waiting.scripts(places), vectors[there])
            # Nobody else writes meanwhile, so what waits now is what waited less these.
            waiting.drop(places)
            self._kept("waiting", lambda: waiting)
            if not len(waiting):
                # A search then need not compare all keys to say that nothing waits.
                self.set_meta(WAITING, mark(self._state(), 0))

    def _add_vectors(
        self, keys: Sequence[str], scripts: Sequence[str], vectors: npt.NDArray[np.float32]
    ) -> None:
        rows = pa.table([list(keys), list(scripts), _arrow(vectors)], schema=vectors_schema(vectors.shape[1]))
        if self._vectors is None:
            self._make_vectors(rows.schema)
        sums = self._sums()
        add_to_sums(sums, scripts, vectors)
        self._commit(self._vectors, lambda: self._vectors.add(rows))
        self._keep_sums(sums)
        self._committed(VECTORS)

    def _committed(self, name: str) -> None:
        """A commit was made to a table."""

    def _make_vectors(self, schema: pa.Schema) -> None:
        with translated(self.path):
            name = self._name(VECTORS)
            self._vectors = self._db.create_table(name, schema=schema, exist_ok=True)
            self._vectors.create_index("key", config=BTree(), replace=True)

    def _keep_sums(self, sums: ScriptSums) -> None:
        self.set_meta(SUMS, pack_sums(sums))

    def adopt_vectors(self, path: str) -> None:
        """See `Store`."""
        other = LanceVectors(path, create=False, any_version=True)
        with other.snapshot():
            for keys, scripts, vectors in other.stored_vectors():
                self.take_vectors(keys, scripts, vectors)

    def stored_vectors(self) -> Iterator[tuple[list[bytes], list[str], npt.NDArray[np.float32]]]:
        """See `Store`."""
        if self._vectors is None:
            return
        with translated(self.path):
            for batch in self._vectors.search().limit(None).to_batches(4096):
                if batch.num_rows:
                    vectors = np.stack(batch["vector"].to_numpy(zero_copy_only=False)).astype(np.float32)
                    keys = [bytes.fromhex(key) for key in batch["key"].to_pylist()]
                    yield keys, batch["script"].to_pylist(), vectors

    def take_vectors(
        self, keys: Sequence[bytes], scripts: Sequence[str], vectors: npt.NDArray[np.float32]
    ) -> None:
        """See `Store`."""
        names = [key.hex() for key in keys]
        with self._lock:
            self._refresh()
            there: set[str] = set()
            if self._vectors is not None and names:
                there = set(self._table(["key"], any_of("key", names), self._vectors)["key"].to_pylist())
            places = [n for n, key in enumerate(names) if key not in there]
            if places:
                self._add_vectors([names[n] for n in places], [scripts[n] for n in places], vectors[places])


def mark(state: tuple[int, int], *more: int) -> str:
    """The versions of the tables, and more numbers, as text."""
    return " ".join(map(str, (*state, *more)))


def _arrow(vectors: npt.NDArray[np.float32]) -> pa.FixedSizeListArray:
    flat = np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1)
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), vectors.shape[1])
