"""An index run over every folder."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from builders import write_tree
from fakes import WordsModels, configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.errors import FolderError, IndexBusy, ModelUnavailable
from semantic_search.folders import Folder
from semantic_search.runs import FolderReport, Step
from semantic_search.settings import load_settings
from semantic_search.stores import STORES, Store
from semantic_search.tools.index import Request, Watcher, index


class Recorder(Watcher):
    def __init__(self) -> None:
        self.seen: list[str] = []

    def folder_starts(self, number: int, total: int, folder: Folder) -> None:
        self.seen.append(f"{number}/{total} {folder.name}")

    def step(self, step: Step) -> None:
        self.seen.append(step.path)

    def folder_ends(self, report: FolderReport) -> None:
        self.seen.append(f"end {report.name}")

    def embedding(self, done: int, total: int) -> None:
        self.seen.append(f"vectors {done}/{total}")


def test_text_first_then_vectors_and_the_watcher_is_told(folder: Path, models: WordsModels) -> None:
    recorder = Recorder()
    with open_words(models) as corpus:
        run = index(corpus, Request(), recorder)
    assert recorder.seen[0] == "1/1 notes"
    ends = recorder.seen.index("end notes")
    assert set(recorder.seen[1:ends]) >= {"retry.md", "garden.md", "src/ledger.py", "українською.md"}
    assert recorder.seen[ends + 1] == f"vectors 0/{run.vectors}"
    assert recorder.seen[-1] == f"vectors {run.vectors}/{run.vectors}"
    assert (run.pending, run.truncated, run.interrupted, run.failed) == (0, False, False, [])


def test_a_second_run_embeds_nothing(corpus: Corpus, models: WordsModels) -> None:
    before = len(models.embedded)
    run = index(corpus, Request())
    assert (run.vectors, run.reports[0].processed, len(models.embedded)) == (0, 0, before)


def test_no_embed_leaves_vectors_for_another_time(folder: Path, models: WordsModels) -> None:
    with open_words(models) as corpus:
        run = index(corpus, Request(embed=False))
        assert run.vectors == 0
        assert run.pending > 0
        assert models.embedded == []
        assert index(corpus, Request()).vectors == run.pending


def test_a_missing_folder_is_told_and_the_others_go_on(
    folder: Path, tmp_path: Path, own_environment: Path, models: WordsModels
) -> None:
    configure(own_environment, [tmp_path / "missing", folder])
    with open_words(models) as corpus:
        run = index(corpus, Request())
    assert [report.name for report in run.failed] == ["missing"]
    assert [report.processed for report in run.reports] == [0, 4]


def test_no_folder_is_an_error(own_environment: Path) -> None:
    with open_words() as corpus, pytest.raises(FolderError, match="semantic-search add"):
        index(corpus, Request())


def test_a_path_is_indexed_alone_and_need_not_be_configured(
    corpus: Corpus, folder: Path, tmp_path: Path
) -> None:
    other = write_tree(tmp_path / "other", {"a.md": "zeppelin\n"})
    (folder / "new.md").write_text("new\n")
    run = index(corpus, Request(str(other)))
    assert [report.path for report in run.reports] == [str(other)]
    store, _ = corpus.reading()
    assert "new.md" not in store.known(str(folder))
    assert sorted(store.folders()) == sorted([str(folder), str(other)])
    assert load_settings().roots == (str(folder),)


def test_a_path_in_a_folder_is_a_part_of_it(corpus: Corpus, folder: Path) -> None:
    write_tree(folder, {"new.md": "new\n", "src/new.py": "x = 1\n"})
    index(corpus, Request(str(folder / "src")))
    store, _ = corpus.reading()
    assert store.folders() == [str(folder)]
    assert "src/new.py" in store.known(str(folder))
    assert "new.md" not in store.known(str(folder))


def test_roots_04_a_folder_in_a_folder_has_its_own_files(
    folder: Path, own_environment: Path, models: WordsModels
) -> None:
    configure(own_environment, [folder, folder / "src"])
    with open_words(models) as corpus:
        index(corpus, Request())
        store, _ = corpus.reading()
        assert "src/ledger.py" not in store.known(str(folder))
        assert list(store.known(str(folder / "src"))) == ["ledger.py"]


def test_what_was_indexed_by_path_joins_the_folder_that_is_added_around_it(
    folder: Path, own_environment: Path, models: WordsModels
) -> None:
    with open_words(models) as corpus:
        index(corpus, Request(str(folder / "src")))
        # `src` lies in the configured folder, so it is a part of it from the start.
        assert corpus.reading()[0].folders() == [str(folder)]
    configure(own_environment, [])
    inner = write_tree(folder / "inner", {"a.md": "zeppelin\n"})
    with open_words(models) as corpus:
        index(corpus, Request(str(inner)))
    configure(own_environment, [folder])
    with open_words(models) as corpus:
        before = len(models.embedded)
        index(corpus, Request())
        store, _ = corpus.reading()
        assert store.folders() == [str(folder)]
        assert "inner/a.md" in store.known(str(folder))
        assert "zeppelin" not in "".join(models.embedded[before:])


def test_max_files_is_for_the_whole_run(
    folder: Path, tmp_path: Path, own_environment: Path, models: WordsModels
) -> None:
    other = write_tree(tmp_path / "other", {f"{n}.md": f"number {n}\n" for n in range(4)})
    configure(own_environment, [folder, other])
    with open_words(models) as corpus:
        run = index(corpus, Request(max_files=5))
        assert run.truncated
        assert sum(report.processed for report in run.reports) == 5
        rest = index(corpus, Request(max_files=5))
        assert not rest.truncated
        assert sum(report.processed for report in rest.reports) == 3


def test_a_stopped_run_says_so_and_makes_no_vectors(folder: Path, models: WordsModels) -> None:
    with open_words(models) as corpus:
        run = index(corpus, Request(), stop=lambda: True)
        assert run.interrupted
        assert models.embedded == []
        assert not index(corpus, Request()).interrupted


def test_model_03_other_settings_are_built_beside_and_switched_to(
    corpus: Corpus, folder: Path, own_environment: Path, models: WordsModels
) -> None:
    directory = Path(corpus.settings.paths.index_directory)
    before = [path.name for path in directory.glob("index-*.sqlite3")]
    corpus.close()
    configure(own_environment, [folder], chunk={"targetTokens": 64, "overlapTokens": 0})
    with open_words(models) as changed:
        run = index(changed, Request(max_files=1))
        assert any("rebuilt beside" in note for note in run.notes)
        assert not changed.reading()[1]
        assert index(changed, Request(embed=False)).pending == 0 or not changed.reading()[1]
        index(changed, Request())
        assert changed.reading()[1]
    after = [path.name for path in directory.glob("index-*.sqlite3")]
    assert len(before) == len(after) == 1
    assert before != after


def test_model_03_vectors_that_are_still_right_are_taken_over(
    corpus: Corpus, folder: Path, own_environment: Path, models: WordsModels
) -> None:
    before = len(models.embedded)
    configure(own_environment, [folder], chunk={"targetTokens": 199})
    with open_words(models) as changed:
        index(changed, Request())
        assert changed.reading()[1]
    assert len(models.embedded) == before


@pytest.mark.parametrize("backend", sorted(STORES))
def test_store_03_vectors_that_cannot_be_taken_over_are_made_again(
    folder: Path, own_environment: Path, models: WordsModels, backend: str
) -> None:
    """Bug: a run after a change of settings failed for ever where vectors of the old index were damaged."""
    configure(own_environment, [folder], storeBackend=backend)
    with open_words(models) as corpus:
        before = index(corpus, Request()).vectors
        _damage_vectors(corpus.reading()[0])
    configure(own_environment, [folder], storeBackend=backend, chunk={"targetTokens": 199})
    with open_words(models) as changed:
        run = index(changed, Request())
        assert any("old index is damaged" in note for note in run.notes)
        assert (run.vectors, run.pending, run.whole) == (before, 0, True)
        store, current = changed.reading()
        assert (current, store.check(), len(store.folders())) == (True, "", 1)


def _damage_vectors(store: Store) -> None:
    path = Path(store.path)
    store.close()
    if path.is_dir():
        for data in (path / "vectors.lance" / "data").iterdir():
            data.write_bytes(b"")
        return
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'embeddings'").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def test_model_01_another_model_makes_all_vectors_again(
    corpus: Corpus, folder: Path, own_environment: Path, models: WordsModels
) -> None:
    configure(own_environment, [folder], modelName="other")
    with open_words(models) as changed:
        run = index(changed, Request())
        assert run.vectors == len(models.opened["other"].embedded) > 0
        assert changed.reading()[1]


def test_model_an_index_with_vectors_is_not_given_up_for_one_without(corpus: Corpus) -> None:
    with open_words(WordsModels(missing=["multilingual-e5-small"])) as without:
        with pytest.raises(ModelUnavailable):
            index(without, Request())
        assert without.reading()[0].has_vectors()


def test_model_without_one_words_are_indexed_and_that_is_said(folder: Path) -> None:
    with open_words(WordsModels(missing=["multilingual-e5-small"])) as corpus:
        run = index(corpus, Request())
        assert any("words alone" in note for note in run.notes)
        assert run.pending > 0
    models = WordsModels()
    with open_words(models) as corpus:
        index(corpus, Request())
        assert corpus.reading()[0].pending_count() == 0
        assert models.embedded


def test_concurrency_01_a_second_writer_waits_and_gives_up(
    corpus: Corpus, models: WordsModels, notes: list[str]
) -> None:
    with corpus.locked_index(), open_words(models, notes) as second:
        with pytest.raises(IndexBusy, match="another process is writing"), second.writing(wait=0):
            pass
        with pytest.raises(IndexBusy), second.writing(wait=60, stop=lambda: bool(notes)):
            pass
        assert any("waiting" in note for note in notes)
