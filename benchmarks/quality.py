"""Ranking quality on relevance-judged sets, through the real index.

    python benchmarks/quality.py SETS [NAME ...] [--model NAME] [--lexical] [--work DIR] [--keep FILE]

SETS is a folder of sets: each has `corpus/`, `queries.jsonl`, `qrels.tsv` and `meta.json`. A NAME picks a
set or a group of them (`semble`). Indexes stay in the working directory, so that a change of ranking is
measured without embedding anything again. Prints nDCG@10 with each file counted once (the set's own metric
with `spans` beside it) next to the plain BM25 of the sets' authors, the best published figure, and the change
against the last kept run of the same model and arms.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from scorer import Judged, read_judgements, score

from semantic_search.corpus import Corpus
from semantic_search.settings import load_settings
from semantic_search.tools.index import Request, Run, index
from semantic_search.tools.search import Question, search

DEPTH = 30

HEAD = f"{'set':30s}  files passages queries  nDCG@10   spans  recall   BM25   best   change (spans)"
RUNS = Path(__file__).parent / "runs"

Kept = dict[str, dict[str, float]]
"""The figures of a kept run by set."""

# nDCG@10 of plain BM25 as the sets' authors measured it, and of the best published system (None: none known).
REFERENCE: dict[str, tuple[float, float | None]] = {
    "semble": (0.731, None),
    "semble (spans)": (0.687, 0.860),
    "gitloc": (0.547, None),
    "anthropic-docs": (0.872, None),
    "qmd-notes": (1.0, None),
    "scifact": (0.695, 0.696),
    "squad-uk": (0.733, None),
    "xquad-ru": (0.950, None),
    "xquad-de": (0.946, None),
    "xquad-es": (0.967, None),
    "xquad-zh": (0.967, None),
    "xquad-ar": (0.934, None),
    "xquad-en": (0.968, None),
    "xquad-ru-en": (0.133, None),
    "xquad-en-ru": (0.152, None),
    "xquad-de-en": (0.522, None),
    "xquad-zh-en": (0.059, None),
    "fastapi-docs-uk-en": (0.301, None),
    "fastapi-docs-ru-en": (0.286, None),
    "fastapi-docs-en-uk": (0.944, None),
    "xquad-mixed-en-ru": (0.739, None),
}


@dataclass(frozen=True, slots=True)
class Result:
    """A set's figures. `scores` has a value a query for each metric, `published` what others had, by system
    (spans)."""

    name: str
    files: int
    passages: int
    scores: dict[str, list[float]]
    index_seconds: float
    query_ms: float
    published: dict[str, float]

    @property
    def group(self) -> str:
        return self.name.split("/")[0]


def find_sets(root: Path, names: list[str]) -> list[Path]:
    """The sets below a folder, those of the names only when there are any, in the order of their names."""
    found = sorted(path.parent for path in root.rglob("queries.jsonl"))
    if names:
        found = [s for s in found if any(_named(str(s.relative_to(root)), name) for name in names)]
    return found


def _named(path: str, name: str) -> bool:
    return path == name or path.startswith(name + "/") or path.split("/")[-1] == name


@contextlib.contextmanager
def corpus_of(folder: Path, work: Path, model: str) -> Iterator[Corpus]:
    """The index of a set's documents, in a directory of its own, with the default settings."""
    environment = {
        "HOME": str(work),
        "SS_CONFIG_PATH": str(work / "config.json"),
        "SS_INDEX_DIR": str(work),
        "SS_MODEL_CACHE_DIR": os.environ.get("SS_MODEL_CACHE_DIR", str(work.parent / "models")),
        "SS_MODEL_NAME": model,
    }
    work.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("SEMBLE_GRAMMARS_CACHE_DIR", environment["SS_MODEL_CACHE_DIR"] + "/grammars")
    (work / "config.json").write_text(json.dumps({"defaultRoots": [str(folder.resolve())]}))
    with Corpus(load_settings(environment), on_note=lambda text: print(text, file=sys.stderr)) as corpus:
        yield corpus


def measure(name: str, folder: Path, work: Path, model: str, *, lexical: bool, runs: Path | None) -> Result:
    """Indexes a set, asks its queries and scores the answers."""
    queries, judged, binary = read_judgements(folder)
    with corpus_of(folder / "corpus", work, model) as corpus:
        began = time.monotonic()
        run = index(corpus, Request(threads=corpus.settings.threads, embed=not lexical))
        seconds = time.monotonic() - began
        passages = sum(count.chunks for count in corpus.reading()[0].counts())
        scores: dict[str, list[float]] = {"files": [], "spans": [], "recall": []}
        began = time.process_time()
        lines = []
        for id_, text in queries:
            answer = search(corpus, Question(text, DEPTH, refresh=False))
            results = [(hit.path, hit.chunk.first_line, hit.chunk.last_line) for hit in answer.hits]
            for metric, value in score(results, judged.get(id_, []), binary).items():
                scores[metric].append(value)
            lines += [f"{id_}\t{n}\t{p}\t{a}\t{b}" for n, (p, a, b) in enumerate(results, 1)]
        each = (time.process_time() - began) * 1000 / max(len(queries), 1)
    _report_missing(name, judged, run, folder)
    if runs is not None:
        runs.mkdir(parents=True, exist_ok=True)
        (runs / (name.replace("/", "__") + ".tsv")).write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = sum(r.processed + r.unchanged + r.touched for r in run.reports)
    published = json.loads((folder / "meta.json").read_text(encoding="utf-8")).get("published", {})
    return Result(name, files, passages, scores, seconds, each, published)


def _report_missing(name: str, judged: dict[str, list[Judged]], run: Run, folder: Path) -> None:
    wanted = {entry.path for entries in judged.values() for entry in entries}
    absent = sorted(path for path in wanted if not (folder / "corpus" / path).is_file())
    if absent or run.failed:
        print(
            f"{name}: {len(absent)} judged files are not in the corpus, {len(run.failed)} folders failed",
            file=sys.stderr,
        )


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def table(results: list[Result], before: Kept) -> list[str]:
    """The figures, a line a set, groups of several sets with a line for all their queries."""
    lines = [HEAD]
    groups: dict[str, list[Result]] = {}
    for result in results:
        lines.append(_line(result.name, [result], before))
        groups.setdefault(result.group, []).append(result)
    lines += [
        _line(f"{name} (all queries)", group, before) for name, group in groups.items() if len(group) > 1
    ]
    return lines


def _line(name: str, group: list[Result], before: Kept) -> str:
    joined = {m: [v for r in group for v in r.scores[m]] for m in ("files", "spans", "recall")}
    key = name.removesuffix(" (all queries)")
    key = key if key in REFERENCE else key.split("/")[-1]
    plain, best = REFERENCE.get(key, (None, None))
    if len(group) == 1 and group[0].published:
        own = _plain_of(group[0])
        plain, best = plain if own is None else own, max(group[0].published.values())
    with_spans = REFERENCE.get(f"{key} (spans)")
    if with_spans:
        best = with_spans[1]
    figures = [f"{mean(joined[m]):.4f}" for m in ("files", "spans", "recall")]
    files, passages = sum(r.files for r in group), sum(r.passages for r in group)
    return (
        f"{name:30s} {files:6d} {passages:8d} {len(joined['files']):7d} "
        f"{figures[0]:>8s} {figures[1]:>7s} {figures[2]:>7s} {_or_dash(plain)} {_or_dash(best)}"
        f"{_change(group, joined, before)}"
    )


def _change(group: list[Result], joined: dict[str, list[float]], before: Kept) -> str:
    """The change of both metrics against what a kept run says of the same sets."""
    if any(result.name not in before for result in group):
        return ""
    queries = sum(before[result.name]["queries"] for result in group)

    def change(metric: str, key: str) -> float:
        old = sum(before[r.name][key] * before[r.name]["queries"] for r in group) / max(queries, 1)
        return mean(joined[metric]) - old

    return f"  {change('files', 'nDCG@10'):+.4f} ({change('spans', 'spans'):+.4f})"


def last_kept(model: str, *, lexical: bool, runs: Path = RUNS) -> Kept:
    """The figures of the newest kept run of a model and arms, by date and then by name; empty if none."""
    arms = "lexical" if lexical else "both"
    found = [
        (run["date"], path.name, run["sets"])
        for path in runs.glob("*-quality-*.json")
        if (run := json.loads(path.read_text(encoding="utf-8")))["model"] == model and run["arms"] == arms
    ]
    newest: tuple[str, str, Kept] = max(found, default=("", "", {}), key=lambda run: run[:2])
    return newest[2]


def _plain_of(result: Result) -> float | None:
    """The published plain BM25 of a set, None where there is none."""
    return next((value for name, value in result.published.items() if name.startswith("BM25")), None)


def below_plain(results: list[Result]) -> list[str]:
    """The sets whose spans lie below their own published BM25, with both figures."""
    found = []
    for result in results:
        plain, own = _plain_of(result), mean(result.scores["spans"])
        if plain is not None and own < plain:
            found.append(f"{result.name} {own:.3f} ({plain:.3f})")
    return found


def _or_dash(value: float | None) -> str:
    return f"{value:6.3f}" if value is not None else f"{'-':>6s}"


def kept(results: list[Result], model: str, *, lexical: bool) -> dict[str, object]:
    """What a run leaves for comparison: figures, machine and date."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "model": model,
        "arms": "lexical" if lexical else "both",
        "sets": {
            r.name: {
                "queries": len(r.scores["files"]),
                "nDCG@10": round(mean(r.scores["files"]), 4),
                "spans": round(mean(r.scores["spans"]), 4),
                "recall@10": round(mean(r.scores["recall"]), 4),
                "queryMs": round(r.query_ms, 1),
            }
            for r in results
        },
    }


def main(argv: list[str] | None = None, show: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--model", default="multilingual-e5-small")
    parser.add_argument("--lexical", action="store_true", help="no vectors: words alone")
    parser.add_argument("--work", type=Path, default=Path(".bench"), help="where indexes and run files stay")
    parser.add_argument("--keep", type=Path, help="write the figures to this JSON file")
    options = parser.parse_intermixed_args(argv)  # names may follow options
    results: list[Result] = []
    before = last_kept(options.model, lexical=options.lexical)
    kind = options.model.replace("/", "_") + ("-lexical" if options.lexical else "")
    for folder in find_sets(options.sets, options.names):
        name = str(folder.relative_to(options.sets))
        work = options.work.resolve() / kind / name.replace("/", "__")
        results.append(
            measure(
                name, folder, work, options.model, lexical=options.lexical, runs=options.work / "runs" / kind
            )
        )
        timing = f"  index {results[-1].index_seconds:.0f} s, {results[-1].query_ms:.0f} ms a query"
        show(_line(name, results[-1:], before) + timing)
    show("")
    for line in table(results, before):
        show(line)
    if any(_plain_of(result) is not None for result in results):
        show(f"below their published BM25: {', '.join(below_plain(results)) or 'none'}")
    if options.keep:
        options.keep.write_text(
            json.dumps(kept(results, options.model, lexical=options.lexical), indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
