"""What a command works on, opened when first needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from builders import write_tree
from fakes import WordsModels, configure, open_words

from semantic_search import index_files
from semantic_search.corpus import Corpus
from semantic_search.errors import ModelUnavailable, NoIndex
from semantic_search.settings import load_settings
from semantic_search.tools.index import Request, index


@pytest.fixture
def folder(tmp_path: Path, own_environment: Path) -> Path:
    root = write_tree(tmp_path / "notes", {"a.md": "The gateway retries.\n"})
    configure(own_environment, [root])
    return root


def test_nothing_is_opened_before_it_is_needed(folder: Path) -> None:
    models = WordsModels()
    with open_words(models) as corpus:
        assert [item.path for item in corpus.folders] == [str(folder)]
        assert corpus.fingerprint()
        assert models.opened == {}
        assert not os.path.exists(corpus.settings.paths.index_directory)


def test_the_real_models_are_the_default(folder: Path) -> None:
    with Corpus(load_settings()) as corpus, pytest.raises(ModelUnavailable, match="no model is called"):
        corpus.open_model("no such model")


def test_a_model_is_opened_once_and_closed(folder: Path) -> None:
    models = WordsModels()
    with open_words(models) as corpus:
        assert corpus.embedder is corpus.embedder
        assert list(models.opened) == ["multilingual-e5-small"]
        assert not models.opened["multilingual-e5-small"].closed
    assert models.opened["multilingual-e5-small"].closed


def test_a_missing_model_is_none_and_it_is_known_why(folder: Path) -> None:
    with open_words(WordsModels(missing=["multilingual-e5-small"])) as corpus:
        assert corpus.embedder_or_none() is None
        assert "not on this machine" in corpus.model_trouble()
        assert corpus.model_fingerprint() == "none"
    with open_words(WordsModels()) as corpus:
        assert corpus.model_trouble() == ""


@pytest.mark.parametrize(
    ("keys", "same"),
    [
        ({}, True),
        ({"defaultTopK": 9}, True),
        ({"maxFileSizeBytes": 9}, True),
        ({"hybridSearch": False}, True),
        ({"modelName": "other"}, False),
        ({"chunk__targetTokens": 100}, False),
        ({"chunk__overlapTokens": 10}, False),
        ({"chunk__hardTokenLimit": 300}, False),
    ],
)
def test_model_03_the_fingerprint_names_what_shapes_passages_alone(
    folder: Path, own_environment: Path, keys: dict[str, object], same: bool
) -> None:
    with open_words() as corpus:
        before = corpus.fingerprint()
    configure(own_environment, [folder], **keys)
    with open_words() as corpus:
        assert (corpus.fingerprint() == before) is same


def test_a_passage_never_exceeds_what_the_model_sees(folder: Path, own_environment: Path) -> None:
    configure(own_environment, [folder], chunk__targetTokens=4000, chunk__hardTokenLimit=8000)
    with open_words() as corpus:
        window = corpus.embedder.max_text_tokens
        budget = corpus.budget(corpus.embedder)
        assert (budget.limit, budget.target) == (window, window)
        assert (corpus.budget(None).limit, corpus.budget(None).target) == (8000, 4000)


def test_rules_leave_out_other_folders_and_what_is_ours(folder: Path, own_environment: Path) -> None:
    inner = write_tree(folder / "inner", {"b.md": "text\n"})
    configure(own_environment, [folder, inner], indexSecrets=True, binaryExtensions=[".dat"])
    with open_words() as corpus:
        rules = corpus.listing_rules(str(folder))
        assert str(inner) in rules.excluded
        assert str(folder) not in rules.excluded
        assert set(corpus.settings.paths.own) <= set(rules.excluded)
        assert (rules.index_secrets, rules.binary_extensions) == (True, frozenset({".dat"}))
        assert {".pdf", ".docx"} <= rules.document_extensions


def test_our_own_files_are_not_indexed(own_environment: Path, tmp_path: Path) -> None:
    """Somebody may index the directory that holds the index."""
    configure(own_environment, [own_environment])
    write_tree(own_environment, {"note.md": "text\n"})
    with open_words() as corpus:
        index(corpus, Request())
        index(corpus, Request(force=True))
        store, _ = corpus.reading()
        assert list(store.known(str(own_environment))) == ["note.md"]


def test_there_is_no_index_before_one_is_made(folder: Path) -> None:
    with open_words() as corpus, pytest.raises(NoIndex):
        corpus.reading()


def test_an_index_that_another_process_switched_away_is_opened_anew(
    folder: Path, own_environment: Path
) -> None:
    models = WordsModels()
    with open_words(models) as reader:
        index(reader, Request())
        first = reader.reading()[0].path
        configure(own_environment, [folder], chunk__targetTokens=100)
        with open_words(models) as other:
            index(other, Request())
        store, current = reader.reading()
        assert store.path != first
        assert not current
        assert store.folders() == [str(folder)]


def test_a_first_index_is_searched_while_it_is_made(folder: Path) -> None:
    with open_words() as corpus, corpus.writing() as store:
        assert store.meta(index_files.COMPLETE)
        assert store.meta(index_files.MODEL) == "multilingual-e5-small"


def test_folders_indexed_by_path_are_known(folder: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "else" / "notes", {"z.md": "text\n"})
    with open_words() as corpus:
        index(corpus, Request())
        index(corpus, Request(str(other)))
        assert {item.name: item.path for item in corpus.known_folders()} == {
            "notes": str(folder),
            "else/notes": str(other),
        }


def test_permissions_03_everything_of_ours_is_private(folder: Path, own_environment: Path) -> None:
    with open_words() as corpus:
        index(corpus, Request())
        directory = Path(corpus.settings.paths.index_directory)
        modes = {path.name: path.stat().st_mode & 0o777 for path in [directory, *directory.iterdir()]}
    if os.name == "posix":
        assert {name for name, mode in modes.items() if mode & 0o077} == set()
