"""From an argument to folders and paths."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fakes import WordsModels, configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.errors import FolderError, QueryError
from semantic_search.folders import Folder
from semantic_search.stores import Filter
from semantic_search.tools.scope import folders_in, owner_of, resolve_filter, resolve_scopes

FOLDERS = [Folder("a", os.sep + "a"), Folder("b", os.path.join(os.sep + "a", "b"))]


@pytest.mark.parametrize(
    ("path", "owner"),
    [("/a", "a"), ("/a/x", "a"), ("/a/b", "b"), ("/a/b/x", "b"), ("/a/bc", "a"), ("/ab", None), ("/", None)],
)
def test_the_innermost_folder_owns_a_path(path: str, owner: str | None) -> None:
    found = owner_of(path.replace("/", os.sep), FOLDERS)
    assert (found.name if found else None) == owner


def test_names_paths_and_places_in_them(
    corpus: Corpus, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, part = ((str(folder), ""),), ((str(folder), "src"),)
    assert resolve_scopes(corpus, "notes") == whole
    assert resolve_scopes(corpus, str(folder)) == whole
    assert resolve_scopes(corpus, str(folder) + os.sep) == whole
    assert resolve_scopes(corpus, str(folder / "src")) == part
    assert resolve_scopes(corpus, "notes/src") == part
    monkeypatch.chdir(folder)
    assert resolve_scopes(corpus, "src") == part
    assert resolve_scopes(corpus, ".") == whole


def test_what_holds_a_folder_stands_for_what_it_holds(
    corpus: Corpus, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for name in ("/", ".."):
        assert resolve_scopes(corpus, name) == ((str(folder), ""),)


def test_a_folder_that_is_not_there_now_is_still_known(corpus: Corpus, folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    assert resolve_scopes(corpus, str(folder)) == ((str(folder), ""),)


@pytest.mark.parametrize("name", ["nowhere", "notes/nowhere", "src/nowhere.md", "a\0b"])
def test_what_is_not_there_is_refused_with_the_names_there_are(
    corpus: Corpus, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Also where the name would be a place in the folder one is in."""
    monkeypatch.chdir(folder)
    with pytest.raises(FolderError, match="There are: notes"):
        resolve_scopes(corpus, name)


def test_filters_are_put_together(corpus: Corpus, folder: Path) -> None:
    assert resolve_filter(corpus, None, (), ()).empty
    found = resolve_filter(corpus, ["notes", str(folder)], ["*.py", ""], ["py", "md"])
    assert found == Filter(((str(folder), ""),), ("*.py",), ("python", "markdown"))
    with pytest.raises(QueryError, match="klingon"):
        resolve_filter(corpus, None, (), ["klingon"])


def test_the_folders_that_a_filter_reaches(corpus: Corpus, folder: Path) -> None:
    assert [f.name for f in folders_in(corpus, Filter())] == ["notes"]
    assert [f.name for f in folders_in(corpus, Filter(scopes=((str(folder), "src"),)))] == ["notes"]
    assert folders_in(corpus, Filter(scopes=())) == []


def test_a_folder_in_a_folder_belongs_to_what_it_lies_in(
    folder: Path, own_environment: Path, models: WordsModels
) -> None:
    configure(own_environment, [folder, folder / "src"])
    with open_words(models) as corpus:
        assert set(resolve_scopes(corpus, "notes")) == {(str(folder), ""), (str(folder / "src"), "")}
        assert resolve_scopes(corpus, str(folder / "src")) == ((str(folder / "src"), ""),)
