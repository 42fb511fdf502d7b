"""What a search costs in a process that has searched before, part by part, and how much memory it takes.

    python benchmarks/warm_search.py [--passages 50000] [--questions 40] [--work DIR]

The corpus is invented (`corpora.py`), the index and the model are the real ones, questions have six words,
half of them common. Times are CPU milliseconds of the searching thread, taken inside the search itself;
beside them stands a bare float32 matrix-vector product over as many vectors. With DIR the corpus is kept and
used again.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from corpora import Writer, prepared

from semantic_search.corpus import Corpus
from semantic_search.models.embedder import Embedder
from semantic_search.settings import load_settings
from semantic_search.stores import Store
from semantic_search.tools.search import Question, search

# Questions asked before any is measured: the server has been asked before.
WARMING = 10
PARTS = {
    "embed_query": "the question's own vector",
    "nearest": "nearest vectors",
    "match": "best passages by words",
    "match_files": "best files by words",
    "passages": "passages and symbols read",
    "symbols": "passages and symbols read",
    "frequencies": "frequencies and counts",
    "passage_count": "frequencies and counts",
    "pending_count": "frequencies and counts",
    "has_vectors": "frequencies and counts",
}


def milliseconds(work: Callable[[], object]) -> float:
    began = time.thread_time()
    work()
    return 1000 * (time.thread_time() - began)


def row(name: str, times: Sequence[float]) -> str:
    ordered = sorted(times)
    return f"{name:44s} {statistics.median(ordered):8.2f} {ordered[int(0.95 * (len(ordered) - 1))]:8.2f}"


def resident(field: str) -> float:
    """Megabytes: VmRSS is now, VmHWM the most there was."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field))


def bare_product(passages: int) -> float:
    """CPU milliseconds of a float32 matrix-vector product of 384 columns with one BLAS thread."""
    code = (
        "import time, numpy as np, statistics\n"
        f"matrix = np.ones(({min(passages, 200_000)}, 384), np.float32); vector = np.ones(384, np.float32)\n"
        "def once():\n"
        "    began = time.thread_time(); matrix @ vector; return time.thread_time() - began\n"
        "print(1000 * statistics.median(once() for _ in range(15)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=True,
    )
    return float(done.stdout) * passages / min(passages, 200_000)


class Timed:
    """Something whose methods note the CPU milliseconds that they take, by name, in `times`."""

    def __init__(self, inner: object, times: dict[str, float]) -> None:
        self._inner, self._times = inner, times

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found) or name == "snapshot":
            return found

        def timed(*args: object, **named: object) -> object:
            began = time.thread_time()
            try:
                return found(*args, **named)
            finally:
                spent = 1000 * (time.thread_time() - began)
                self._times[name] = self._times.get(name, 0.0) + spent

        return timed


def measure(corpus: Corpus, questions: Sequence[str], passages: int) -> None:
    store, current = corpus.reading()
    before = resident("VmRSS")
    times: dict[str, float] = {}
    corpus._embedder = cast(Embedder, Timed(corpus.embedder_of(store), times))
    corpus._reading = (cast(Store, Timed(store, times)), current)
    for question in questions[-WARMING:]:
        search(corpus, Question(question, 5, refresh=False))
    parts: dict[str, list[float]] = {name: [] for name in PARTS.values()}
    whole: list[float] = []
    for question in questions[:-WARMING]:
        times.clear()
        whole.append(milliseconds(lambda q=question: search(corpus, Question(q, 5, refresh=False))))  # type: ignore[misc]
        for title in parts:
            spent = [times.get(name, 0.0) for name, of in PARTS.items() if of == title]
            parts[title].append(sum(spent))
    own = parts[PARTS["embed_query"]]
    rest = [total - sum(parts[title][n] for title in parts) for n, total in enumerate(whole)]
    looking = [milliseconds(lambda q=q: search(corpus, Question(q, 5))) for q in questions[:10]]  # type: ignore[misc]
    print(f"{passages} passages, {len(whole)} questions, CPU ms")
    print(f"{'':44s} {'p50':>8s} {'p95':>8s}")
    for title, spent in parts.items():
        print(row(title, spent))
    print(row("signals, order and all the rest", rest))
    print(row("search, without a look at the disk", whole))
    print(row("the same over the question's own vector", [t - o for t, o in zip(whole, own, strict=True)]))
    print(row("search with a look at the disk", looking))
    bare, near = bare_product(passages), statistics.median(parts[PARTS["nearest"]])
    print(f"bare matrix-vector product {bare:.2f} ms; nearest vectors / product {near / bare:.2f}")
    print(
        f"memory: {before:.0f} MB before the first search, {resident('VmRSS'):.0f} MB after, "
        f"peak {resident('VmHWM'):.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, default=50_000)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        work = options.work or Path(place)
        prepared(work, options.passages)
        writer = Writer()
        questions = [writer.question() for _ in range(options.questions + WARMING)]
        with Corpus(load_settings()) as corpus:
            measure(corpus, questions, options.passages)


if __name__ == "__main__":
    main()
