"""Folders of invented text of any size, indexed without a model: what the benchmarks of search run on.

Words are drawn by Zipf's law (exponent 1, as in most languages), so that a few are in nearly every passage
and most are rare; half of the files read as prose, half as code with joined identifiers. Vectors are random
points around some hundred centres with a direction in common, as those of embedding models are. The
same size and seed give the same corpus.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from semantic_search.corpus import Corpus
from semantic_search.listing import list_files
from semantic_search.passages import embedding_key
from semantic_search.scripts import dominant_script
from semantic_search.settings import load_settings
from semantic_search.stores import Indexed
from semantic_search.terms import index_terms, path_terms
from semantic_search.tools.folders import add
from semantic_search.types import Chunk, Document, SourceFile

Floats = npt.NDArray[np.float32]

VOCABULARY = 60_000
NAMES = 20_000
WORDS = 110  # a passage
PASSAGES = 12  # a file
CENTRES = 300
_FILES_AT_ONCE = 400


def vocabulary(rng: np.random.Generator) -> list[str]:
    """Distinct words that can be spoken, the commonest first and short."""
    onsets = ["", *"bcdfghklmnprstvwz", "st", "tr", "pl", "ch", "sh"]
    syllables = [
        onset + vowel + coda for onset in onsets for vowel in "aeiou" for coda in ("", "n", "r", "l")
    ]
    endings = ["", "", "", "s", "ing", "ed", "er", "ion", "ness"]
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        count = 1 + min(len(words) // 400, 1) + int(rng.integers(0, 2)) + (len(words) > 10_000)
        parts = [syllables[n] for n in rng.integers(0, len(syllables), count)]
        words["".join(parts) + endings[int(rng.integers(0, len(endings)))]] = None
    return [word for word in words if word]


class Writer:
    """Draws passages of words."""

    def __init__(self, seed: int = 7) -> None:
        self._rng = np.random.default_rng(seed)
        self.words = vocabulary(self._rng)
        weights = 1.0 / np.arange(1, len(self.words) + 1)
        self._cumulative = np.cumsum(weights / weights.sum())
        pairs = zip(self.drawn(NAMES), self.drawn(NAMES), strict=True)
        self.names = [
            f"{first}_{second}" if n % 2 else first + second.capitalize()
            for n, (first, second) in enumerate(pairs)
        ]

    def drawn(self, count: int) -> list[str]:
        """So many words, as often as Zipf has them."""
        return [self.words[place] for place in self._places(count, len(self.words))]

    def _places(self, count: int, of: int) -> list[int]:
        drawn = self._rng.random(count) * self._cumulative[of - 1]
        return [min(int(place), of - 1) for place in np.searchsorted(self._cumulative, drawn)]

    def prose(self) -> str:
        """A passage of prose."""
        words = self.drawn(WORDS)
        lines = [" ".join(words[start : start + 12]) for start in range(0, WORDS, 12)]
        return "\n".join(lines) + ".\n"

    def code(self) -> str:
        """A passage of code: a function whose names are joined words."""
        names = [self.names[place] for place in self._places(WORDS // 4, NAMES)]
        words = self.drawn(WORDS // 4)
        lines = [f"def {names[0]}(self, {words[0]}):"]
        for number, (name, word) in enumerate(zip(names[1:-1:2], words[1:], strict=False)):
            lines.append(f"    self.{name} = {names[2 * number + 2]}({word}, {words[-number]}={number})")
        return "\n".join(lines) + "\n"

    def question(self) -> str:
        """Six words, as common and as rare as a question's are: half of them among the commonest 40."""
        common = [self.words[int(n)] for n in self._rng.integers(0, 40, 3)]
        rare = [self.words[int(n)] for n in self._rng.integers(200, 20_000, 3)]
        return " ".join([common[0], rare[0], common[1], rare[1], common[2], rare[2]])


def write_files(root: Path, passages: int, seed: int = 7) -> Writer:
    """Fills a new folder with files of that many passages; gives what wrote them."""
    writer = Writer(seed)
    for number in range(-(-passages // PASSAGES)):
        parts = range(min(PASSAGES, passages - number * PASSAGES))
        ending, draw = (".py", writer.code) if number % 2 else (".md", writer.prose)
        place = root / writer.words[number % 97] / f"{'_'.join(writer.drawn(2))}_{number}{ending}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n".join(draw() for _ in parts))
    return writer


def index_text(corpus: Corpus, root: Path) -> None:
    """Writes the folder's files into the index, a passage a block of text, with nothing cut or measured."""
    folder = os.path.realpath(root)
    listing = list_files(folder, corpus.listing_rules(folder))
    model = corpus.embedder.fingerprint
    with corpus.writing() as store:
        for start in range(0, len(listing.files), _FILES_AT_ONCE):
            part = listing.files[start : start + _FILES_AT_ONCE]
            batch = [_indexed(model, source) for source in part]
            store.write(folder, batch, seen_ns=max(source.mtime_ns for source in part) + 10**10)
        store.record_run(folder, "2026-11-30T00:00:00+00:00")


def _indexed(model: str, source: SourceFile) -> Indexed:
    content = Path(source.absolute).read_bytes()
    text = content.decode()
    language = "python" if source.path.endswith(".py") else "markdown"
    document = Document(source, hashlib.sha256(content).hexdigest(), text, language)
    chunks = tuple(_chunks(text, code=language == "python"))
    of_path = path_terms(source.path)
    return Indexed(
        document,
        chunks,
        tuple(" ".join(index_terms(chunk.text)) for chunk in chunks),
        tuple(" ".join([*of_path, *index_terms(chunk.symbol)]) for chunk in chunks),
        tuple(dominant_script(chunk.text) for chunk in chunks),
        tuple(embedding_key(model, chunk.embedded_text) for chunk in chunks),
        " ".join(of_path),
    )


def _chunks(text: str, *, code: bool) -> Iterator[Chunk]:
    start, line = 0, 1
    for part in text.split("\n\n"):
        end, lines = start + len(part), part.count("\n")
        symbol = part[4 : part.index("(")] if code else ""
        kind = "function" if code else ""
        yield Chunk(start, end, line, line + lines, part, symbol=symbol, kind=kind)
        start, line = end + 2, line + lines + 2


class Points:
    """Draws unit vectors that lie as those of an embedding model do: around centres, all in one half."""

    def __init__(self, dimension: int, seed: int = 11) -> None:
        self._rng = np.random.default_rng(seed)
        shared = self._normal(1, dimension) * 2.0
        self._centres = shared + self._normal(CENTRES, dimension)

    def _normal(self, count: int, dimension: int) -> Floats:
        drawn = self._rng.standard_normal((count, dimension), np.float32)
        return np.asarray(drawn / np.sqrt(np.float32(dimension)), np.float32)

    def drawn(self, count: int) -> Floats:
        """Float32 (count, dimension)."""
        found = self._centres[self._rng.integers(0, CENTRES, count)]
        found = found + 0.8 * self._normal(count, found.shape[1])
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def fill_with_points(corpus: Corpus, dimension: int) -> None:
    """Gives every passage that waits for a vector one."""
    points = Points(dimension)
    with corpus.writing() as store:
        while ids := [id_ for id_, _ in store.pending(20_000)]:
            store.put_vectors(ids, points.drawn(len(ids)))
        store.tidy()


def prepared(work: Path, passages: int, *, vectors: bool = True) -> None:
    """Points the environment at an index of so many passages below `work`, made where there is none.

    It is made in a process of its own, so that the memory that takes is not counted.
    """
    os.environ.update(SS_CONFIG_PATH=str(work / "config.json"), SS_INDEX_DIR=str(work / "index"))
    os.environ.setdefault("SS_MODEL_CACHE_DIR", str(work / "models"))
    if not (work / "index").exists():
        arguments = [str(work), str(passages), "vectors" if vectors else "words"]
        subprocess.run([sys.executable, __file__, *arguments], check=True)


def main() -> None:
    work, passages, kind = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    root = work / "text"
    root.mkdir(parents=True)
    write_files(root, passages)
    with Corpus(load_settings()) as corpus:
        add(corpus, [str(root)])
    with Corpus(load_settings()) as corpus:
        index_text(corpus, root)
        if kind == "vectors":
            fill_with_points(corpus, corpus.embedder.dimension)


if __name__ == "__main__":
    main()
