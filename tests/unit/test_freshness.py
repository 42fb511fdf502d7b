"""The look at the disk before a search."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import write_tree
from fakes import WordsModels, configure, let_time_pass, open_words

from semantic_search.corpus import Corpus
from semantic_search.errors import NoIndex
from semantic_search.freshness import changed_on_disk, refresh
from semantic_search.stores import Filter
from semantic_search.terms import query_terms
from semantic_search.tools.index import Request, index


@pytest.fixture
def folder(tmp_path: Path, own_environment: Path) -> Path:
    root = write_tree(
        tmp_path / "notes", {"retry.md": "The gateway retries.\n", "garden.md": "Tomatoes in May.\n"}
    )
    configure(own_environment, [root])
    return root


@pytest.fixture
def models() -> WordsModels:
    return WordsModels()


@pytest.fixture
def corpus(folder: Path, models: WordsModels) -> Iterator[Corpus]:
    with open_words(models) as opened:
        index(opened, Request())
        with opened.writing() as store:
            let_time_pass(store, folder)
        yield opened


def found(corpus: Corpus, query: str) -> list[str]:
    store, _ = corpus.reading()
    passages = store.passages([id_ for id_, _ in store.match(query_terms(query), Filter(), 100)])
    return sorted({passage.path for passage in passages.values()})


def state(corpus: Corpus) -> list[tuple[str, int]]:
    store, _ = corpus.reading()
    return sorted((path, row.seen_ns) for path, row in store.known(corpus.folders[0].path).items())


def test_nothing_changed_writes_nothing(corpus: Corpus) -> None:
    before = state(corpus)
    assert refresh(corpus, corpus.folders) == []
    assert state(corpus) == before


def test_new_and_changed_files_are_found(corpus: Corpus, folder: Path, models: WordsModels) -> None:
    write_tree(folder, {"new.md": "A zeppelin.\n", "retry.md": "The doorway retries.\n"})
    assert refresh(corpus, corpus.folders) == []
    assert found(corpus, "zeppelin") == ["new.md"]
    assert found(corpus, "doorway") == ["retry.md"]
    assert found(corpus, "gateway") == []
    assert corpus.reading()[0].pending_count() == 0
    assert len(models.embedded) == 4


def test_what_changed_is_embedded_before_what_waits_for_longer(
    corpus: Corpus, folder: Path, models: WordsModels
) -> None:
    write_tree(folder, {f"old{n}.md": f"old number {n}\n" for n in range(40)})
    index(corpus, Request(embed=False))
    write_tree(folder, {"new.md": "A zeppelin.\n"})
    before = len(models.embedded)
    assert refresh(corpus, corpus.folders) == []
    assert models.embedded[before:] == ["A zeppelin."]
    assert corpus.reading()[0].pending_count() == 40


def test_a_vanished_file_is_found_no_more(corpus: Corpus, folder: Path) -> None:
    (folder / "retry.md").unlink()
    assert refresh(corpus, corpus.folders) == []
    assert found(corpus, "gateway") == []


def test_one_more_and_one_less_is_a_change(corpus: Corpus, folder: Path) -> None:
    """As many files as before, none of those that are left changed: numbers alone would not tell."""
    (folder / "retry.md").unlink()
    (folder / "picture.png").write_bytes(b"\x89PNG")
    refresh(corpus, corpus.folders)
    assert found(corpus, "gateway") == []


def test_a_file_that_is_left_out_from_now_on_is_found_no_more(corpus: Corpus, folder: Path) -> None:
    (folder / "retry.md").write_text("gateway " * 100_000)
    refresh(corpus, corpus.folders)
    assert found(corpus, "gateway") == []


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_symlinks_05_a_file_replaced_by_a_link_is_found_no_more(corpus: Corpus, folder: Path) -> None:
    (folder / "retry.md").unlink()
    (folder / "retry.md").symlink_to(folder / "garden.md")
    refresh(corpus, corpus.folders)
    assert found(corpus, "gateway") == []
    before = state(corpus)
    refresh(corpus, corpus.folders)
    assert state(corpus) == before


def test_roots_07_a_folder_that_is_gone_is_left_as_it_was(corpus: Corpus, folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    assert refresh(corpus, corpus.folders) == []
    assert found(corpus, "gateway") == ["retry.md"]


def test_most_of_a_folder_vanishing_is_told(corpus: Corpus, folder: Path) -> None:
    write_tree(folder, {f"many/{n}.md": f"number {n}\n" for n in range(40)})
    refresh(corpus, corpus.folders)
    shutil.rmtree(folder / "many")
    (note,) = refresh(corpus, corpus.folders)
    assert "40 of 42" in note
    assert found(corpus, "number")


def test_a_folder_that_was_never_indexed_is_not_indexed_by_a_look(corpus: Corpus, tmp_path: Path) -> None:
    from semantic_search.folders import Folder

    other = write_tree(tmp_path / "other", {"a.md": "zeppelin\n"})
    assert refresh(corpus, [Folder("other", str(other))]) == []
    assert found(corpus, "zeppelin") == []


def test_concurrency_another_writer_is_not_waited_for(
    corpus: Corpus, folder: Path, models: WordsModels
) -> None:
    (folder / "new.md").write_text("zeppelin\n")
    with open_words(models) as writer, writer.locked_index():
        (note,) = refresh(corpus, corpus.folders)
    assert "another process" in note
    assert refresh(corpus, corpus.folders) == []
    assert found(corpus, "zeppelin") == ["new.md"]


def test_an_index_of_other_settings_is_searched_as_it_is(
    corpus: Corpus, folder: Path, own_environment: Path, models: WordsModels
) -> None:
    configure(own_environment, [folder], chunk={"targetTokens": 64, "overlapTokens": 0})
    with open_words(models) as changed:
        (note,) = refresh(changed, changed.folders)
        assert "other settings" in note
        assert found(changed, "gateway") == ["retry.md"]


def test_without_a_model_words_are_brought_up_to_date(folder: Path, own_environment: Path) -> None:
    with open_words(WordsModels(missing=["multilingual-e5-small"])) as corpus:
        index(corpus, Request())
        (folder / "new.md").write_text("zeppelin\n")
        refresh(corpus, corpus.folders)
        assert found(corpus, "zeppelin") == ["new.md"]


def test_no_index_is_an_error(folder: Path) -> None:
    with open_words() as corpus, pytest.raises(NoIndex):
        refresh(corpus, corpus.folders)


def test_what_counts_as_changed_on_disk(folder: Path, corpus: Corpus) -> None:
    store, _ = corpus.reading()
    stamp = store.known(str(folder))["retry.md"].stamp
    assert not changed_on_disk(str(folder), "retry.md", stamp)
    (folder / "retry.md").write_text("other\n")
    assert changed_on_disk(str(folder), "retry.md", stamp)
    (folder / "retry.md").unlink()
    assert changed_on_disk(str(folder), "retry.md", stamp)
