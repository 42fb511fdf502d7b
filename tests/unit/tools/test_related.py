"""Passages like the one at a place, and what a search says of odd words and of copies."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import write_tree
from fakes import WordsModels, configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.errors import FolderError, QueryError
from semantic_search.tools.index import Request, index
from semantic_search.tools.related import related
from semantic_search.tools.search import Question, search
from semantic_search.wire import hit_json

LICENCE = "Permission is granted to everybody who asks, for any use whatever, without any warranty at all."


def indexed_corpus(corpus: Corpus, *, embed: bool = True) -> Corpus:
    index(corpus, Request(embed=embed))
    return corpus


@pytest.fixture
def tree(tmp_path: Path, own_environment: Path) -> Path:
    root = write_tree(
        tmp_path / "notes",
        {
            "retry.md": "# Retries\n\nThe gateway retries a lost request with a growing delay.\n",
            "delay.md": "# Delays\n\nA growing delay keeps the gateway from a storm of requests.\n",
            "garden.md": "# Garden\n\nTomatoes want sun.\n",
            "one/LICENSE": LICENCE,
            "two/LICENSE": LICENCE,
        },
    )
    configure(own_environment, [root])
    return root


@pytest.mark.parametrize("embed", [True, False])
def test_what_is_like_a_passage_comes_first_and_never_its_own_file(tree: Path, embed: bool) -> None:
    models = WordsModels()
    with open_words(models) as corpus:
        indexed_corpus(corpus, embed=embed)
        answer = related(corpus, str(tree / "retry.md"), 3, 5)
        assert answer.hits[0].path == "delay.md"
        assert "retry.md" not in [hit.path for hit in answer.hits]
        assert [query for model in models.opened.values() for query in model.queries] == []


def test_related_says_what_is_wrong_with_a_place(tree: Path) -> None:
    with open_words() as corpus:
        indexed_corpus(corpus)
        with pytest.raises(QueryError, match="line 99"):
            related(corpus, str(tree / "retry.md"), 99, 5)
        with pytest.raises(QueryError, match="line 0"):
            related(corpus, str(tree / "retry.md"), 0, 5)
        with pytest.raises(FolderError):
            related(corpus, "/etc/passwd", 1, 5)
        with pytest.raises(QueryError, match="number of results"):
            related(corpus, str(tree / "retry.md"), 3, 0)


def test_copies_are_one_hit_that_names_the_others(tree: Path) -> None:
    with open_words() as corpus:
        indexed_corpus(corpus)
        hits = search(corpus, Question("permission granted without warranty", 5)).hits
    assert [hit.path for hit in hits if hit.path.endswith("LICENSE")] == ["one/LICENSE"]
    assert hits[0].duplicates == ((str(tree), "two/LICENSE"),)
    assert hit_json(hits[0])["duplicates"] == [str(tree / "two" / "LICENSE")]


def test_a_word_that_is_nowhere_is_looked_for_under_another_spelling(tree: Path) -> None:
    with open_words() as corpus:
        indexed_corpus(corpus, embed=False)
        answer = search(corpus, Question("tomatos gardne", 5))
        assert answer.hits[0].path == "garden.md"
        assert any("“gardne” is nowhere" in note for note in answer.notes)
        known = search(corpus, Question("garden", 5))
        assert not any("nowhere" in note for note in known.notes)


def test_fts_query_04_a_query_without_words_says_how_it_was_answered(tree: Path) -> None:
    with open_words() as corpus:
        indexed_corpus(corpus)
        answer = search(corpus, Question("😀", 2))
        assert any("by meaning alone" in note for note in answer.notes)
    with open_words() as corpus:
        for text in ("", "   ", "\n", "\x00"):
            with pytest.raises(QueryError, match="empty"):
                search(corpus, Question(text, 2))
