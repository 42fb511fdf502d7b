"""What a run costs, counted instead of timed: the same on a quick machine and on a loaded one."""

from __future__ import annotations

import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from builders import write_tree
from fakes import WordsEmbedder, WordsModels, configure, let_time_pass, open_words

from semantic_search.corpus import Corpus
from semantic_search.freshness import refresh
from semantic_search.models.embedder import Embedder
from semantic_search.tools.index import Request, index

FILES = {
    f"d{n % 3}/note-{n:02}.md": f"# Note {n}\n\n" + f"Paragraph {n} of many.\n\n" * 90 for n in range(30)
}

_events: list[tuple[str, str]] | None = None


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _events is not None and event in ("open", "os.scandir") and isinstance(args[0], str):
        _events.append((event, args[0]))


@pytest.fixture(scope="module", autouse=True)
def audit() -> None:
    sys.addaudithook(_hook)  # it cannot be taken out again; it looks at a variable for as long as it lives


@contextmanager
def watched() -> Iterator[list[tuple[str, str]]]:
    """What is opened and which directories are listed, as (event, path as it was given)."""
    global _events
    found: list[tuple[str, str]] = []
    _events = found
    try:
        yield found
    finally:
        _events = None


@pytest.fixture
def folder(tmp_path: Path, own_environment: Path) -> Path:
    root = write_tree(tmp_path / "notes", dict(FILES)).resolve()
    configure(own_environment, [root])
    return root


def opened(events: Sequence[tuple[str, str]]) -> list[str]:
    """The files of the folder among what was opened; they are opened by name below their directory."""
    names = {path.rpartition("/")[2] for path in FILES}
    return [path for event, path in events if event == "open" and path.rpartition("/")[2] in names]


def indexed(corpus: Corpus, folder: Path) -> None:
    index(corpus, Request())
    with corpus.writing() as store:
        let_time_pass(store, folder)


def test_a_run_opens_each_file_once_and_none_when_nothing_changed(folder: Path) -> None:
    with open_words() as corpus:
        with watched() as first:
            index(corpus, Request())
        assert sorted(opened(first)) == sorted(path.rpartition("/")[2] for path in FILES)
        indexed(corpus, folder)
        with watched() as again:
            run = index(corpus, Request())
        assert run.reports[0].unchanged == len(FILES)
        assert opened(again) == []
        with watched() as look:
            assert refresh(corpus, corpus.folders) == []
        assert opened(look) == []


def test_nothing_changed_opens_no_model(folder: Path) -> None:
    with open_words() as corpus:
        indexed(corpus, folder)
    models = WordsModels()
    with open_words(models) as corpus:
        assert index(corpus, Request()).reports[0].unchanged == len(FILES)
    assert models.opened == {}


def test_a_changed_folder_is_listed_once_before_a_search(folder: Path) -> None:
    with open_words() as corpus:
        indexed(corpus, folder)
        (folder / "d1" / "new.md").write_text("# New\n\nA walrus.\n")
        with watched() as events:
            assert refresh(corpus, corpus.folders) == []
        listed = Counter(path for event, path in events if event == "os.scandir")
        assert [listed[str(folder / name)] for name in ("d0", "d1", "d2")] == [1, 1, 1]
        assert corpus.reading()[0].document(str(folder), "d1/new.md") is not None


class CountingEmbedder(WordsEmbedder):
    """Counts the characters whose tokens it was asked for."""

    characters = 0

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        self.characters += sum(map(len, texts))
        return super().token_starts(texts)


class CountingModels(WordsModels):
    """Gives one counting model."""

    def __init__(self) -> None:
        super().__init__()
        self.model = CountingEmbedder()

    def open_embedder(self, *args: Any, **options: Any) -> Embedder:
        return cast(Embedder, self.model)


def test_each_character_passes_the_tokenizer_once(folder: Path) -> None:
    models = CountingModels()
    with open_words(models) as corpus:
        index(corpus, Request(embed=False))
    assert models.model.characters == sum(map(len, FILES.values()))


def test_statements_grow_with_files_and_passages_and_full_text_comes_last(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FTS5 writes out what it has gathered at every statement of another kind that follows."""
    statements: list[str] = []
    connect = sqlite3.connect

    def traced(*args: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **options)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    with open_words() as corpus:
        index(corpus, Request(embed=False))  # all new
        index(corpus, Request(embed=False, force=True))  # all replaced
        passages = sum(row.chunks for row in corpus.reading()[0].known(str(folder)).values())
    own = [statement for statement in statements if not statement.startswith("--")]  # not FTS5's inner ones
    assert passages > 2 * len(FILES)
    # A row, a document, a full text a file; a row, a full text, an embedding and its id a passage. Twice.
    assert len(own) <= 2 * (6 * len(FILES) + 4 * passages) + 60
    transactions = "\n".join(own).split("BEGIN IMMEDIATE")
    writes = [[line for line in part.split("\n") if line.startswith("INSERT INTO")] for part in transactions]
    full_text = [["lexical" in line[:30] or "whole" in line[:30] for line in part] for part in writes]
    assert any(map(any, full_text))
    assert all(part == sorted(part) for part in full_text)
