"""Tokens an agent reads until the first relevant file: `gather` against grep and reading whole files.

    python benchmarks/tokens.py SETS [--embed] [--work DIR]

SETS holds judged repositories, a folder each with `corpus/`, `queries.jsonl` and `qrels.tsv`. Five questions
of each of six repositories are asked. A token is four bytes.

gather: its reply (10 passages, then 50) up to and including the first passage of a relevant file.
grep: files by how many of the question's words they hold, then by how often; each is read whole until one is
relevant. The output of grep itself is not counted, which favours it. A question without an answer costs all
that was read for it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from semantic_search.corpus import Corpus
from semantic_search.listing import list_files
from semantic_search.settings import load_settings
from semantic_search.tools.gather import Gathered, gather, to_markdown
from semantic_search.tools.index import Request, index
from semantic_search.tools.search import Question

REPOSITORIES = ("axum", "chi", "express", "flask", "gson", "requests")
QUESTIONS = 5
BYTES_A_TOKEN = 4
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can do does for from how i if in into is it its of on or that the their "
        "this to what when where which who why with",
    )
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens read, and whether a relevant file was among it."""

    tokens: int
    found: bool


def questions(folder: Path) -> Iterator[tuple[str, frozenset[str]]]:
    """The first questions of a set, with the paths of their relevant files."""
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        query, path, grade, *_ = line.split("\t")
        if float(grade) > 0:
            relevant.setdefault(query, set()).add(path)
    asked = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    for query in [query for query in asked if query["id"] in relevant][:QUESTIONS]:
        yield query["text"], frozenset(relevant[query["id"]])


def tokens(text: str) -> int:
    """Tokens of a text, about."""
    return len(text.encode("utf-8", "replace")) // BYTES_A_TOKEN


def by_gather(corpus: Corpus, question: str, relevant: frozenset[str]) -> Cost:
    """What `gather` costs."""
    spent = 0
    for k in (10, 50):
        found = gather(corpus, Question(question, k, refresh=False))
        for n, span in enumerate(found.spans, 1):
            if span.hit.path in relevant:
                part = Gathered(found.spans[:n], 0, found.answer)
                return Cost(spent + tokens(to_markdown(part)), True)
        spent += tokens(to_markdown(found))
    return Cost(spent, False)


def by_grep(texts: dict[str, str], question: str, relevant: frozenset[str]) -> Cost:
    """What grep and reading whole files costs."""
    words = [word for word in re.findall(r"\w+", question.lower()) if word not in _COMMON]
    counts = {path: [text.lower().count(word) for word in words] for path, text in texts.items()}
    order = sorted(counts, key=lambda path: (-sum(map(bool, counts[path])), -sum(counts[path]), path))
    spent = 0
    for path in order:
        if not any(counts[path]):
            break
        spent += tokens(texts[path])
        if path in relevant:
            return Cost(spent, True)
    return Cost(spent, False)


def main() -> None:
    """Prints a line a question, then the median and the total of both ways."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", type=Path)
    parser.add_argument("--embed", action="store_true", help="with vectors, which take minutes to make")
    parser.add_argument("--work", default="", help="where indexes stay for the next run")
    wanted = parser.parse_args()
    rows: list[tuple[str, str, Cost, Cost]] = []
    with tempfile.TemporaryDirectory() as scratch:
        work = wanted.work or scratch
        for name in REPOSITORIES:
            folder = wanted.sets / name
            root = os.path.realpath(folder / "corpus")
            os.environ["SS_INDEX_DIR"] = os.path.join(work, name)
            os.environ["SS_MODEL_CACHE_DIR"] = os.path.join(work, "models")
            os.environ["SS_CONFIG_PATH"] = os.path.join(work, "config.json")
            with Corpus(load_settings()) as corpus:
                index(corpus, Request(root, threads=corpus.settings.threads, embed=wanted.embed))
                listed = list_files(root, corpus.listing_rules(root)).files
                texts = {file.path: Path(file.absolute).read_text(errors="replace") for file in listed}
                for question, relevant in questions(folder):
                    mine, theirs = by_gather(corpus, question, relevant), by_grep(texts, question, relevant)
                    rows.append((name, question, mine, theirs))
    report(rows)


def report(rows: list[tuple[str, str, Cost, Cost]]) -> None:
    """The table."""
    print(f"{'repository':12s} {'gather':>8s} {'grep+read':>10s}  question")
    for name, question, mine, theirs in rows:
        marks = [f"{cost.tokens}{'' if cost.found else '!'}" for cost in (mine, theirs)]
        print(f"{name:12s} {marks[0]:>8s} {marks[1]:>10s}  {question[:70]}")
    for what, numbers in (("median", statistics.median), ("total", sum)):
        print(
            f"{what:12s} {numbers([row[2].tokens for row in rows]):8.0f} "
            f"{numbers([row[3].tokens for row in rows]):10.0f}"
        )
    missed = [sum(not row[place].found for row in rows) for place in (2, 3)]  # type: ignore[union-attr]
    print(f"{'not found':12s} {missed[0]:8d} {missed[1]:10d}  of {len(rows)} (marked !)")


if __name__ == "__main__":
    main()
