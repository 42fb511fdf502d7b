"""How cost grows with the corpus: CPU, memory and index size at 1 000, 10 000, 100 000 … passages.

    python benchmarks/growth.py [--passages N ...] [--work DIR]

The text is made up: words from a vocabulary that follows Zipf's law and grows with the text, as that of
people does, in Markdown files of ten sections. Vectors are random, since embedding so much would take
hours. Indexing and updating are the installed command as a process; CPU is that of it and its children,
memory the most that they hold together (resident, shared pages counted more than once). A warm search is
the median of 40 questions in one process that holds the index open, the question's embedding included.
`/1000` is CPU for each thousand passages: where it does not grow down the table, cost grows no faster than
the work. For Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
from processes import measure, own_peak

SECTIONS = 10
WORDS = 130  # of a section: one passage
VOCABULARY = 400_000
QUESTIONS = 40
_SYLLABLES = [a + b + c for a in "bdfgklmnprstvz" for b in "aeiou" for c in ("", "l", "n", "r", "s")]


def word(rank: int) -> str:
    """A pronounceable word for each rank, short for the frequent ones."""
    parts: list[str] = []
    number = rank
    while number or not parts:
        number, at = divmod(number, len(_SYLLABLES))
        parts.append(_SYLLABLES[at])
    return "".join(parts)


class Words:
    """Words by Zipf and Mandelbrot's law: the share of the word of rank r goes as 1 / (r + 2.7) ** 1.07."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        shares = 1 / (np.arange(VOCABULARY) + 2.7) ** 1.07
        self._edges = np.cumsum(shares / shares.sum())
        self._words = np.array([word(rank) for rank in range(VOCABULARY)], dtype=object)

    def some(self, count: int) -> list[str]:
        """So many words in a row."""
        ranks = np.searchsorted(self._edges, self._random.random(count))
        return list(self._words[np.minimum(ranks, VOCABULARY - 1)])


def section(words: Words) -> str:
    """A heading and its text, in sentences and lines."""
    found = words.some(WORDS + 3)
    title, body = " ".join(found[:3]).capitalize(), found[3:]
    lines = [" ".join(body[start : start + 13]).capitalize() + "." for start in range(0, WORDS, 13)]
    return f"## {title}\n\n" + "\n".join(lines) + "\n"


def make_folder(folder: Path, passages: int, words: Words) -> int:
    """Writes files with so many sections; gives the bytes written."""
    size = 0
    for number in range(passages // SECTIONS):
        place = folder / f"{number // 1000:03}" / f"{number // 100 % 10}" / f"note-{number:06}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        text = "\n".join(section(words) for _ in range(SECTIONS))
        size += place.write_text(text)
        os.utime(place, (1_700_000_000, 1_700_000_000))
    return size


def make_vectors() -> None:
    """Gives every passage that waits a random unit vector (in a process of its own)."""
    from semantic_search.corpus import Corpus
    from semantic_search.settings import load_settings

    random = np.random.default_rng(0)
    with Corpus(load_settings()) as corpus, corpus.writing() as store:
        dimension = corpus.embedder.dimension
        while waiting := store.pending(5000):
            found: npt.NDArray[np.float32] = random.standard_normal((len(waiting), dimension), np.float32)
            store.put_vectors(
                [id_ for id_, _ in waiting], found / np.linalg.norm(found, axis=1, keepdims=True)
            )


def search_warm() -> None:
    """Prints the median CPU milliseconds of a warm search and the process's peak memory as JSON."""
    from semantic_search.corpus import Corpus
    from semantic_search.settings import load_settings
    from semantic_search.tools.search import Question, search

    words = Words(99)
    costs = []
    with Corpus(load_settings()) as corpus:
        for number in range(QUESTIONS + 5):
            question = " ".join(words.some(6))
            began = time.process_time()
            search(corpus, Question(question, 5, refresh=False))
            if number >= 5:
                costs.append(time.process_time() - began)
    print(json.dumps({"ms": statistics.median(costs) * 1000, "peak": own_peak()}))


def index_bytes(environment: dict[str, str], command: str) -> int:
    """What the index takes on disk, by its own account."""
    done = subprocess.run([command, "status", "--json"], env=environment, capture_output=True, check=True)
    return int(json.loads(done.stdout)["indexBytes"])


def one_size(passages: int, work: Path) -> str:
    """The row of one size."""
    folder = work / f"text-{passages}"
    size = make_folder(folder, passages, Words(passages))
    environment = os.environ | {
        "SS_CONFIG_PATH": str(work / f"{passages}.json"),
        "SS_INDEX_DIR": str(work / f"index-{passages}"),
        "SS_MODEL_CACHE_DIR": os.environ.get("SS_MODEL_CACHE_DIR", str(work / "models")),
    }
    command = str(Path(sys.executable).parent / "semantic-search")
    subprocess.run([command, "add", str(folder)], env=environment, check=True, capture_output=True)
    # The model is converted once, which is not indexing.
    measure([command, "index", "--no-embed", "--max-files", "1"], environment)
    indexing = measure([command, "index", "--no-embed"], environment)
    made = json.loads(indexing.last)["chunksWritten"] + SECTIONS
    text_bytes = index_bytes(environment, command)
    again = min(measure([command, "index", "--no-embed"], environment).cpu for _ in range(3))
    this = [sys.executable, __file__]
    subprocess.run([*this, "--make-vectors"], env=environment, check=True)
    all_bytes = index_bytes(environment, command)
    update = min(updated(folder, number, command, environment) for number in range(3))
    found = json.loads(
        subprocess.run([*this, "--search-warm"], env=environment, check=True, capture_output=True).stdout
    )
    return (
        f"| {made} | {size / 1e6:.1f} | {indexing.cpu:.1f} | {indexing.cpu / made * 1000:.2f} | "
        f"{indexing.peak:.0f} | {text_bytes / made:.0f} | {all_bytes / made:.0f} | {again:.2f} | "
        f"{update:.2f} | {found['ms']:.1f} | {found['peak']:.0f} |"
    )


def updated(folder: Path, number: int, command: str, environment: dict[str, str]) -> float:
    """CPU seconds of a run after one file was changed."""
    place = next(iter(sorted(folder.rglob("*.md"))))
    place.write_text(place.read_text() + f"\nAnother sentence, number {number}.\n")
    return measure([command, "index", "--no-embed"], environment).cpu


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument(
        "--work", type=Path, help="where text and indexes go (default: a temporary directory)"
    )
    parser.add_argument("--make-vectors", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--search-warm", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make_vectors:
        return make_vectors()
    if options.search_warm:
        return search_warm()
    work = options.work or Path(tempfile.mkdtemp())
    print(
        "| passages | text MB | index CPU s | /1000 | peak MB | bytes a passage | with vectors | "
        "unchanged CPU s | one file CPU s | warm search CPU ms | its peak MB |"
    )
    print("|" + "---:|" * 11)
    try:
        for passages in options.passages:
            print(one_size(passages, work), flush=True)
    finally:
        if not options.work:
            shutil.rmtree(work)
    return None


if __name__ == "__main__":
    main()
