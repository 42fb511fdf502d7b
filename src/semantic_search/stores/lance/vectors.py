"""Vectors of a LanceDB index: which texts wait for one, and the table that keeps them by key."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from lancedb.index import BTree

from ..rows import EVERYTHING, Filter
from .contents import LanceContents
from .script_sums import ScriptSums, add_to_sums, pack_sums
from .search import SUMS
from .session import translated
from .tables import PASSAGE, VECTORS, Row, any_of, file_of, vectors_schema

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
            waiting = self._waiting_in(wanted)
            ids = [id_ for id_, _ in zip(waiting, range(limit), strict=False)]
            found = self.passages(ids)
        return [(id_, found[id_].chunk.embedded_text) for id_ in ids]

    def _waiting_in(self, wanted: Filter) -> Collection[int]:
        """The ids of what waits and is a text of wanted files, in order."""
        waiting = self._waiting()
        condition = self._condition(wanted)
        if condition == "":
            return waiting
        if condition is None or not waiting:
            return ()
        texts = set(self._table(["key"], f"kind = {PASSAGE} AND ({condition})")["key"].to_pylist())
        return [id_ for id_, (key, _) in waiting.items() if key in texts]

    def _waiting(self) -> dict[int, tuple[str, str]]:
        """Passages that stand for texts without a vector: id to (key, script), in order."""
        return self._kept("waiting", self._find_waiting)

    def _waiting_now(self) -> dict[int, tuple[str, str]] | None:
        """What waits, where that is known without comparing all keys."""
        state = self._state()
        if self._cache[0] == state and "waiting" in self._cache[1]:
            found: dict[int, tuple[str, str]] = self._cache[1]["waiting"]
            return found
        return {} if self.meta(WAITING) == mark(state, 0) else None

    def _carry_waiting(self, before: dict[int, tuple[str, str]] | None, rows: Sequence[Row]) -> None:
        """What waits after a commit of rows, from what waited before it (None: not known)."""
        files = {row["file"] for row in rows}
        if before is None or any(file_of(id_) in files for id_ in before):
            return  # another passage may have the text of one that is gone: all keys are compared again
        known = {key for key, _ in before.values()}
        new: dict[str, Row] = {}
        for row in rows:
            if row["kind"] == PASSAGE and row["key"] not in known:
                new.setdefault(row["key"], row)
        if new and self._vectors is not None:
            for key in self._table(["key"], any_of("key", new), self._vectors)["key"].to_pylist():
                new.pop(key, None)
        waiting = {**before, **{row["id"]: (key, row["script"]) for key, row in new.items()}}
        self._kept("waiting", lambda: waiting)

    def _find_waiting(self) -> dict[int, tuple[str, str]]:
        known = self._waiting_now()
        if known is not None:
            return known
        rows = self._keys_without_vector().sort_by("id").to_pylist()
        first: dict[str, Row] = {}
        for row in rows:
            first.setdefault(row["key"], row)
        return {row["id"]: (key, row["script"]) for key, row in first.items()}

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
                places = [n for n, id_ in enumerate(ids) if id_ in waiting]
            if not places:
                return
            keys = [waiting[ids[n]][0] for n in places]
            scripts = [waiting[ids[n]][1] for n in places]
            self._add_vectors(keys, scripts, vectors[places])
            # Nobody else writes meanwhile, so what waits now is what waited less these.
            left = dict(waiting)
            for n in places:
                left.pop(ids[n])
            self._kept("waiting", lambda: left)
            if not left:
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
