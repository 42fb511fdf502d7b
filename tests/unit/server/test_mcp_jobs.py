"""Index runs in the background: progress, cancellation, and what is answered meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import anyio
import numpy as np
import numpy.typing as npt
import pytest
from builders import write_tree
from command_line import PATIENCE, wait_until
from fakes import WordsEmbedder, WordsModels, configure, open_words
from mcp_agents import Agent, agent

from semantic_search.models.embedder import Embedder
from semantic_search.tools.index import Request, index
from semantic_search.tools.search import Question, search


class Held(WordsEmbedder):
    """A model that makes no vector of a passage before it is let go."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.asked, self.go = threading.Event(), threading.Event()

    def vectors_of(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.asked.set()
        assert self.go.wait(PATIENCE)
        return super().vectors_of(texts)


class HeldModels(WordsModels):
    """A source of the one held model."""

    def __init__(self) -> None:
        super().__init__()
        self.held = Held("multilingual-e5-small")

    def open_embedder(self, name: str, **_: object) -> Embedder:
        return cast(Embedder, self.held)


@pytest.fixture
def notes(tmp_path: Path, own_environment: Path) -> Path:
    pages = {f"page{n:02}.md": f"# Page {n}\n\nThe walrus number {n} likes fish.\n" for n in range(40)}
    folder = write_tree(tmp_path / "notes", {**pages})
    configure(own_environment, [folder])
    return folder


class Panicking(WordsModels):
    """A source of models that fails as a library written in Rust does."""

    def fingerprint_of(self, *_: object) -> str | None:
        raise type("PanicException", (BaseException,), {})("index out of bounds")


def test_a_fault_of_a_run_ends_it_and_is_told(notes: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with agent(models=Panicking()) as ai:
        told = "a fault of ours: PanicException: index out of bounds"
        assert told in ai.refused("index")
        assert ai.ok("list_folders")
    assert f"index: {told}" in capfd.readouterr().err


@pytest.fixture
def held(notes: Path) -> Iterator[tuple[Agent, Held]]:
    models = HeldModels()
    with agent(models=models, index_seconds=0.3) as ai:
        try:
            yield ai, models.held
        finally:
            models.held.go.set()


def test_progress_grows_and_names_what_is_done(notes: Path) -> None:
    with agent() as ai:
        told = ai.ok("index").progress
    done = [step[0] for step in told]
    assert done == sorted(set(done)) and done
    assert all(total is None or 0 <= part <= total for part, total, _ in told)
    assert all(message for _, _, message in told)
    assert done[-1] == 80  # 40 files and as many vectors


def test_a_long_run_goes_on_after_its_call_has_come_back(held: tuple[Agent, Held]) -> None:
    ai, model = held
    state = ai.ok("index").json
    assert state["running"] is True and "index_status" in state["note"]
    wait_until(lambda: ai.ok("index_status").json["job"]["phase"] == "embedding")
    job = ai.ok("index_status").json["job"]
    assert (job["files"], job["vectorsTotal"]) == (40, 40)
    assert ai.ok("index_status").json["indexing"] is True
    found = ai.ok("search", query="walrus number 7", k=3)
    assert found.json and "40 passages have no vector yet" in found.notes
    model.go.set()
    wait_until(lambda: not ai.ok("index_status").json["job"]["running"])
    done = ai.ok("index_status").json
    assert done["job"]["filesProcessed"] == 40 and done["job"]["vectorsWritten"] == 40
    assert done["folders"][0]["pendingVectors"] == 0 and done["indexing"] is False


def test_the_same_call_joins_the_run_and_another_is_told_to_wait(held: tuple[Agent, Held]) -> None:
    ai, model = held
    assert ai.ok("index").json["running"] is True
    assert ai.ok("index").json["running"] is True
    assert "another index run is under way" in ai.refused("index", force=True)
    model.go.set()
    wait_until(lambda: not ai.ok("index_status").json["job"]["running"])
    assert ai.ok("index", force=True).json["running"] in (True, False)


def test_cancelling_a_call_stops_the_run_and_keeps_what_was_committed(notes: Path) -> None:
    models = HeldModels()
    with agent(models=models) as ai:

        async def cancelled() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(ai.client.call_tool, "index", {})
                await anyio.to_thread.run_sync(models.held.asked.wait, PATIENCE)
                group.cancel_scope.cancel()

        ai.portal.call(cancelled)
        job = ai.server.jobs.current
        assert job is not None
        wait_until(job.stopping)
        models.held.go.set()
        wait_until(lambda: not ai.ok("index_status").json["job"]["running"])
        state = ai.ok("index_status").json["job"]
        assert state["interrupted"] is True and state["filesProcessed"] == 40
        assert len(ai.ok("search", query="walrus", k=50).json) == 40
        assert ai.ok("index").json["pendingVectors"] == 0


def test_the_end_of_the_server_stops_a_run_and_leaves_the_index_sound(notes: Path) -> None:
    models = HeldModels()
    with agent(models=models, index_seconds=0.0) as ai:
        ai.ok("index")
        assert models.held.asked.wait(PATIENCE)
        ai.server.life.end()
        models.held.go.set()
    assert ai.server.jobs.current is not None and ai.server.jobs.current.finished.is_set()
    with open_words() as corpus:
        assert corpus.reading()[0].check() == ""
        assert index(corpus, Request(None)).pending == 0


def test_vectors_are_made_while_nobody_asks(notes: Path) -> None:
    with open_words() as corpus:
        index(corpus, Request(None, embed=False))
    with agent() as ai:
        ai.run("list_tools")
        wait_until(lambda: ai.ok("index_status").json["folders"][0]["pendingVectors"] == 0)
        assert ai.ok("index_status").json["job"] is None


def test_where_refreshing_is_turned_off_none_are_made_unasked(notes: Path, own_environment: Path) -> None:
    configure(own_environment, [notes], autoRefresh=False)
    with open_words() as corpus:
        index(corpus, Request(None, embed=False))
    models = WordsModels()
    with agent(models=models) as ai:
        ai.run("list_tools")
        wait_until(lambda: bool(models.opened) and models.opened["multilingual-e5-small"].queries != [])
        assert ai.ok("search", query="walrus", k=1).json
    assert models.embedded == []


def test_a_change_of_settings_builds_a_new_index_while_the_old_one_answers(
    notes: Path, own_environment: Path
) -> None:
    with agent() as ai:
        ai.ok("index")
        configure(own_environment, [notes], chunk__targetTokens=100)
        found = ai.ok("search", query="walrus number 7", k=1)
        assert found.json and "other settings" in found.notes
        summary = ai.ok("index").json
        assert summary["filesProcessed"] == 40 and summary["pendingVectors"] == 0
        assert ai.ok("search", query="walrus number 7", k=1).notes == ""
        assert ai.ok("index_status").json["current"] is True


def test_a_run_that_fails_is_an_error_with_its_cause(notes: Path, own_environment: Path) -> None:
    # Nothing is done unasked: nobody else is at the lock.
    configure(own_environment, [notes], autoRefresh=False)
    with agent() as ai:
        ai.ok("index")
        place = own_environment / "data" / "semantic-search" / "index.lock"
        place.unlink()
        place.mkdir()
        answer = ai.call("index", force=True)
        assert answer.is_error and answer.text
        place.rmdir()
        assert ai.ok("index", force=True).json["filesProcessed"] == 40


def test_a_folder_that_is_gone_is_reported_and_the_others_go_on(
    notes: Path, tmp_path: Path, own_environment: Path
) -> None:
    gone = tmp_path / "gone"
    configure(own_environment, [gone, notes])
    with agent() as ai:
        summary = ai.ok("index").json
        assert summary["filesProcessed"] == 40
        assert [failed["folder"] for failed in summary["foldersFailed"]] == [str(gone)]
        assert "missing on disk" in ai.ok("list_folders").text
        assert ai.ok("search", query="walrus", k=1).json


def test_two_servers_see_what_each_other_writes(notes: Path) -> None:
    with agent() as first, agent() as second:
        first.ok("index")
        assert second.ok("search", query="walrus number 3", k=1).json
        write_tree(notes, {"zorb.md": "the zorb is new\n"})
        assert second.ok("index").json["filesProcessed"] <= 1
        assert [hit["path"] for hit in first.ok("search", query="zorb", k=1).json] == ["zorb.md"]
        with open_words() as corpus:
            (notes / "zorb.md").unlink()
            index(corpus, Request(None))
        assert "zorb.md" not in [hit["path"] for hit in second.ok("search", query="zorb", k=50).json]


def test_the_answers_are_those_of_the_library(notes: Path) -> None:
    with agent() as ai:
        ai.ok("index")
        found = [hit["path"] for hit in ai.ok("search", query="walrus number 12", k=5).json]
    with open_words() as corpus:
        assert found == [hit.path for hit in search(corpus, Question("walrus number 12", 5)).hits]
