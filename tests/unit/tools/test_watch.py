"""The index follows the files while it is watched."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from builders import arrive, write_tree
from command_line import wait_until
from fakes import configure, open_words

from semantic_search.corpus import Corpus
from semantic_search.tools.index import Request
from semantic_search.tools.search import Question, search
from semantic_search.tools.watch import Changed, watch


@pytest.fixture
def notes(tmp_path: Path, own_environment: Path) -> Path:
    folder = write_tree(tmp_path / "notes", {"retry.md": "# Retry\n\nThe gateway retries.\n"})
    configure(own_environment, [folder])
    return folder


class Watching:
    """A watch in a thread of its own, and what it told."""

    def __init__(self, request: Request) -> None:
        self.runs: list[Changed] = []
        self.again: list[bool] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, args=(request,))
        self._thread.start()

    def _work(self, request: Request) -> None:
        with open_words() as corpus:
            self.again.append(watch(corpus, request, self.runs.append, stop=self._stop.is_set))

    def over(self) -> bool:
        return not self._thread.is_alive()

    def end(self) -> None:
        self._stop.set()
        self._thread.join()


@contextmanager
def watching(request: Request | None = None) -> Iterator[Watching]:
    found = Watching(request or Request())
    try:
        wait_until(lambda: bool(found.runs) or found.over())
        yield found
    finally:
        found.end()


def finds(corpus: Corpus, query: str, path: str) -> Callable[[], bool]:
    def ask() -> bool:
        hits = search(corpus, Question(query, 5, refresh=False)).hits
        return path in [hit.path for hit in hits]

    return ask


def test_new_changed_and_deleted_files_are_taken_in(notes: Path) -> None:
    with watching() as found, open_words() as corpus:
        write_tree(notes, {"deep/zorb.md": "the zorb is new\n"})
        wait_until(finds(corpus, "zorb", "deep/zorb.md"))
        write_tree(notes, {"deep/zorb.md": "the quux is newer\n"})
        wait_until(finds(corpus, "quux", "deep/zorb.md"))
        shutil.rmtree(notes / "deep")
        wait_until(lambda: not finds(corpus, "quux", "deep/zorb.md")())
    assert found.again == [False]
    assert {name for run in found.runs for name in run.folders} == {"notes"}


def test_a_look_that_finds_nothing_is_not_told(notes: Path) -> None:
    with watching() as found:
        arrive(notes, "quux.md", "the quux is new\n")
        wait_until(lambda: len(found.runs) == 2)
    assert [sum(report.processed for report in told.run.reports) for told in found.runs] == [1, 1]


def test_another_configuration_ends_it_to_begin_anew(
    notes: Path, own_environment: Path, tmp_path: Path
) -> None:
    with watching() as found:
        configure(own_environment, [notes, write_tree(tmp_path / "more", {"a.md": "text\n"})])
        wait_until(found.over)
    assert found.again == [True]


def test_a_folder_that_comes_back_is_watched_again(notes: Path, tmp_path: Path) -> None:
    notes.rename(tmp_path / "elsewhere")
    with watching() as found:
        assert found.runs[0].run.failed
        (tmp_path / "elsewhere").rename(notes)
        wait_until(found.over)
    assert found.again == [True]


def test_one_path_alone(notes: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "other", {"a.md": "the walrus\n"})
    with watching(Request(str(other))) as found, open_words() as corpus:
        write_tree(other, {"b.md": "the zorb is new\n"})
        wait_until(finds(corpus, "zorb", "b.md"))
        assert not finds(corpus, "gateway", "retry.md")()
    assert all(told.folders == ("other",) for told in found.runs)


def test_what_git_writes_into_its_own_directory_is_nothing(
    git_repository: Path, own_environment: Path
) -> None:
    write_tree(git_repository, {"a.md": "the walrus\n", ".gitignore": "b.md\n", "b.md": "the zorb\n"})
    configure(own_environment, [git_repository])
    with watching() as found, open_words() as corpus:
        write_tree(git_repository, {".git/config-of-mine": json.dumps({}), ".gitignore": ""})
        wait_until(finds(corpus, "zorb", "b.md"))
    assert all(run.run.reports for run in found.runs)
