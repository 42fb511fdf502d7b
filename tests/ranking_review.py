"""Asks every graded question. Run as a program it renews the golden files and the figures."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ranking_questions import (
    GOLDEN,
    QUALITY,
    STATS,
    Figures,
    Found,
    Inventory,
    Passage,
    Question,
    Ranking,
    disagreements,
    figures,
    kept_in,
    read_inventory,
    render,
    render_figures,
    settled,
)

from semantic_search.corpus import Corpus
from semantic_search.scoring import WEIGHTS
from semantic_search.settings import Settings, load_settings
from semantic_search.tools import index as indexing
from semantic_search.tools import search as searching
from semantic_search.types import Hit

SAMPLES = QUALITY.parents[1] / "samples"

# As many as leave the arms' pools as large as they are for five results.
PASSAGES = 20


@dataclass(frozen=True)
class Review:
    """What was found for every question, by id: with vectors (hits and files) and by words alone."""

    inventory: Inventory
    folders: Mapping[str, Path]
    settings: Settings
    corpus: Corpus
    hits: Mapping[str, list[Hit]]
    rankings: Mapping[str, Ranking]
    by_words: Mapping[str, Ranking]

    def ask(self, text: str, corpus: Corpus | None = None) -> list[Hit]:
        return ask(corpus or self.corpus, text)

    def figures(self) -> dict[str, Figures]:
        questions = self.inventory.questions
        orders = {q.id: settled(kept_in(golden(q)), self.rankings[q.id]) for q in questions}
        words = {id_: [found.path for found in ranking] for id_, ranking in self.by_words.items()}
        return {
            "words and meaning": figures(questions, orders),
            "words alone": figures(questions, words),
        }


@contextmanager
def review(place: Path, model_cache: Path) -> Iterator[Review]:
    """Indexes copies of both folders below `place`, and asks: first by words alone, then with vectors."""
    folders = {"library": place / "library", "verbena": place / "verbena"}
    # Times are not copied: what changed last would go first among equals, and a checkout's times are chance.
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(QUALITY / "corpus", folders["library"], ignore=ignored, copy_function=shutil.copyfile)
    shutil.copytree(SAMPLES / "corpus", folders["verbena"], copy_function=shutil.copyfile)
    config = place / "config.json"
    config.write_text(
        json.dumps({"defaultRoots": [str(path) for path in folders.values()]}), encoding="utf-8"
    )
    settings = load_settings(
        {
            "HOME": str(place),
            "SS_CONFIG_PATH": str(config),
            "SS_INDEX_DIR": str(place / "index"),
            "SS_MODEL_CACHE_DIR": str(model_cache),
        }
    )
    inventory = read_inventory(folders)
    with Corpus(settings) as corpus:
        indexing.index(corpus, indexing.Request(embed=False))
        words = {q.id: files_of(ask(corpus, q.text)) for q in inventory.questions}
        run = indexing.index(corpus, indexing.Request(threads=settings.threads))
        if run.pending or not run.whole:
            raise RuntimeError(f"the corpus was not indexed wholly: {run}")
        hits = {q.id: ask(corpus, q.text) for q in inventory.questions}
        rankings = {id_: files_of(found) for id_, found in hits.items()}
        yield Review(inventory, folders, settings, corpus, hits, rankings, words)


def ask(corpus: Corpus, text: str) -> list[Hit]:
    return searching.search(corpus, searching.Question(text, PASSAGES, refresh=False, explain=True)).hits


def files_of(hits: list[Hit]) -> Ranking:
    """The files of hits in order. A passage's score is the sum of its signals, without its file's others."""
    found: dict[str, list[Passage]] = {}
    for hit in hits:
        passages = found.setdefault(f"{hit.folder_name}/{hit.path}", [])
        chunk, shares = hit.chunk, hit.explain or {}
        score = sum(share for name, share in shares.items() if name in WEIGHTS)
        name = chunk.symbol or chunk.heading
        passages.append(Passage(chunk.first_line, chunk.last_line, name, score))
    return [Found(path, tuple(passages)) for path, passages in found.items()]


def golden(question: Question) -> str:
    """The text of a question's golden file, empty where there is none."""
    file = GOLDEN / f"{question.id}.txt"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def renew(found: Review) -> list[str]:
    """Writes the golden files that no longer agree, removes those without a question; returns their names."""
    GOLDEN.mkdir(exist_ok=True)
    written = []
    for question in found.inventory.questions:
        text, ranking = golden(question), found.rankings[question.id]
        fresh = render(question, ranking)
        same_question = text.split("\n\n")[0] == fresh.split("\n\n")[0]
        if not same_question or disagreements(kept_in(text), ranking):
            (GOLDEN / f"{question.id}.txt").write_text(fresh, encoding="utf-8", newline="\n")
            written.append(question.id)
    ids = {question.id for question in found.inventory.questions}
    for file in GOLDEN.glob("*.txt"):
        if file.stem not in ids:
            file.unlink()
            written.append(file.stem)
    STATS.write_text(render_figures(found.figures()), encoding="utf-8", newline="\n")
    return written


def main() -> None:
    with tempfile.TemporaryDirectory() as place, review(Path(place), Path(place) / "models") as found:
        written = renew(found)
    sys.stdout.write(f"renewed {len(written)} golden files: {', '.join(written) or 'none'}\n")
    sys.stdout.write(STATS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
