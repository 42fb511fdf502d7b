"""A model made of words, and the places where a test's settings, folders and index are."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import builders
import numpy as np
import numpy.typing as npt

from semantic_search.corpus import Corpus
from semantic_search.errors import ModelUnavailable
from semantic_search.indexing import index_folder
from semantic_search.models import ALL_SCRIPTS, ModelRow
from semantic_search.models.embedder import Embedder
from semantic_search.models.scripts import can_read
from semantic_search.passages import Cutter
from semantic_search.runs import FolderReport, RunOptions, Step
from semantic_search.settings import load_settings
from semantic_search.stores import Store
from semantic_search.types import SourceFile

_TOKEN = re.compile(r"\w+|[^\w\s]")


class WordsEmbedder:
    """An embedder that means what its words say: texts that share words are near each other.

    `embedded` are the passages it was asked for, `queries` the queries, in order.
    """

    def __init__(self, name: str = "words", scripts: frozenset[str] = ALL_SCRIPTS) -> None:
        self.row = ModelRow(name=name, dimension=builders.DIMENSION, window=512, scripts=scripts)
        self.embedded: list[str] = []
        self.queries: list[str] = []
        self.closed = False

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.row.name.encode()).hexdigest()

    @property
    def folder(self) -> Path:
        return Path("models", self.row.name)

    @property
    def dimension(self) -> int:
        return self.row.dimension

    @property
    def max_text_tokens(self) -> int:
        return self.row.window

    def can_read(self, text: str) -> bool:
        return can_read(text, self.row.scripts)

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        return [[match.start() for match in _TOKEN.finditer(text)] for text in texts]

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        self.queries.append(text)
        return builders.vector(text)

    def embed_passages(
        self,
        texts: Sequence[str],
        *,
        threads: int | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> npt.NDArray[np.float32]:
        return self.vectors_of(texts)

    def vectors_of(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors of passages; a model that fails or waits does so here."""
        self.embedded += texts
        return builders.vectors(texts) if texts else np.empty((0, self.dimension), np.float32)

    def verify(self) -> str:
        return ""

    def close(self) -> None:
        self.closed = True


class WordsModels:
    """A source of word models: any name but those `missing` has one. `opened` are the names asked for."""

    def __init__(self, *, missing: Sequence[str] = (), scripts: frozenset[str] = ALL_SCRIPTS) -> None:
        self.missing = set(missing)
        self.scripts = scripts
        self.opened: dict[str, WordsEmbedder] = {}

    @property
    def embedded(self) -> list[str]:
        """Every passage that any of the models was asked for."""
        return [text for model in self.opened.values() for text in model.embedded]

    def open_embedder(
        self,
        name: str,
        *,
        cache_dir: str,
        allow_download: bool = False,
        on_progress: Callable[[str], None] | None = None,
    ) -> Embedder:
        if name in self.missing:
            raise ModelUnavailable(f"the model {name} is not on this machine")
        model = self.opened.setdefault(name, WordsEmbedder(name, self.scripts))
        return cast(Embedder, model)

    def fingerprint_of(self, name: str, cache_dir: str) -> str | None:
        return None if name in self.missing else WordsEmbedder(name).fingerprint


class Run:
    """What one run over a folder did: its report, and each step of it."""

    def __init__(self, report: FolderReport) -> None:
        self.report = report
        self.steps: list[Step] = []

    @property
    def paths(self) -> list[str]:
        """The files that were read, in order."""
        return [step.path for step in self.steps]


def configure(home: Path, folders: Sequence[Path | str] = (), **keys: Any) -> None:
    """Writes the config file: folders, and keys by their names (`chunk__targetTokens` for a nested one)."""
    content: dict[str, Any] = {"defaultRoots": [str(folder) for folder in folders]}
    for name, value in keys.items():
        *outer, last = name.split("__")
        place = content
        for part in outer:
            place = place.setdefault(part, {})
        place[last] = value
    place_of = home / "config" / "semantic-search" / "config.json"
    place_of.parent.mkdir(parents=True, exist_ok=True)
    place_of.write_text(json.dumps(content))


@contextlib.contextmanager
def open_words(models: WordsModels | None = None, notes: list[str] | None = None) -> Iterator[Corpus]:
    """A corpus of the settings in force whose models are made of words."""
    said = notes if notes is not None else []
    with Corpus(load_settings(), on_note=said.append, models=models or WordsModels()) as corpus:
        yield corpus


def run_folder(corpus: Corpus, store: Store, folder: Path, **options: Any) -> Run:
    """One run over a folder, text only."""
    path = os.path.realpath(folder)
    rules = corpus.listing_rules(path)
    embedder = corpus.embedder_or_none()
    run = Run(FolderReport(folder.name, path))
    cutter = Cutter(rules, corpus.budget(embedder), embedder)
    index_folder(store, lambda: cutter, rules, run.report, RunOptions(**options), run.steps.append)
    return run


def let_time_pass(store: Store, folder: Path) -> None:
    """Makes every look at a folder's files ten seconds later than it was.

    A file that was written just before it was read is read again at the next look, in case its clock did not
    tick between the two; this takes the place of waiting until that is over.
    """
    path = os.path.realpath(folder)
    for name, row in store.known(path).items():
        source = SourceFile(path, name, *row.stamp)
        store.write(path, touched=[source], seen_ns=row.seen_ns + 10**10)
