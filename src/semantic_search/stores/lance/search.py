"""The two arms over a LanceDB index, and what ranking asks of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from .. import bm25
from ..rows import Filter, Passage
from ..selection import files_wanted
from ..sqlite_rows import unpacked
from ..sqlite_words import CONTEXT_WEIGHT
from .failures import translated
from .script_sums import ScriptSums, add_to_sums, advances_of, unpack_sums
from .session import LanceSession, terms_in
from .tables import (
    FILE,
    FILE_COLUMNS,
    PASSAGE,
    PASSAGE_COLUMNS,
    Row,
    any_of,
    file_of,
    file_row_id,
    name_to_text,
    passage_of,
    quoted,
    slices_of,
    text_to_name,
)

# LanceDB finds candidates, by its own weights; this many times as many as wanted are then scored by ours.
_DEPTH = 4
_LEAST = 100
# A condition is a list of ranges up to so many, then a list of numbers.
_MOST_RANGES = 40
# Up to so many texts, those of the wanted files are named to the vector search; of more it is asked for
# as many neighbours as it takes.
_NAMED = 5_000
# More terms than this are first sorted into those that occur at all.
_FEW_TERMS = 24
_LOOK = 500
SUMS = "vector-sums"
# The search of an index over vectors: how many of its parts are looked at, and how many times as many
# neighbours are fetched and compared exactly.
_PROBES = 64
_REFINE = 4


class LanceArms(LanceSession):
    """See `Store` for the public methods."""

    # By words

    def match(self, terms: Sequence[str], wanted: Filter, k: int) -> list[tuple[int, float]]:
        """See `Store`."""
        distinct = list(dict.fromkeys(terms))
        with self.snapshot():
            condition = self._condition(wanted)
            if not distinct or condition is None:
                return []
            found = self._matching("words", distinct, condition, k, ["id", "words", "text_terms"])
            if not found:
                return []
            statistics = self._statistics(distinct)
        scored = []
        for row in found:
            words = row["words"].split(" ")
            split = row["text_terms"]
            score = bm25.score(words[:split], words[split:], CONTEXT_WEIGHT, statistics)
            scored.append((int(row["id"]), score))
        scored.sort(key=lambda pair: (-pair[1], pair[0]))
        return scored[:k]

    def match_files(
        self, terms: Sequence[str], wanted: Filter, k: int
    ) -> list[tuple[tuple[str, str], float]]:
        """See `Store`. Scores are LanceDB's own: its statistics are those of a part of the index each."""
        distinct = list(dict.fromkeys(terms))
        with self.snapshot():
            condition = self._condition(wanted)
            if not distinct or condition is None:
                return []
            found = self._matching("whole", distinct, condition, k, ["id", "folder", "path", "chunks"])
        found = [row for row in found if row["chunks"]]
        found.sort(key=lambda row: (-row["_score"], row["id"]))
        return [
            ((text_to_name(row["folder"]), text_to_name(row["path"])), float(row["_score"]))
            for row in found[:k]
        ]

    def _matching(
        self, column: str, terms: Sequence[str], condition: str, k: int, columns: list[str]
    ) -> list[Row]:
        limit = min(max(_DEPTH * k, _LEAST), max(self._count(), 1))
        query = self._entries.search(terms_in(column, terms))
        if condition:
            query = query.where(condition, prefilter=True)
        rows: list[Row] = self._found(query.select([*columns, "_score"]).limit(limit)).to_pylist()
        return rows

    def _statistics(self, terms: Sequence[str]) -> bm25.Statistics:
        rows, tokens = self._kept("totals", self._totals)
        return bm25.Statistics(rows, tokens, self.frequencies(terms))

    def _totals(self) -> tuple[int, int]:
        found = self._table(["chunks", "tokens"], f"kind = {FILE}")
        return sum(found["chunks"].to_pylist()), sum(found["tokens"].to_pylist())

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """See `Store`."""
        distinct = list(dict.fromkeys(terms))
        with self.snapshot():
            counts: dict[str, int] = self._kept("frequencies", dict)
            new = [term for term in distinct if term not in counts]
            if len(new) > _FEW_TERMS:
                present = self._present(new)
                counts.update((term, 0) for term in new if term not in present)
                new = [term for term in new if term in present]
            for term in new:
                query = self._entries.search(terms_in("words", [term])).select(["_score"])
                counts[term] = self._found(query.limit(max(self._count(), 1))).num_rows
            return {term: counts[term] for term in distinct}

    def _present(self, terms: Sequence[str]) -> set[str]:
        """Those of many terms that occur at all. The rarest come first, so few looks are needed."""
        left, present = set(terms), set()
        while left:
            query = self._entries.search(terms_in("words", sorted(left)))
            rows = self._found(query.select(["words", "_score"]).limit(_LOOK))["words"].to_pylist()
            seen = left.intersection(*[{word for row in rows for word in row.split(" ")}])
            if not seen:
                break
            present |= seen
            left -= seen
        return present

    def passage_count(self) -> int:
        """See `Store`."""
        with self.snapshot():
            return self._kept("totals", self._totals)[0]

    # Filters

    def _condition(self, wanted: Filter) -> str | None:
        """What a filter lets through, as a condition on rows; empty for everything, None for nothing."""
        if wanted.empty:
            return ""
        rows = self._kept("files", self._file_names)
        found = files_wanted(rows, wanted)
        if len(found) == len(rows):
            return ""
        if not found:
            return None
        if len(found) * 2 > len(rows):
            others = set(found)
            return f"NOT ({_within(id_ for id_, *_ in rows if id_ not in others)})"
        return _within(found)

    def _file_names(self) -> list[tuple[int, str, str, str, str]]:
        rows = self._rows(["file", "folder", "path", "language", "tags"], f"kind = {FILE} AND chunks > 0")
        rows.sort(key=lambda row: row["file"])
        return [
            (
                row["file"],
                text_to_name(row["folder"]),
                text_to_name(row["path"]),
                row["language"],
                row["tags"],
            )
            for row in rows
        ]

    # By meaning

    def nearest(self, vector: npt.NDArray[np.float32], wanted: Filter, k: int) -> list[tuple[int, float]]:
        """See `Store`."""
        with self.snapshot():
            condition = self._condition(wanted)
            if self._vectors is None or condition is None:
                return []
            advances = self._kept("advances", lambda: advances_of(self._sums()))
            total = self._count(None, self._vectors)
            if not total:
                return []
            named = self._named(condition)
            found: list[tuple[int, float]] = []
            for script, advance in advances.items():
                allowed = float(advance @ vector)
                hits = self._nearest_of(
                    script if len(advances) > 1 else None, vector, condition, named, k, total
                )
                found += [(id_, cosine - allowed) for id_, cosine in hits]
        found.sort(key=lambda pair: (-pair[1], pair[0]))
        return found[:k]

    def _named(self, condition: str) -> str | None:
        """A condition on vectors that names the texts of few wanted passages, None when they are many."""
        if not condition:
            return None
        within = f"kind = {PASSAGE} AND ({condition})"
        if self._count(within) > _NAMED:
            return None
        keys = sorted(set(self._table(["key"], within)["key"].to_pylist()))
        return any_of("key", keys) if keys else "false"

    def _nearest_of(
        self,
        script: str | None,
        vector: npt.NDArray[np.float32],
        condition: str,
        named: str | None,
        k: int,
        total: int,
    ) -> list[tuple[int, float]]:
        """Up to k passages of a script (None: of any) as (id, cosine), nearest first."""
        parts = ([f"script = {quoted(script)}"] if script is not None else []) + ([named] if named else [])
        limit = min(k if not condition or named else _DEPTH * k, total)
        while True:
            cosines = self._neighbours(vector, " AND ".join(parts), limit)
            passages = self._with_keys(list(cosines), condition)
            if len(passages) >= k or len(cosines) < limit or limit >= total:
                break
            # Vectors of other files, or of text that is no more, were in the way.
            limit = min(limit * 4, total)
        ranked = sorted(((id_, cosines[key]) for id_, key in passages), key=lambda hit: (-hit[1], hit[0]))
        return ranked[:k]

    def _neighbours(self, vector: npt.NDArray[np.float32], condition: str, limit: int) -> dict[str, float]:
        query = self._vectors.search(vector, vector_column_name="vector").distance_type("cosine")
        query = query.nprobes(_PROBES).refine_factor(_REFINE)
        if condition:
            query = query.where(condition, prefilter=True)
        found = self._found(query.select(["key", "_distance"]).limit(limit))
        distances = found["_distance"].to_pylist()
        return {
            key: 1.0 - distance for key, distance in zip(found["key"].to_pylist(), distances, strict=True)
        }

    def _with_keys(self, keys: Sequence[str], condition: str) -> list[tuple[int, str]]:
        """Passages, as (id, key), whose text has one of the keys."""
        if not keys:
            return []
        within = f" AND ({condition})" if condition else ""
        found = self._table(["id", "key"], f"kind = {PASSAGE} AND {any_of('key', keys)}{within}")
        return list(zip(found["id"].to_pylist(), found["key"].to_pylist(), strict=True))

    def _sums(self) -> ScriptSums:
        """The sums that were kept; taken anew where they are not those of the vectors there are."""
        rows = self._count(None, self._vectors)
        kept = unpack_sums(self.meta(SUMS))
        counted = sum(count for count, _ in kept.values())
        return kept if abs(counted - rows) <= rows // 100 else self._summed()

    def _summed(self) -> ScriptSums:
        sums: ScriptSums = {}
        with translated(self.path):
            query = self._vectors.search().select(["script", "vector"]).limit(None)
            for batch in query.to_batches(8192):
                scripts = batch["script"].to_pylist()
                vectors = np.stack(batch["vector"].to_numpy(zero_copy_only=False)) if len(scripts) else None
                if vectors is not None:
                    add_to_sums(sums, scripts, vectors)
        return sums

    # What was found

    def passages(self, ids: Sequence[int]) -> dict[int, Passage]:
        """See `Store`."""
        with self.snapshot():
            rows: list[Row] = []
            for condition in slices_of("id", ids):
                rows += self._rows(PASSAGE_COLUMNS, f"{condition} AND kind = {PASSAGE}")
            return self._passages_of_rows(rows)

    def _passages_of_rows(self, rows: Sequence[Row]) -> dict[int, Passage]:
        own: dict[int, tuple[Row, str]] = {}
        for condition in slices_of("id", sorted({file_row_id(row["file"]) for row in rows})):
            rows_of = self._rows([*FILE_COLUMNS, "text"], condition)
            with translated(self.path):
                own |= {file_of(row["id"]): (row, unpacked(row["text"])) for row in rows_of}
        return {row["id"]: passage_of(row, *own[row["file"]]) for row in rows}

    def passages_of(self, folder: str, path: str) -> list[Passage]:
        """See `Store`."""
        with self.snapshot():
            numbers = self._numbers([(folder, path)])
            if not numbers:
                return []
            rows = self._rows(PASSAGE_COLUMNS, f"{any_of('file', numbers.values())} AND kind = {PASSAGE}")
            found = self._passages_of_rows(rows)
        return [found[id_] for id_ in sorted(found)]

    def symbols(self, files: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
        """See `Store`."""
        named: dict[tuple[str, str], list[str]] = {file: [] for file in files}
        with self.snapshot():
            numbers = {number: file for file, number in self._numbers(list(named)).items()}
            if numbers:
                condition = f"{any_of('file', numbers)} AND kind = {PASSAGE} AND symbol != ''"
                rows = self._rows(["id", "file", "symbol"], condition)
                for row in sorted(rows, key=lambda row: int(row["id"])):
                    named[numbers[row["file"]]].append(row["symbol"])
        return named

    def _numbers(self, files: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """The numbers of files; those that are not there are left out."""
        wanted = set(files)
        paths = sorted({name_to_text(path) for _, path in wanted})
        if not paths:
            return {}
        rows = self._rows(["file", "folder", "path"], f"kind = {FILE} AND {any_of('path', paths)}")
        found = {(text_to_name(row["folder"]), text_to_name(row["path"])): int(row["file"]) for row in rows}
        return {file: found[file] for file in found if file in wanted}

    def vector_of(self, passage: int) -> npt.NDArray[np.float32] | None:
        """See `Store`."""
        with self.snapshot():
            rows = self._rows(["key"], f"id = {int(passage)} AND kind = {PASSAGE}")
            if not rows or self._vectors is None:
                return None
            found = self._rows(["vector"], f"key = {quoted(rows[0]['key'])}", self._vectors)
        return np.asarray(found[0]["vector"], dtype=np.float32) if found else None


def _within(files: Iterable[int]) -> str:
    """A condition that a row belongs to one of the files (numbers in rising order)."""
    numbers = list(files)
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    if len(ranges) > _MOST_RANGES:
        return any_of("file", numbers)
    return " OR ".join(f"file BETWEEN {first} AND {last}" for first, last in ranges)
