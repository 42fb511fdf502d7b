"""Graded questions, what was found for them, and how it is written down for review."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path

QUALITY = Path(__file__).parent / "quality"
GOLDEN = QUALITY / "golden"
STATS = QUALITY / "stats.txt"
SHOWN = 5
RENEW = "python tests/ranking_review.py"

# Scores nearer than this are a tie: int8 arithmetic differs that much from one kind of processor to another.
EPSILON = 0.01

# How far a figure may fall, or rise, without a word.
TOLERANCE = 0.03


@dataclass(frozen=True)
class Answer:
    """A file (its folder's name first) that answers (grade 2) or helps (1); `line` is 0 where unknown."""

    path: str
    grade: int
    line: int


@dataclass(frozen=True)
class Question:
    id: str
    text: str
    kind: str
    grade: str
    note: str
    answers: tuple[Answer, ...]

    def grade_of(self, path: str) -> int:
        return next((answer.grade for answer in self.answers if answer.path == path), 0)


@dataclass(frozen=True)
class Passage:
    """Lines of a file; `score` is what it has by itself, whatever its file's other passages have."""

    first: int
    last: int
    name: str
    score: float


@dataclass(frozen=True)
class Found:
    """A file with its passages, best first."""

    path: str
    passages: tuple[Passage, ...]

    @property
    def score(self) -> float:
        return self.passages[0].score


Ranking = Sequence[Found]
Kept = tuple[str, int, int]
"""A line of a golden file: path, first and last line of the best passage."""


@dataclass(frozen=True)
class Inventory:
    questions: tuple[Question, ...]
    tests: frozenset[str]
    hidden: Mapping[str, str]


def read_inventory(folders: Mapping[str, Path]) -> Inventory:
    """The questions, their answers looked up in the folders (path by name)."""
    with (QUALITY / "queries.toml").open("rb") as file:
        content = tomllib.load(file)
    questions = tuple(
        Question(
            row["id"],
            row["text"],
            row["kind"],
            row["grade"],
            row.get("note", ""),
            tuple(_answer(answer, folders) for answer in row["answers"]),
        )
        for row in content["question"]
    )
    return Inventory(questions, frozenset(content["files"]["tests"]), content["hidden"])


def _answer(row: Mapping[str, str | int], folders: Mapping[str, Path]) -> Answer:
    path, at = str(row["path"]), str(row.get("at", ""))
    folder, _, inside = path.partition("/")
    text = (folders[folder] / inside).read_text(encoding="utf-8")
    if at and text.count(at) != 1:
        raise ValueError(f"{path}: {at!r} is in it {text.count(at)} times, not once")
    line = text.count("\n", 0, text.index(at)) + 1 if at else 0
    return Answer(path, int(row["grade"]), line)


def render(question: Question, ranking: Ranking) -> str:
    """What a golden file holds: the question, its answers, and the first files with their best passages."""
    lines = [question.text, f"  {question.kind}, {question.grade}"]
    if question.note:
        lines.append(f"  {question.note}")
    lines += [f"  wanted: {a.path}{f':{a.line}' if a.line else ''} ({a.grade})" for a in question.answers]
    lines.append("")
    for place, found in enumerate(ranking[:SHOWN], 1):
        best = found.passages[0]
        mark = "*" * question.grade_of(found.path)
        name = f"  {best.name}" if best.name else ""
        lines.append(f"{place}. {found.path}:{best.first}-{best.last}  {mark:2}{name}  # {best.score:.3f}")
    return "\n".join(lines) + "\n"


_KEPT = re.compile(r"^\d+\. (?P<path>.+?):(?P<first>\d+)-(?P<last>\d+)  .*$", re.MULTILINE)


def kept_in(golden: str) -> list[Kept]:
    """The ranked files of a golden file's text."""
    return [(row["path"], int(row["first"]), int(row["last"])) for row in _KEPT.finditer(golden)]


def disagreements(kept: Sequence[Kept], ranking: Ranking) -> list[str]:
    """Why a ranking is not the kept one, empty where only ties stand in another order.

    A file may stand at a kept place when its score is that of the file that has the place now, within
    EPSILON; a kept passage may be any of its file's that is as near to the file's best.
    """
    if len(kept) != len(ranking[:SHOWN]):
        return [f"{len(ranking[:SHOWN])} files instead of {len(kept)}"]
    by_path = {found.path: found for found in ranking}
    reasons = []
    for place, ((path, first, last), now) in enumerate(zip(kept, ranking, strict=False), 1):
        found = by_path.get(path)
        if found is None:
            reasons.append(f"{path} was at place {place} and is not found any more")
            continue
        if abs(found.score - now.score) >= EPSILON:
            reasons.append(f"{path} was at place {place}, has {found.score:.3f}; {now.path} {now.score:.3f}")
        same = [p for p in found.passages if (p.first, p.last) == (first, last)]
        if not same or found.score - same[0].score >= EPSILON:
            best = found.passages[0]
            reasons.append(f"{path}: lines {best.first}-{best.last} are best, not {first}-{last}")
    return reasons


def settled(kept: Sequence[Kept], ranking: Ranking) -> list[str]:
    """The files' order: the kept one where the two agree, so that figures are the same on every machine."""
    now = [found.path for found in ranking]
    if not kept or disagreements(kept, ranking):
        return now
    before = [path for path, _, _ in kept]
    return before + [path for path in now if path not in before]


MEASURES = ("recall@1", "recall@5", "MRR", "nDCG@5")


def measures(question: Question, order: Sequence[str]) -> tuple[float, ...]:
    """The measures of one question.

    recall@k: the share of the answers (grade 2) among the first k files, of those that have room there. MRR:
    one over the first answer's place. nDCG@5: gains 3 and 1 for grades 2 and 1, discount log2(1 + place)
    (Järvelin and Kekäläinen, TOIS 20(4), 2002).
    """
    wanted = {answer.path for answer in question.answers if answer.grade == 2}
    recalls = [len(wanted & set(order[:k])) / min(k, len(wanted)) for k in (1, SHOWN)]
    first = next((place for place, path in enumerate(order, 1) if path in wanted), None)
    ideal = _gain(sorted((answer.grade for answer in question.answers), reverse=True)[:SHOWN])
    gained = _gain([question.grade_of(path) for path in order[:SHOWN]])
    return (*recalls, 1 / first if first else 0.0, gained / ideal)


def _gain(grades: Sequence[int]) -> float:
    return sum((2.0**grade - 1) / log2(1 + place) for place, grade in enumerate(grades, 1))


Figures = dict[str, tuple[float, ...]]
"""The mean of each measure, by kind of question and for `all`."""


def figures(questions: Sequence[Question], orders: Mapping[str, Sequence[str]]) -> Figures:
    rows: dict[str, list[tuple[float, ...]]] = {}
    for question in questions:
        for group in ("all", question.kind, question.grade):
            rows.setdefault(group, []).append(measures(question, orders[question.id]))
    return {
        group: (len(found), *(sum(column) / len(found) for column in zip(*found, strict=True)))
        for group, found in rows.items()
    }


def render_figures(sections: Mapping[str, Figures]) -> str:
    """The text of the file of figures."""
    head = "".join(f"{name:>10}" for name in MEASURES)
    lines = []
    for title, rows in sections.items():
        lines.append(f"{title:28}{'questions':>9}{head}")
        for group, (count, *values) in rows.items():
            lines.append(f"  {group:26}{count:9.0f}" + "".join(f"{value:10.3f}" for value in values))
        lines.append("")
    return "\n".join(lines)


def figures_in(text: str) -> dict[str, Figures]:
    """What `render_figures` wrote, to three digits."""
    sections: dict[str, Figures] = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("  "):
            group, numbers = line[:28].strip(), line[28:].split()
            sections[title][group] = tuple(float(number) for number in numbers)
        elif line:
            title = line[:28].strip()
            sections[title] = {}
    return sections


def changes(before: Mapping[str, Figures], now: Mapping[str, Figures]) -> tuple[list[str], list[str]]:
    """What fell and what rose by more than TOLERANCE, a sentence each."""
    fell: list[str] = []
    rose: list[str] = []
    for title, rows in now.items():
        for group, (_, *values) in rows.items():
            old = before.get(title, {}).get(group, (0.0,) * (len(values) + 1))[1:]
            for name, a, b in zip(MEASURES, old, values, strict=True):
                if abs(b - a) > TOLERANCE + 0.0005:
                    (fell if b < a else rose).append(f"{title}, {group}: {name} {a:.3f} → {b:.3f}")
    return fell, rose
