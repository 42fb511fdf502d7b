"""The lexical arm over an index file: BM25 by FTS5, asked for as few passages as the answer needs."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .rows import Filter
from .selection import files_wanted
from .sqlite_session import SqliteSession

if TYPE_CHECKING:
    from .term_scores import TermScores

# SQLite's default limit on bound values is 32 766 since 3.32.
VALUES = 10_000

# How much a term of a passage's surroundings (path, heading, symbol) counts against one of its text; the
# same for the path against the text of a whole file.
CONTEXT_WEIGHT = 0.5
WHOLE_PATH_WEIGHT = 3.0

# Scoring takes about half a microsecond a row, another question some milliseconds: with fewer rows than this,
# counted once for each term, asking twice is not worth it.
WORTH_NARROWING = 30_000
# Looking for a narrower question ends where it would be as wide as this share of the whole one.
_WIDEST = 0.25
# What FTS5's bm25() takes for k1, and for the weight of a term that is in more than half of all rows.
_K1 = 1.2
_LEAST_WEIGHT = 1e-6

# With fewer rows than this, counted once for each term, FTS5 takes two milliseconds.
WORTH_REMEMBERING = 4_000
# Scores lie in arrays by row id; ids are not given twice, so after many changes there are more ids than rows.
_SPARSEST = 8

_REMEMBERED = 20_000


class SqliteWords(SqliteSession):
    """See `Store` for the public methods."""

    _counted: tuple[tuple[int, int], dict[tuple[str, str], int]] = ((0, -1), {})

    def __init__(self, path: str, *, create: bool, any_version: bool = False) -> None:
        super().__init__(path, create=create, any_version=any_version)
        self._scores: dict[str, tuple[object, TermScores | None]] = {}

    def match(self, terms: Sequence[str], wanted: Filter, k: int) -> list[tuple[int, float]]:
        """See `Store`."""
        within = "+rowid IN (SELECT id FROM passages WHERE file_id IN (SELECT id FROM wanted))"
        return self._matches("lexical", CONTEXT_WEIGHT, within, terms, wanted, k)

    def match_files(
        self, terms: Sequence[str], wanted: Filter, k: int
    ) -> list[tuple[tuple[str, str], float]]:
        """See `Store`."""
        with self.snapshot():
            within = "+rowid IN (SELECT id FROM wanted)"
            found = self._matches("whole", WHOLE_PATH_WEIGHT, within, terms, wanted, k)
            names = self._file_names([id_ for id_, _ in found])
        return [(names[id_], score) for id_, score in found]

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """See `Store`."""
        with self.snapshot():
            return self._counts("lexical", terms)

    def passage_count(self) -> int:
        """See `Store`."""
        return self._documents("lexical")

    def _matches(
        self, table: str, context: float, within: str, terms: Sequence[str], wanted: Filter, k: int
    ) -> list[tuple[int, float]]:
        # The plus in `within` keeps SQLite from asking FTS5 once for each wanted rowid, which takes seconds.
        with self.snapshot():
            counts = {term: count for term, count in self._counts(table, terms).items() if count}
            if not counts:
                return []
            files = self._files(wanted)
            if files is not None:
                self._fill_wanted(files)
            elif sum(counts.values()) >= WORTH_REMEMBERING:
                scores = self._remembered(table, context)
                if scores and scores.ready_for(counts):
                    return scores.best(counts, k)
            search = (
                f"SELECT rowid, -bm25({table}, 1.0, {context}) AS score FROM {table} WHERE {table} MATCH ? "
                f"{'' if files is None else 'AND ' + within}"
            )
            telling = self._telling(table, search, counts, k)
            values: tuple[object, ...] = (_any_of(counts), k)
            if telling:
                search += f" AND +rowid IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)"
                values = (_any_of(counts), _any_of(telling), k)
            rows = self._rows(f"{search} ORDER BY score DESC, rowid LIMIT ?", values)
        return [(int(id_), float(score)) for id_, score in rows]

    def _telling(self, table: str, search: str, counts: Mapping[str, int], k: int) -> list[str]:
        """The rarest terms, if the k best rows for all terms have one of them; empty where that is not known.

        A row without them cannot score more than the other terms give at most, so it is not among the best
        where k rows score more by the rare terms alone: the MaxScore of Turtle and Flood, IPM 31(6), 1995.
        The order is not changed by it, only the work: `the` is in every passage, and its weight is nothing.
        """
        all_rows = sum(counts.values())
        if all_rows < WORTH_NARROWING:
            return []
        most = _most_each_gives(counts, self._documents(table))
        rarest = sorted(counts, key=lambda term: (counts[term], term))
        size = covered = 0
        while True:
            # Asked with twice as many rows each time, all tries together take twice the last one.
            enough = max(k, 2 * covered)
            while covered < enough and size < len(rarest):
                covered += counts[rarest[size]]
                size += 1
            if size == len(rarest) or covered > _WIDEST * all_rows:
                return []
            bound = sum(most[term] for term in rarest[size:])
            if bound >= sum(most[term] for term in rarest[:size]):
                continue
            last = self._rows(
                f"{search} ORDER BY score DESC LIMIT 1 OFFSET ?", (_any_of(rarest[:size]), k - 1)
            )
            if last and last[0][1] > bound:
                return rarest[:size]

    def _remembered(self, table: str, context: float) -> TermScores | None:
        """Scores by terms for the present state of a table; None for its first search and for sparse rows.

        A process that searches once would pay for what it never uses again.
        """
        # FTS5 keeps its totals and its list of segments in these two rows: they tell of every change of the
        # words, and of none of the vectors.
        state = self._rows(f"SELECT block FROM {table}_data WHERE id IN (1, 10)")
        known = self._scores.get(table)
        if known and known[0] == state:
            if known[1] is None:
                from .term_scores import TermScores

                ((last,),) = self._rows(f"SELECT coalesce(max(id), 0) FROM {table}_docsize")
                if last > _SPARSEST * self._documents(table):
                    return None
                sql = f"SELECT rowid, -bm25({table}, 1.0, {context}) FROM {table} WHERE {table} MATCH ?"
                known = (state, TermScores(lambda term: self._rows(sql, (_any_of((term,)),)), last))
                self._scores[table] = known
            return known[1]
        self._scores[table] = (state, None)
        return None

    def _documents(self, table: str) -> int:
        return int(self._rows(f"SELECT count(*) FROM {table}_docsize")[0][0])

    def _counts(self, table: str, terms: Sequence[str]) -> dict[str, int]:
        """In how many rows of a table each term occurs; counted anew only after somebody wrote."""
        state = self._state()
        if self._counted[0] != state or len(self._counted[1]) > _REMEMBERED:
            self._counted = (state, {})
        known = self._counted[1]
        for term in terms:
            if (table, term) not in known:
                rows = self._rows(f"SELECT count(*) FROM {table} WHERE {table} MATCH ?", (_any_of((term,)),))
                known[table, term] = int(rows[0][0])
        return {term: known[table, term] for term in terms}

    def _file_names(self, ids: Sequence[int]) -> dict[int, tuple[str, str]]:
        names: dict[int, tuple[str, str]] = {}
        for start in range(0, len(ids), VALUES):
            part = ids[start : start + VALUES]
            rows = self._rows(
                "SELECT f.id, d.path, f.path FROM files f JOIN folders d ON d.id = f.folder_id "
                f"WHERE f.id IN ({','.join('?' * len(part))})",
                part,
            )
            names.update((id_, (os.fsdecode(folder), os.fsdecode(path))) for id_, folder, path in rows)
        return names

    def _fill_wanted(self, files: Sequence[int]) -> None:
        db = self._connection
        db.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (id INTEGER PRIMARY KEY)")
        db.execute("DELETE FROM wanted")
        db.executemany("INSERT INTO wanted VALUES (?)", ((file,) for file in files))

    def _files(self, wanted: Filter) -> list[int] | None:
        """Ids of the files a filter lets through, None when it lets everything through."""
        if wanted.empty:
            return None
        rows = self._rows(
            "SELECT f.id, d.path, f.path, f.language, f.tags FROM files f "
            "JOIN folders d ON d.id = f.folder_id WHERE f.chunks > 0"
        )
        found = files_wanted(
            ((id_, os.fsdecode(folder), os.fsdecode(path), *facts) for id_, folder, path, *facts in rows),
            wanted,
        )
        return None if len(found) == len(rows) else found


def _any_of(terms: Sequence[str] | Mapping[str, int]) -> str:
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)


def _most_each_gives(counts: Mapping[str, int], rows: int) -> dict[str, float]:
    """The most that each term can add to a score of FTS5's bm25(), however often it occurs."""
    return {
        term: (_K1 + 1) * max(math.log((rows - count + 0.5) / (count + 0.5)), _LEAST_WEIGHT)
        for term, count in counts.items()
    }
