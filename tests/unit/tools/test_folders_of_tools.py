"""Adding and removing folders, with what that means for the index."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import write_tree
from fakes import WordsModels, configure, open_words

from semantic_search import index_files
from semantic_search.corpus import Corpus
from semantic_search.errors import FolderError
from semantic_search.settings import load_settings
from semantic_search.tools.folders import add, remove
from semantic_search.tools.index import Request, index


def indexed(corpus: Corpus) -> list[str]:
    return corpus.reading()[0].folders()


def test_add_and_remove(corpus: Corpus, folder: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "other", {"a.md": "text\n"})
    (added,) = add(corpus, [str(other)])
    assert (added.new, added.folder.path) == (True, str(other))
    assert load_settings().roots == (str(folder), str(other))
    (removed,) = remove(corpus, ["notes"])
    assert (removed.folder.path, removed.kept_index, removed.covered_by) == (str(folder), False, "")
    assert load_settings().roots == (str(other),)
    assert indexed(corpus) == []


def test_the_index_may_be_kept(corpus: Corpus, folder: Path) -> None:
    (removed,) = remove(corpus, [str(folder)], keep_index=True)
    assert removed.kept_index
    assert indexed(corpus) == [str(folder)]
    # What is left over from it can still be named, and removed.
    with open_words() as later:
        (again,) = remove(later, [str(folder)])
        assert not again.kept_index
        assert indexed(later) == []


def test_removing_an_unknown_one_removes_nothing(corpus: Corpus, folder: Path) -> None:
    with pytest.raises(FolderError, match="There are: notes"):
        remove(corpus, ["notes", "nowhere"])
    assert load_settings().roots == (str(folder),)
    assert indexed(corpus) == [str(folder)]


def test_roots_05_files_go_to_the_folder_around(
    folder: Path, own_environment: Path, models: WordsModels
) -> None:
    configure(own_environment, [folder, folder / "src"])
    with open_words(models) as corpus:
        index(corpus, Request())
        assert sorted(indexed(corpus)) == [str(folder), str(folder / "src")]
        (removed,) = remove(corpus, [str(folder / "src")])
        assert removed.covered_by == "notes"
        store, _ = corpus.reading()
        assert store.folders() == [str(folder)]
        assert "src/ledger.py" in store.known(str(folder))
        assert store.pending_count() == 0
    with open_words(models) as corpus:
        before = len(models.embedded)
        index(corpus, Request())
        assert len(models.embedded) == before


def test_roots_05_removing_the_outer_keeps_the_inner(
    folder: Path, own_environment: Path, models: WordsModels
) -> None:
    configure(own_environment, [folder, folder / "src"])
    with open_words(models) as corpus:
        index(corpus, Request())
        remove(corpus, ["notes"])
        assert indexed(corpus) == [str(folder / "src")]


def test_a_damaged_index_of_other_settings_is_told_and_hinders_nothing(
    corpus: Corpus, notes: list[str]
) -> None:
    directory = Path(corpus.settings.paths.index_directory)
    (directory / "index-0123456789ab.sqlite3").write_bytes(b"no database " * 1000)
    remove(corpus, ["notes"])
    assert indexed(corpus) == []
    assert any("damaged" in note for note in notes)


def test_removing_before_anything_is_indexed(folder: Path) -> None:
    with open_words() as corpus:
        (removed,) = remove(corpus, ["notes"])
        assert removed.folder.path == str(folder)
        assert index_files.index_files(corpus.settings.paths.index_directory, "sqlite") == []
    assert load_settings().roots == ()
