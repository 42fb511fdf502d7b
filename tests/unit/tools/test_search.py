"""The contract of a search: what comes back, from where, and what is said about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import write_tree
from fakes import WordsModels, configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.errors import FolderError, NoIndex, QueryError
from semantic_search.tools.index import Request, index
from semantic_search.tools.search import LONGEST_QUERY, Question, files_of, search, usable_query


def ask(corpus: Corpus, text: str, k: int = 10, **options: Any) -> list[str]:
    return [hit.path for hit in search(corpus, Question(text, k, **options)).hits]


def test_a_hit_is_a_passage_with_its_place(corpus: Corpus, folder: Path) -> None:
    hit = search(corpus, Question("gateway retries", 5)).hits[0]
    assert (hit.folder, hit.folder_name, hit.path, hit.language) == (
        str(folder),
        "notes",
        "retry.md",
        "markdown",
    )
    text = (folder / "retry.md").read_text()
    assert text[hit.chunk.start : hit.chunk.end] == hit.chunk.text
    assert (hit.chunk.first_line, hit.chunk.heading, hit.stale) == (1, "Retry budget", False)


def test_scores_fall_and_k_is_kept(corpus: Corpus) -> None:
    answer = search(corpus, Question("the month of May, a gateway", 10))
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) > 2
    assert len(search(corpus, Question("the month of May, a gateway", 2)).hits) == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"globs": ("*.py",)}, {"src/ledger.py"}),
        ({"globs": ("!*.md",)}, {"src/ledger.py"}),
        ({"languages": ("py",)}, {"src/ledger.py"}),
        ({"folders": ("notes",), "languages": ("python",)}, {"src/ledger.py"}),
        ({"folders": ("notes/src",)}, {"src/ledger.py"}),
    ],
)
def test_filters_narrow_both_arms(corpus: Corpus, options: dict[str, Any], expected: set[str]) -> None:
    assert set(ask(corpus, "gateway month ledger tomato", **options)) == expected


def test_a_secret_or_a_picture_is_never_found(corpus: Corpus) -> None:
    assert not {".env", "logo.png"} & set(ask(corpus, "TOKEN gateway PNG", k=100))


def test_changes_are_brought_in_first(corpus: Corpus, folder: Path) -> None:
    (folder / "new.md").write_text("A zeppelin.\n")
    assert "new.md" not in ask(corpus, "zeppelin", refresh=False)
    assert ask(corpus, "zeppelin", k=1) == ["new.md"]


def test_a_result_whose_file_changed_is_marked(corpus: Corpus, folder: Path) -> None:
    (folder / "retry.md").write_text("something else\n")
    hits = search(corpus, Question("gateway retries", 1, refresh=False)).hits
    assert [(hit.path, hit.stale) for hit in hits] == [("retry.md", True)]


def test_explain_shows_shares_only_when_asked(corpus: Corpus) -> None:
    assert search(corpus, Question("gateway", 1)).hits[0].explain is None
    assert search(corpus, Question("gateway", 1, explain=True)).hits[0].explain


def test_what_waits_for_a_vector_is_told(folder: Path, models: WordsModels) -> None:
    with open_words(models) as corpus:
        index(corpus, Request(embed=False))
        answer = search(corpus, Question("gateway", 5, refresh=False))
        assert answer.pending == len(corpus.reading()[0].pending(100)) > 0
        assert answer.hits[0].path == "retry.md"


def test_model_that_was_never_there_words_answer(folder: Path) -> None:
    with open_words(WordsModels(missing=["multilingual-e5-small"])) as corpus:
        index(corpus, Request())
        answer = search(corpus, Question("gateway", 5))
        assert answer.hits[0].path == "retry.md"
        assert answer.pending > 0


def test_model_that_is_gone_is_told_and_words_answer(corpus: Corpus) -> None:
    with open_words(WordsModels(missing=["multilingual-e5-small"])) as without:
        answer = search(without, Question("gateway", 5))
        assert answer.hits[0].path == "retry.md"
        assert any("words alone" in note for note in answer.notes)


def test_model_that_cannot_read_the_script_abstains(folder: Path) -> None:
    models = WordsModels(scripts=frozenset({"Latin"}))
    with open_words(models) as corpus:
        index(corpus, Request())
        answer = search(corpus, Question("розсаду", 5))
        assert [hit.path for hit in answer.hits] == ["українською.md"]
        assert any("does not read this script" in note for note in answer.notes)
        assert models.opened["multilingual-e5-small"].queries == []


def test_an_old_index_is_asked_with_the_model_that_made_it(
    corpus: Corpus, folder: Path, own_environment: Path, models: WordsModels
) -> None:
    configure(own_environment, [folder], modelName="other")
    with open_words(models) as changed:
        answer = search(changed, Question("gateway", 5))
        assert answer.hits[0].path == "retry.md"
        assert any("other settings" in note for note in answer.notes)
    assert models.opened["multilingual-e5-small"].queries
    assert "other" not in models.opened or not models.opened["other"].queries


def test_a_directory_that_is_not_indexed_yet_is_indexed_first(
    corpus: Corpus, tmp_path: Path, notes: list[str]
) -> None:
    other = write_tree(tmp_path / "other", {"z.md": "A zeppelin.\n"})
    with pytest.raises(FolderError, match="not in an indexed folder"):
        ask(corpus, "zeppelin", folders=(str(other),))
    assert ask(corpus, "zeppelin", folders=(str(other),), index_missing=True) == ["z.md"]
    assert any("indexing it first" in note for note in notes)
    assert corpus.reading()[0].pending_count() == 0


def test_what_waits_is_counted_where_the_question_looks(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "other", {"z.md": "A zeppelin.\n"})
    index(corpus, Request(str(other), embed=False))
    assert search(corpus, Question("zeppelin", 3, (str(folder),), refresh=False)).pending == 0
    assert search(corpus, Question("zeppelin", 3, (str(other),), refresh=False)).pending == 1
    assert search(corpus, Question("zeppelin", 3, refresh=False)).pending == 1


@pytest.mark.parametrize("text", ["", "  \n ", "\x00\x01", "\ud800"])
def test_a_query_of_nothing_is_refused(corpus: Corpus, text: str) -> None:
    with pytest.raises(QueryError, match="empty"):
        ask(corpus, text)


@pytest.mark.parametrize("k", [0, -1, 1001])
def test_store_12_k_is_bounded(corpus: Corpus, k: int) -> None:
    with pytest.raises(QueryError, match="from 1 to 1000"):
        ask(corpus, "gateway", k=k)


def test_more_than_there_is(corpus: Corpus) -> None:
    assert len(ask(corpus, "gateway month tomato", k=1000)) <= 10


@pytest.mark.parametrize("text", ['"', "* OR NEAR(", "a AND NOT b", "col:x", "(((", "-gateway", "gateway^2"])
def test_fts_query_03_no_syntax(corpus: Corpus, text: str) -> None:
    search(corpus, Question(text, 5))


def test_a_long_query_is_cut_and_told() -> None:
    text, notes = usable_query("word " * 5000)
    assert len(text) <= LONGEST_QUERY
    assert len(notes) == 1
    assert usable_query(" plain\x00words ") == ("plain words", [])


@pytest.mark.parametrize(
    ("options", "error"),
    [({"folders": ("nowhere",)}, FolderError), ({"languages": ("klingon",)}, QueryError)],
)
def test_unknown_names_are_told(corpus: Corpus, options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        ask(corpus, "gateway", **options)


def test_nothing_indexed_is_an_error(folder: Path) -> None:
    with open_words() as corpus, pytest.raises(NoIndex):
        ask(corpus, "gateway")


def test_files_of_keeps_the_best_of_each(corpus: Corpus) -> None:
    hits = search(corpus, Question("gateway gives up retry limits", 10)).hits
    best = files_of(hits)
    assert [hit.path for hit in best] == list(dict.fromkeys(hit.path for hit in hits))
