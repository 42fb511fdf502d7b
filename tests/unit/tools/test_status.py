"""What is indexed, what waits, what was left out."""

from __future__ import annotations

from pathlib import Path

from builders import write_tree
from fakes import WordsModels, configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.tools.index import Request, index
from semantic_search.tools.status import lock_held, status
from semantic_search.types import Skip


def test_numbers_of_a_folder(corpus: Corpus, folder: Path) -> None:
    found = status(corpus, with_skipped=True)
    (only,) = found.folders
    assert (only.name, only.path, only.configured, only.missing) == ("notes", str(folder), True, False)
    assert (only.files, only.pending, only.skipped) == (4, 0, {"secret": 1, "binary": 1})
    assert only.chunks >= only.files
    assert only.last_run.endswith("+00:00")
    assert {(skip.path, skip.reason) for skip in found.skipped} == {
        (".env", Skip.SECRET),
        ("logo.png", Skip.BINARY),
    }
    assert (found.model, found.store, found.current) == ("multilingual-e5-small", "sqlite", True)
    assert (found.index_bytes or 0) > 0
    assert Path(found.index_path).exists()
    assert status(corpus).skipped == []


def test_before_anything_is_indexed(folder: Path) -> None:
    with open_words() as corpus:
        found = status(corpus)
        assert [(f.name, f.files, f.last_run) for f in found.folders] == [("notes", 0, "")]
        assert found.index_bytes == 0
        assert not lock_held(corpus)


def test_missing_and_unconfigured_folders_are_marked(
    corpus: Corpus, folder: Path, tmp_path: Path, own_environment: Path, models: WordsModels
) -> None:
    other = write_tree(tmp_path / "other", {"a.md": "text\n"})
    index(corpus, Request(str(other)))
    configure(own_environment, [folder, tmp_path / "gone"])
    with open_words(models) as changed:
        marks = {f.name: (f.configured, f.missing) for f in status(changed).folders}
    assert marks == {"notes": (True, False), "gone": (True, True), "other": (False, False)}


def test_other_settings_and_waiting_vectors_are_told(
    folder: Path, own_environment: Path, models: WordsModels
) -> None:
    with open_words(models) as corpus:
        run = index(corpus, Request(embed=False))
        assert status(corpus).folders[0].pending == run.pending > 0
    configure(own_environment, [folder], modelName="other")
    with open_words(models) as changed:
        found = status(changed)
        assert (found.current, found.model) == (False, "multilingual-e5-small")


def test_the_lock_tells_who_is_writing(corpus: Corpus, models: WordsModels) -> None:
    assert not lock_held(corpus)
    with open_words(models) as writer, writer.locked_index():
        assert lock_held(corpus)
    assert not lock_held(corpus)
