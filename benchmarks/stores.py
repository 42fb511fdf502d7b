"""SQLite and LanceDB side by side: index, update, search, recall, disk, memory.

    python benchmarks/stores.py [10000 100000 …] [--stores sqlite lancedb] [--dimension 384] [--work DIR]

Passages are made up: words drawn by Zipf's law, vectors around 2 000 middles, six passages a file, so that
nothing but the stores is measured. Each store and each kind of run is a process of its own. Times are wall
clock without the model, and of short things the least of several, as machines are noisy; memory is the
highest of the process. `cold` is a first search in a new process, opening and importing included; `recall` is
how many of the 25 nearest of exact comparison a search finds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FOLDER = "/made-up/folder"
PER_FILE = 6
VOCABULARY = 60_000
MIDDLES = 2_000
ROUNDS = 15


def vectors_of(first: int, count: int, dimension: int) -> npt.NDArray[np.float32]:
    """Unit vectors of passages, float32 (count, dimension), the same in every process."""
    middles = np.random.default_rng(1).normal(size=(MIDDLES, dimension))
    random = np.random.default_rng(10 + first)
    rows = middles[random.integers(0, MIDDLES, count)] + 0.7 * random.normal(size=(count, dimension))
    unit: npt.NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def files(first: int, count: int, generation: int = 0) -> Iterator[Any]:
    """Made-up files, by number."""
    from semantic_search.stores import Indexed
    from semantic_search.types import Chunk, Document, SourceFile

    chances = 1 / np.arange(1, VOCABULARY + 1)
    chances /= chances.sum()
    random = np.random.default_rng([first, generation])
    drawn = random.choice(VOCABULARY, size=(count, PER_FILE, 110), p=chances)
    for number, rows in zip(range(first, first + count), drawn, strict=True):
        texts = [
            f"passage {number} {n} {generation} " + " ".join(f"w{word}" for word in row)
            for n, row in enumerate(rows)
        ]
        whole = "\n\n".join(texts)
        chunks = []
        start = 0
        for n, text in enumerate(texts):
            chunks.append(Chunk(start, start + len(text), 2 * n + 1, 2 * n + 1, text))
            start += len(text) + 2
        path = f"dir{number // 50}/file{number}.md"
        source = SourceFile(FOLDER, path, len(whole), generation, generation, number)
        document = Document(source, hashlib.sha256(whole.encode()).hexdigest(), whole, "markdown")
        yield Indexed(
            document,
            tuple(chunks),
            tuple(texts),
            (f"dir{number // 50} file{number}",) * PER_FILE,
            ("Latin",) * PER_FILE,
            tuple(hashlib.sha256(text.encode()).digest()[:16] for text in texts),
            f"dir{number // 50} file{number}",
        )


def timed(work: Callable[[int], object], rounds: int = ROUNDS) -> float:
    """The least seconds of a piece of work that is told its round."""
    times = []
    for n in range(rounds):
        began = time.perf_counter()
        work(n)
        times.append(time.perf_counter() - began)
    return min(times)


def embed(store: Any, first: int, dimension: int) -> int:
    """Vectors for all that waits."""
    done = 0
    while waiting := store.pending(4096):
        store.put_vectors([id_ for id_, _ in waiting], vectors_of(first + done, len(waiting), dimension))
        done += len(waiting)
    return done


def build(store: Any, passages: int, dimension: int) -> dict[str, float]:
    total = passages // PER_FILE
    words = 0.0
    for first in range(0, total, 64):
        made = list(files(first, min(64, total - first)))
        began = time.perf_counter()
        store.write(FOLDER, made, seen_ns=1)
        words += time.perf_counter() - began
    began = time.perf_counter()
    embed(store, 0, dimension)
    meaning = time.perf_counter() - began
    began = time.perf_counter()
    store.tidy()
    return {"index_words_s": words, "index_vectors_s": meaning, "tidy_s": time.perf_counter() - began}


def update(store: Any, passages: int, dimension: int) -> dict[str, float]:
    def one(n: int) -> None:
        store.write(FOLDER, list(files(n * 7 + 3, 1, 1)), seen_ns=2)
        embed(store, passages + n, dimension)

    seconds = timed(one, 60)
    began = time.perf_counter()
    store.tidy()
    return {"update_ms": 1000 * seconds, "tidy_after_s": time.perf_counter() - began}


def search(store: Any, passages: int, dimension: int) -> dict[str, float]:
    from semantic_search.stores import Filter

    everything, narrow = Filter(), Filter(scopes=((FOLDER, "dir3"),))
    questions = vectors_of(5_000_000, ROUNDS, dimension)
    random = np.random.default_rng(3)
    words = [[f"w{int(n)}" for n in random.integers(20, 20_000, 6)] for _ in range(ROUNDS)]

    def both(n: int) -> None:
        with store.snapshot():
            found = store.match(words[n], everything, 100) + store.nearest(questions[n], everything, 100)
            store.passages([id_ for id_, _ in found])
            store.pending_count()

    began = time.perf_counter()
    both(0)
    first = time.perf_counter() - began
    result = {
        "first_ms": 1000 * first,
        "warm_ms": 1000 * timed(both),
        "words_ms": 1000 * timed(lambda n: store.match(words[n], everything, 100)),
        "meaning_ms": 1000 * timed(lambda n: store.nearest(questions[n], everything, 100)),
        "filtered_ms": 1000 * timed(lambda n: store.nearest(questions[n], narrow, 100)),
        "known_ms": 1000 * timed(lambda _: store.known(FOLDER), 3),
    }
    hits = [[id_ for id_, _ in store.nearest(question, everything, 25)] for question in questions]
    best = exact(store, questions)
    result["recall"] = statistics.mean(
        len(set(mine) & set(theirs)) / 25 for mine, theirs in zip(hits, best, strict=True)
    )
    return result


def exact(store: Any, questions: npt.NDArray[np.float32]) -> list[list[int]]:
    """The 25 nearest passages to each question, by comparison with every vector."""
    passages = {}
    with store.snapshot():
        for kept in store.contents(FOLDER):
            for n, key in enumerate(kept.indexed.keys):
                passages[key] = (kept.source.path, n)
        best: list[list[tuple[float, bytes]]] = [[] for _ in questions]
        for keys, _, vectors in store.stored_vectors():
            live = np.array([key in passages for key in keys])
            scores = np.where(live[:, None], vectors @ questions.T, -9.0)
            for question, column in enumerate(scores.T):
                top = np.argsort(-column)[:25]
                best[question] += [(float(column[n]), keys[n]) for n in top if live[n]]
                best[question] = sorted(best[question], reverse=True)[:25]
        places = [[passages[key] for _, key in each] for each in best]
        ids = {path: [p.id for p in store.passages_of(FOLDER, path)] for each in places for path, _ in each}
    return [[ids[path][n] for path, n in each] for each in places]


STEPS = {"build": build, "update": update, "search": search}


def child(step: str, backend: str, place: str, passages: int, dimension: int) -> None:
    """One step in a process of its own; prints its figures."""
    began = time.perf_counter()
    from semantic_search.stores import open_store

    store = open_store(backend, place, create=step == "build")
    opened = 1000 * (time.perf_counter() - began)
    figures = STEPS[step](store, passages, dimension)
    store.close()
    status = Path("/proc/self/status")
    peak = 0.0
    if status.exists():
        peak = (
            float(
                next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1]
            )
            / 1024
        )
    if "first_ms" in figures:
        figures["cold_ms"] = opened + figures["first_ms"]
    print(json.dumps({**figures, "peak_mb": peak}))


def run(backend: str, passages: int, dimension: int, work: Path) -> dict[str, dict[str, float]]:
    place = str(work / f"index-{passages}.{backend}")
    found = {}
    for step in STEPS:
        argv = [
            sys.executable,
            __file__,
            "--child",
            step,
            backend,
            place,
            str(passages),
            "--dimension",
            str(dimension),
        ]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        found[step] = json.loads(done.stdout.splitlines()[-1])
        beside = [path for path in work.rglob("*") if path.is_file() and str(path).startswith(place)]
        found[step]["disk_mb"] = sum(path.stat().st_size for path in beside) / 1e6
    return found


ROWS = [
    ("index, words, s", "build", "index_words_s"),
    ("index, vectors, s", "build", "index_vectors_s"),
    ("upkeep after it, s", "build", "tidy_s"),
    ("disk, MB", "build", "disk_mb"),
    ("memory while indexing, MB", "build", "peak_mb"),
    ("update of one file, ms", "update", "update_ms"),
    ("upkeep after 60, s", "update", "tidy_after_s"),
    ("search, cold, ms", "search", "cold_ms"),
    ("search, warm, ms", "search", "warm_ms"),
    ("… words alone, ms", "search", "words_ms"),
    ("… meaning alone, ms", "search", "meaning_ms"),
    ("… meaning in 1 directory, ms", "search", "filtered_ms"),
    ("stamps of all files, ms", "search", "known_ms"),
    ("recall of 25", "search", "recall"),
    ("memory while searching, MB", "search", "peak_mb"),
]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", nargs="*", default=["10000", "100000"])
    parser.add_argument("--stores", nargs="+", default=["sqlite", "lancedb"])
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--child", nargs=3, metavar=("STEP", "STORE", "PLACE"))
    args = parser.parse_args()
    if args.child:
        step, backend, place = args.child
        child(step, backend, place, int(args.sizes[0]), args.dimension)
        return
    with tempfile.TemporaryDirectory(dir=args.work) as work:
        for size in map(int, args.sizes):
            results = {store: run(store, size, args.dimension, Path(work)) for store in args.stores}
            print(f"\n{size} passages, {os.cpu_count()} cores")
            print("".join([f"{'':32s}", *(f"{store:>12s}" for store in args.stores)]))
            for name, step, figure in ROWS:
                values = (results[store][step].get(figure, float("nan")) for store in args.stores)
                shown = (f"{value:12.2f}" if value < 10 else f"{value:12.0f}" for value in values)
                print(f"{name:32s}" + "".join(shown), flush=True)


if __name__ == "__main__":
    main()
