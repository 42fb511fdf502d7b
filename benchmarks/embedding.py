"""How much of the bare throughput of the model reaches the index, and what a passage costs.

    python benchmarks/embedding.py [PATH] [--passages N] [--rounds N] [--model NAME] [--threads N]

`bare` runs the model's session on inputs that lie ready: tokens and word rows made beforehand, longest first,
one thread a core. `index` fills the vectors of the same passages in an index file, with everything that
takes: reading texts, tokens, word rows, packing, commits. Both in turn, round by round; the ratio is the
median over rounds. PATH is what is indexed (default: this repository).
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from semantic_search.corpus import Corpus
from semantic_search.embedding import fill_vectors
from semantic_search.models.embedder import Embedder, usable_cores
from semantic_search.settings import load_settings
from semantic_search.stores import open_store
from semantic_search.tools.index import Request, index


@dataclass(frozen=True, slots=True)
class Cost:
    """Wall-clock and CPU seconds of all threads, and megabytes resident afterwards."""

    wall: float
    cpu: float


def measured(work: Callable[[], None]) -> Cost:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Cost(time.perf_counter() - wall, time.process_time() - cpu)


def indexed(path: Path, work: Path, passages: int) -> str:
    """An index file with the texts of a folder in it and no vector; at least so many, if there are."""
    os.environ.update(SS_CONFIG_PATH=str(work / "config.json"), SS_INDEX_DIR=str(work / "index"))
    with Corpus(load_settings()) as corpus:
        files = 0
        while True:
            files += 50
            run = index(corpus, Request(str(path), max_files=50, embed=False))
            if run.pending >= passages or not run.truncated:
                return corpus.reading()[0].path


def rows_of(embedder: Embedder, texts: list[str]) -> list[Any]:
    """The session's inputs for passages, longest first."""
    tokens = embedder._tokenizer.get().inputs(
        texts, prefix=embedder.row.passage_prefix, window=embedder.window
    )
    table, scales = embedder._words.get()
    rows = [table[ids].astype(np.float32) * scales[ids, np.newaxis] for ids in tokens]
    return sorted(rows, key=len, reverse=True)


def run_bare(session: Any, rows: list[Any], threads: int) -> None:
    waiting = deque(rows)

    def work() -> None:
        while True:
            try:
                row = waiting.popleft()
            except IndexError:
                return
            session.run(None, {"words": row})

    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(work) for _ in range(threads)]:
            future.result()


def resident_megabytes(field: str) -> float:
    """VmRSS or VmHWM of this process, 0 where the system does not tell."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) / 1024 for line in file if line.startswith(field))
    except OSError:
        return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path, nargs="?", default=Path(__file__).parent.parent)
    parser.add_argument("--passages", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", default="multilingual-e5-small")
    parser.add_argument("--threads", type=int, default=usable_cores())
    options = parser.parse_args()
    os.environ["SS_MODEL_NAME"] = options.model
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        source = indexed(options.path, work, options.passages)
        with Corpus(load_settings()) as corpus:
            compare(corpus.embedder, source, work, options)


def compare(embedder: Embedder, source: str, work: Path, options: argparse.Namespace) -> None:
    store = open_store("sqlite", source)
    texts = [text for _, text in store.pending(options.passages)]
    store.close()
    rows = rows_of(embedder, texts)
    session = embedder._session.get()
    lengths = [len(row) for row in rows]
    print(
        f"{options.model}, {options.threads} threads, {len(rows)} passages of {statistics.mean(lengths):.0f} "
        f"tokens (median {statistics.median(lengths):.0f}, longest {max(lengths)})"
    )
    before = resident_megabytes("VmRSS")

    def fill(path: str) -> None:
        store = open_store("sqlite", path)
        done = [0]
        fill_vectors(
            store,
            embedder,
            threads=options.threads,
            stop=lambda: done[0] >= len(rows),
            on_progress=lambda count, _: done.__setitem__(0, count),
        )
        store.close()
        assert done[0] >= len(rows)

    bare: list[Cost] = []
    ours: list[Cost] = []
    run_bare(session, rows[: options.threads * 4], options.threads)
    for number in range(options.rounds):
        copy = str(work / f"copy{number}.sqlite3")
        shutil.copy(source, copy)
        bare.append(measured(lambda: run_bare(session, rows, options.threads)))
        ours.append(measured(lambda path=copy: fill(path)))  # type: ignore[misc]
    print(f"{'':8s} {'passages/s':>10s} {'tokens/s':>9s} {'CPU ms a passage':>17s}")
    for name, costs in (("bare", bare), ("index", ours)):
        wall = statistics.median(cost.wall for cost in costs)
        cpu = statistics.median(cost.cpu for cost in costs)
        print(f"{name:8s} {len(rows) / wall:10.1f} {sum(lengths) / wall:9.0f} {1000 * cpu / len(rows):17.2f}")
    by_wall = [a.wall / b.wall for a, b in zip(bare, ours, strict=True)]
    by_cpu = [a.cpu / b.cpu for a, b in zip(bare, ours, strict=True)]
    print(
        f"index / bare, throughput: {statistics.median(by_wall):.3f} (rounds {min(by_wall):.3f} to "
        f"{max(by_wall):.3f}); by CPU {statistics.median(by_cpu):.3f}"
    )
    print(f"memory: {before:.0f} MB before, peak {resident_megabytes('VmHWM'):.0f} MB")


if __name__ == "__main__":
    main()
