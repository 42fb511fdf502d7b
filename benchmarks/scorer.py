"""Scores of a ranked list against judgements.

nDCG: Järvelin and Kekäläinen, ACM TOIS 20(4), 2002, with gain / log2(rank + 1).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

Result = tuple[str, int, int]
"""A path relative to the corpus, first and last line."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A relevant place: a file, or lines of it (None: the whole file), and its grade."""

    path: str
    grade: int
    first: int | None
    last: int | None

    def overlaps(self, result: Result) -> bool:
        """Whether a result lies in the place."""
        path, first, last = result
        if path != self.path:
            return False
        return self.first is None or self.last is None or not (last < self.first or first > self.last)


def read_judgements(folder: Path) -> tuple[list[tuple[str, str]], dict[str, list[Judged]], bool]:
    """(id, text) of each query, the judgements by query id, and whether every grade counts as one."""
    with open(folder / "queries.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    judged: dict[str, list[Judged]] = {}
    with open(folder / "qrels.tsv", encoding="utf-8") as file:
        next(file)
        for line in file:
            id_, path, grade, *lines = line.rstrip("\n").split("\t")
            first, last = ([int(n) if n else None for n in lines] + [None, None])[:2]
            judged.setdefault(id_, []).append(Judged(path, int(grade), first, last))
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    return [(row["id"], row["text"]) for row in rows], judged, bool(meta.get("binary_gain"))


def score(results: Sequence[Result], judged: Sequence[Judged], binary: bool, k: int = 10) -> dict[str, float]:
    """`files`: nDCG@k, a file standing at the rank of its best passage. `spans`: nDCG@k of passages, a
    judgement found at the first passage that overlaps its lines. `recall`: share of relevant files in k."""
    relevant = [entry for entry in judged if entry.grade > 0]
    return {
        "files": _files(results, relevant, binary, k),
        "spans": _spans(results, relevant, binary, k),
        "recall": _recall(results, relevant, k),
    }


def _gain(grade: int, binary: bool) -> int:
    return 1 if binary else grade


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def _ratio(gains: Sequence[float], ideal: Sequence[float], k: int) -> float:
    best = _dcg(sorted(ideal, reverse=True)[:k])
    return _dcg(gains[:k]) / best if best else 0.0


def _files(results: Sequence[Result], relevant: Sequence[Judged], binary: bool, k: int) -> float:
    best: dict[str, int] = {}
    for entry in relevant:
        best[entry.path] = max(best.get(entry.path, 0), _gain(entry.grade, binary))
    files = list(dict.fromkeys(path for path, _, _ in results))
    return _ratio([best.get(path, 0) for path in files[:k]], list(best.values()), k)


def _spans(results: Sequence[Result], relevant: Sequence[Judged], binary: bool, k: int) -> float:
    gains = [0] * k
    for entry in relevant:
        for place, result in enumerate(results[:k]):
            if entry.overlaps(result):
                gains[place] = max(gains[place], _gain(entry.grade, binary))
                break
    return _ratio(gains, [_gain(entry.grade, binary) for entry in relevant], k)


def _recall(results: Sequence[Result], relevant: Sequence[Judged], k: int) -> float:
    wanted = {entry.path for entry in relevant}
    files = list(dict.fromkeys(path for path, _, _ in results))[:k]
    return len(wanted.intersection(files)) / len(wanted) if wanted else 0.0
