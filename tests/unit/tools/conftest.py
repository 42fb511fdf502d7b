"""A folder of a few files, indexed with a model made of words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import write_tree
from fakes import WordsModels, configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.tools.index import Request, index

NOTES: dict[str, str | bytes] = {
    "retry.md": "# Retry budget\n\nThe gateway retries five times.\n\n# Limits\n\nThen it gives up.\n",
    "garden.md": "# Garden\n\nTomato seedlings go outdoors in May.\n",
    "src/ledger.py": 'def close_ledger(month):\n    """Closes the books of a month."""\n    return month\n',
    "українською.md": "# Садок\n\nРозсаду висаджують у травні.\n",
    ".env": "TOKEN=gateway\n",
    "logo.png": b"\x89PNG gateway",
}


@pytest.fixture
def folder(tmp_path: Path, own_environment: Path) -> Path:
    root = write_tree(tmp_path / "notes", NOTES)
    configure(own_environment, [root])
    return root


@pytest.fixture
def models() -> WordsModels:
    return WordsModels()


@pytest.fixture
def notes() -> list[str]:
    """What the corpus tells the user."""
    return []


@pytest.fixture
def corpus(folder: Path, models: WordsModels, notes: list[str]) -> Iterator[Corpus]:
    with open_words(models, notes) as opened:
        index(opened, Request())
        yield opened
