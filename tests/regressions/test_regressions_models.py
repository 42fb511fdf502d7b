"""Models that fail, and what they cost: cases other tools got wrong, by their ids."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from builders import vector, write_tree
from command_line import Command
from counts import repeated
from fakes import WordsEmbedder, WordsModels, configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.errors import ModelUnavailable
from semantic_search.models.embedder import Embedder
from semantic_search.stores import Filter
from semantic_search.tools.index import Request, index
from semantic_search.tools.search import Question, search

POISON = "poison"


class Failing(WordsEmbedder):
    """A model that fails at texts with a certain word in them, in the way of `fail`, until it is well."""

    def __init__(self, fail: Callable[[Sequence[str]], npt.NDArray[np.float32]]) -> None:
        super().__init__("multilingual-e5-small")
        self.fail, self.well = fail, False
        self.calls = 0

    def vectors_of(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.calls += 1
        if not self.well and any(POISON in text for text in texts):
            return self.fail(texts)
        return super().vectors_of(texts)


class FailingModels(WordsModels):
    """A source of the one failing model."""

    def __init__(self, model: Failing) -> None:
        super().__init__()
        self.model = model

    def open_embedder(self, name: str, **_: object) -> Embedder:
        return cast(Embedder, self.model)


def raising(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    raise RuntimeError("Non-zero status code returned while running MatMul node")


def out_of_memory(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    raise MemoryError


def not_numbers(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    return np.full((len(texts), 64), np.nan, np.float32)


def too_short(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    return np.ones((len(texts), 3), np.float32)


FAILURES = [raising, out_of_memory, not_numbers, too_short]


@pytest.fixture
def folder(tmp_path: Path, own_environment: Path) -> Path:
    path = tmp_path / "folder"
    path.mkdir()
    configure(own_environment, [path])
    return path


@pytest.fixture(params=FAILURES)
def failing(request: pytest.FixtureRequest, folder: Path) -> Iterator[tuple[Corpus, Failing]]:
    model = Failing(request.param)
    with open_words(FailingModels(model)) as corpus:
        yield corpus, model


def nearest(corpus: Corpus, text: str) -> list[str]:
    store, _ = corpus.reading()
    found = [id_ for id_, _ in store.nearest(vector(text), Filter(), 200)]
    passages = store.passages(found)
    return [passages[id_].path for id_ in found]


def test_cli_04_one_text_that_the_model_fails_at_costs_nothing_else(
    failing: tuple[Corpus, Failing], folder: Path
) -> None:
    corpus, model = failing
    write_tree(folder, {f"{n:03}.md": f"walnut number {n}\n" for n in range(300)})
    (folder / "050.md").write_text(f"walnut number {POISON}\n")
    run = index(corpus, Request(None))
    assert (run.vectors, run.pending, run.whole) == (299, 1, False)
    assert any("1 passages could not be embedded" in note for note in run.notes)
    assert run.reports[0].processed == 300
    assert len(set(nearest(corpus, "walnut number"))) == 200
    assert "050.md" not in nearest(corpus, POISON)
    assert search(corpus, Question(POISON, 5)).hits[0].path == "050.md"
    calls = model.calls
    assert index(corpus, Request(None)).vectors == 0
    assert model.calls <= calls + 2
    model.well = True
    assert index(corpus, Request(None)).pending == 0
    assert nearest(corpus, f"walnut number {POISON}")[0] == "050.md"


def test_crash_03_a_changed_file_that_cannot_be_embedded_is_neither_lost_nor_forgotten(
    failing: tuple[Corpus, Failing], folder: Path
) -> None:
    corpus, model = failing
    write_tree(folder, {"a.md": "walnut\n", "b.md": "meadow\n"})
    index(corpus, Request(None))
    (folder / "a.md").write_text(f"walnut {POISON}\n")
    run = index(corpus, Request(None))
    assert (run.vectors, run.pending) == (0, 1)
    assert search(corpus, Question(f"walnut {POISON}", 5)).hits[0].path == "a.md"
    assert corpus.reading()[0].check() == ""
    model.well = True
    run = index(corpus, Request(None))
    assert (run.vectors, run.pending, run.whole) == (1, 0, True)
    assert nearest(corpus, f"walnut {POISON}")[0] == "a.md"


def test_a_model_that_fails_at_every_text_is_given_up_after_a_few(
    failing: tuple[Corpus, Failing], folder: Path
) -> None:
    corpus, model = failing
    write_tree(folder, {f"{n:03}.md": f"{POISON} number {n}\n" for n in range(300)})
    with pytest.raises(ModelUnavailable, match="the model fails at every text"):
        index(corpus, Request(None))
    assert model.calls < 12
    assert search(corpus, Question("number 7", 5)).hits[0].path == "007.md"


_RESIDENT = """
import os, random, sys
from semantic_search.models import open_embedder

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

random.seed(7)
model = open_embedder("multilingual-e5-small", cache_dir=os.environ["SS_MODEL_CACHE_DIR"])
few, many = int(sys.argv[1]), int(sys.argv[2])
"""

_UNSPACED = """
for n in range(many):
    if n == few:
        first = resident()
    text = "".join(random.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=50_000))
    assert len(model.token_starts([text])[0]) > 5_000
print(first, resident())
"""

_MIXED = """
words = ["walnut", "meadow", "сховище", "検索", "harbour", "function", "ledger"]
for n in range(many):
    if n == few:
        first = resident()
    text = " ".join(random.choices(words, k=random.choice((1, 3, 10, 40, 150, 400))))
    model.embed_passages([text], threads=1)
print(first, resident())
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux how much memory is resident")


def grown(script: str, few: int, many: int) -> float:
    """By which factor what is resident grew from the first few inputs to all of them."""
    done = subprocess.run(
        [sys.executable, "-c", _RESIDENT + script, str(few), str(many)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, last = map(int, done.stdout.split())
    print(f"resident {first / 1e6:.0f} MB after {few}, {last / 1e6:.0f} MB after {many}")
    return last / first


@linux
@pytest.mark.parametrize("many", repeated(50))
def test_content_06_long_strings_without_spaces_leave_nothing_behind(many: int) -> None:
    assert grown(_UNSPACED, 10, many) < 1.3


@linux
@pytest.mark.parametrize("many", repeated(80))
def test_model_06_texts_of_every_length_leave_nothing_behind(many: int) -> None:
    assert grown(_MIXED, 30, many) < 1.3


def test_model_04_a_model_that_was_cut_short_is_named_and_words_are_searched(
    folder: Path, own_environment: Path, tmp_path: Path
) -> None:
    write_tree(folder, {"a.md": "walnut\n"})
    model = write_tree(
        tmp_path / "model", {"config.json": "{", "model.safetensors": b"\x08", "vocab.txt": ""}
    )
    configure(own_environment, [folder], modelName=str(model))
    run = Command()
    found: Any = run("index")
    assert str(model) in found.stderr
    assert "words alone" in found.stderr
    found = run("search", "--json", "walnut")
    assert found.paths == ["a.md"]
