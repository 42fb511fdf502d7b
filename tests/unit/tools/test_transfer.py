"""An index as one file: out of one store or machine and into another."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest
from builders import write_tree
from fakes import WordsModels, configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.errors import FolderError, StoreError
from semantic_search.stores import STORES, open_store
from semantic_search.tools.index import Request, index
from semantic_search.tools.search import Question, search
from semantic_search.tools.transfer import FORMAT, export_index, import_index


def found(corpus: Corpus, text: str = "books of a month") -> list[tuple[str, str]]:
    return [(hit.folder, hit.path) for hit in search(corpus, Question(text, 3, refresh=False)).hits]


@pytest.fixture
def exported(corpus: Corpus, tmp_path: Path) -> str:
    file = str(tmp_path / "out" / "notes.index")
    Path(file).parent.mkdir()
    export_index(corpus, file)
    return file


@pytest.mark.parametrize("backend", sorted(STORES))
def test_another_store_on_another_machine_has_the_same_without_embedding(
    corpus: Corpus, exported: str, folder: Path, tmp_path: Path, own_environment: Path, backend: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    here = shutil.copytree(folder, tmp_path / "elsewhere" / "papers")
    monkeypatch.setenv("SS_INDEX_DIR", str(tmp_path / "other-index"))
    configure(own_environment, [here], storeBackend=backend)
    models = WordsModels()
    with open_words(models) as other:
        done = import_index(other, exported, {"notes": str(here)})
        assert (done.copied.files, done.copied.vectors > 3) == (4, True)
        assert found(other) == [(str(here), path) for _, path in found(corpus)]
        run = index(other, Request())
        assert (run.reports[0].processed, run.reports[0].deleted, run.vectors) == (0, 0, 0)
        assert run.reports[0].touched + run.reports[0].unchanged == 4
        assert models.embedded == []


def test_an_export_is_one_whole_file(exported: str) -> None:
    assert [path.name for path in Path(exported).parent.iterdir()] == ["notes.index"]


def test_a_folder_with_no_place_here_is_asked_for(exported: str, corpus: Corpus, folder: Path) -> None:
    shutil.move(folder, folder.parent / "moved")
    with pytest.raises(FolderError, match="--map notes=PATH"):
        import_index(corpus, exported, {})
    with pytest.raises(FolderError, match="not in the export"):
        import_index(corpus, exported, {"nots": str(folder.parent / "moved")})


def test_some_folders_alone(folder: Path, own_environment: Path, tmp_path: Path) -> None:
    more = write_tree(tmp_path / "more", {"z.md": "# Zebra\n\nZebras have stripes.\n"})
    configure(own_environment, [folder, more])
    file = str(tmp_path / "more.index")
    with open_words() as corpus:
        index(corpus, Request())
        assert [f.name for f in export_index(corpus, file, ["more"]).folders] == ["more"]
        with pytest.raises(FolderError, match="There are"):
            export_index(corpus, file, ["none"])
        write_tree(more, {"z.md": "# Horse\n\nHorses have none.\n"})
        index(corpus, Request())
        import_index(corpus, file, {})
        assert found(corpus, "zebra stripes")[0] == (str(more), "z.md")
        assert found(corpus, "tomato seedlings")[0] == (str(folder), "garden.md")


@pytest.mark.parametrize("content", [b"", b"not an index" * 500])
def test_a_file_that_is_no_export_is_refused(corpus: Corpus, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    before = found(corpus)
    with pytest.raises(StoreError, match="no export"):
        import_index(corpus, str(file), {})
    with pytest.raises(StoreError, match="no such file"):
        import_index(corpus, str(tmp_path / "none"), {})
    assert found(corpus) == before


def test_an_index_that_was_never_exported_is_refused(corpus: Corpus) -> None:
    with pytest.raises(StoreError, match="no fingerprint"):
        import_index(corpus, corpus.reading()[0].path, {})


@pytest.mark.parametrize(
    ("schema", "words"), [("1", "older release"), ("999", "upgrade semantic-search-mcp")]
)
def test_an_export_of_another_release_is_refused_with_the_way_out(
    corpus: Corpus, exported: str, schema: str, words: str
) -> None:
    with contextlib.closing(open_store(FORMAT, exported)) as store:
        store.set_meta("schema", schema)
    with pytest.raises(StoreError, match=words):
        import_index(corpus, exported, {})


def test_other_settings_are_told_of(exported: str, folder: Path, own_environment: Path) -> None:
    configure(own_environment, [folder], modelName="other-words")
    with open_words() as corpus, pytest.raises(StoreError, match="modelName multilingual-e5-small"):
        import_index(corpus, exported, {})
    configure(own_environment, [folder], chunk__targetTokens=100)
    with open_words() as corpus, pytest.raises(StoreError, match="settings"):
        import_index(corpus, exported, {})


def test_an_export_to_a_directory_or_nowhere_leaves_nothing(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a directory"):
        export_index(corpus, str(tmp_path))
    with pytest.raises(StoreError):
        export_index(corpus, str(tmp_path / "none" / "file"))
    assert not (tmp_path / "none").exists()
