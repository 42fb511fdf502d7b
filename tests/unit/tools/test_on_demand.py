"""A folder that is asked about before it was ever indexed."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import write_tree
from fakes import WordsModels, configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.errors import StoreError
from semantic_search.folders import Folder
from semantic_search.runs import FolderReport, Step
from semantic_search.tools import on_demand
from semantic_search.tools.index import Request, Watcher, index
from semantic_search.tools.on_demand import index_what_is_missing


class Told(Watcher):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def folder_starts(self, number: int, total: int, folder: Folder) -> None:
        self.told.append(folder.name)

    def step(self, step: Step) -> None:
        self.told.append(step.path)

    def folder_ends(self, report: FolderReport) -> None:
        self.told.append("done")

    def embedding(self, done: int, total: int) -> None:
        self.told.append((done, total))


def test_indexes_only_what_is_missing(
    corpus: Corpus, folder: Path, tmp_path: Path, notes: list[str], models: WordsModels
) -> None:
    before = len(models.embedded)
    index_what_is_missing(corpus, ["notes", str(folder), str(folder / "src"), "no-such-directory"])
    assert notes == []
    other = write_tree(tmp_path / "other", {"a.md": "zeppelin\n"})
    index_what_is_missing(corpus, [str(other), str(other)])
    assert sum("indexing it first" in note for note in notes) == 1
    assert models.embedded[before:] == ["zeppelin"] or "zeppelin" in models.embedded[-1]
    assert str(other) in corpus.reading()[0].folders()


def test_embeds_the_folder_that_is_asked_about_and_tells_how_far_it_is(
    corpus: Corpus, tmp_path: Path, models: WordsModels
) -> None:
    first = write_tree(tmp_path / "first", {"a.md": "walnut\n"})
    index(corpus, Request(str(first), embed=False))
    other = write_tree(tmp_path / "other", {"a.md": "zeppelin\n", "b.md": "airship\n"})
    watcher = Told()
    before = len(models.embedded)
    index_what_is_missing(corpus, [str(other)], watcher)
    assert sorted(" ".join(models.embedded[before:]).split()) == ["airship", "zeppelin"]
    assert corpus.reading()[0].pending_count() == 1
    assert watcher.told == ["other", "a.md", "b.md", "done", (0, 2), (2, 2)]


@pytest.mark.parametrize(
    ("done", "after", "hopeless"),
    [
        (1, 2.9, False),  # too early to tell
        (0, 9.0, False),  # nothing to tell it by
        (70, 3.1, False),  # 451 of 900 by the end
        (69, 3.1, True),  # 445 of them
    ],
)
def test_gives_vectors_up_that_would_not_be_there_in_time(
    monkeypatch: pytest.MonkeyPatch, done: int, after: float, hopeless: bool
) -> None:
    monkeypatch.setattr(on_demand, "EMBED_SECONDS", 20.0)
    now = [100.0]
    pace = on_demand._Pace(Watcher(), lambda: now[0])
    now[0] += 50  # the model is opened
    pace.tell(0, 900)
    pace.tell(done, 900)
    now[0] += after
    assert pace.is_hopeless() is hopeless


def test_after_changed_settings_is_searched_at_once(
    corpus: Corpus, folder: Path, tmp_path: Path, own_environment: Path, models: WordsModels
) -> None:
    """The folder goes into the index that takes the old one's place, and that is the one in use then."""
    other = write_tree(tmp_path / "other", {"a.md": "zeppelin\n"})
    corpus.close()
    configure(own_environment, [folder], chunk={"targetTokens": 100})
    with open_words(models) as renewed:
        assert not renewed.reading()[1]
        index_what_is_missing(renewed, [str(other)])
        store, current = renewed.reading()
        assert current
        assert set(store.folders()) == {str(folder), str(other)}
        assert store.pending_count() == 0


def test_says_so_where_the_old_index_stays_in_use(
    corpus: Corpus,
    folder: Path,
    tmp_path: Path,
    own_environment: Path,
    models: WordsModels,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # More than are embedded however little time there is.
    other = write_tree(tmp_path / "other", {f"{n}.md": f"zeppelin {n}\n" for n in range(40)})
    corpus.close()
    configure(own_environment, [folder], chunk={"targetTokens": 100})
    monkeypatch.setattr(on_demand, "EMBED_SECONDS", 0.0)
    with open_words(models) as renewed:
        with pytest.raises(StoreError, match="run `semantic-search index`, then search again"):
            index_what_is_missing(renewed, [str(other)])
        assert not renewed.reading()[1]
        index(renewed, Request())
        index_what_is_missing(renewed, [str(other)])
        assert str(other) in renewed.reading()[0].folders()
