"""The corpus is that of the config in force; the disk is looked at, but not at every call."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import write_tree
from fakes import WordsModels, configure
from mcp_agents import agent

from semantic_search.server.workspace import Workspace


@pytest.fixture
def notes(tmp_path: Path, own_environment: Path) -> Path:
    folder = write_tree(tmp_path / "notes", {"a.md": "a page about walruses\n"})
    configure(own_environment, [folder])
    return folder


def test_a_folder_added_by_another_process_is_served_without_a_restart(
    notes: Path, tmp_path: Path, own_environment: Path
) -> None:
    more = write_tree(tmp_path / "more", {"b.md": "a page about penguins\n"})
    with agent() as ai:
        ai.ok("index")
        assert "no indexed file" in ai.refused("cat_file", filePath=str(more / "b.md"))
        configure(own_environment, [notes, more])
        assert "more  ·  " in ai.ok("list_folders").text
        assert ai.ok("cat_file", filePath=str(more / "b.md")).text == "a page about penguins"
        ai.ok("index")
        assert ai.ok("search", query="penguins", k=1).json[0]["path"] == "b.md"
        configure(own_environment, [more])
        assert "notes" not in ai.ok("list_folders").text
        assert {hit["path"] for hit in ai.ok("search", query="walruses penguins", k=9).json} == {"b.md"}


def test_a_config_that_cannot_be_read_leaves_the_settings_as_they_were(
    notes: Path, own_environment: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with agent() as ai:
        place = own_environment / "config" / "semantic-search" / "config.json"
        good = place.read_text()
        place.write_text("{ half")
        assert "notes" in ai.ok("list_folders").text
        assert "notes" in ai.ok("list_folders").text
        place.write_text(good)
        assert "notes" in ai.ok("list_folders").text
    assert capfd.readouterr().err.count("not valid JSON") == 1


def test_a_change_of_folders_keeps_the_model(notes: Path, tmp_path: Path, own_environment: Path) -> None:
    models = WordsModels()
    with agent(models=models) as ai:
        ai.ok("index")
        ai.ok("search", query="walruses")
        first = models.opened["multilingual-e5-small"]
        models.opened.clear()
        configure(own_environment, [notes, write_tree(tmp_path / "more", {"b.md": "penguins\n"})])
        ai.ok("search", query="penguins")
        assert models.opened == {} and not first.closed


def test_a_changed_file_is_found_at_once_and_then_after_the_cool_down(notes: Path) -> None:
    now = [100.0]
    with agent(cool_down=5.0, clock=lambda: now[0]) as ai:
        ai.ok("index")
        write_tree(notes, {"first.md": "zorb one\n"})
        assert [hit["path"] for hit in ai.ok("search", query="zorb one", k=1).json] == ["first.md"]
        write_tree(notes, {"second.md": "quux two\n"})
        now[0] += 4.9
        assert "second.md" not in ai.ok("search", query="quux two", k=9).text
        now[0] += 0.2
        assert [hit["path"] for hit in ai.ok("search", query="quux two", k=1).json] == ["second.md"]


def test_every_folder_cools_down_by_itself(notes: Path) -> None:
    now = [0.0]
    workspace = Workspace(models=WordsModels(), cool_down=2.0, clock=lambda: now[0])
    assert workspace.worth_a_look(["a"])
    assert not workspace.worth_a_look(["a"])
    assert workspace.worth_a_look(["a", "b"])
    assert not workspace.worth_a_look(["b"])
    now[0] += 2.0
    assert workspace.worth_a_look(["b"])
    assert not workspace.worth_a_look([])
    workspace.close()


def test_a_corpus_that_is_lent_outlives_a_change_of_the_config(notes: Path, own_environment: Path) -> None:
    workspace = Workspace(models=WordsModels())
    with workspace.corpus() as old:
        configure(own_environment, [notes], defaultTopK=3)
        with workspace.corpus() as new:
            assert new is not old and new.settings.top_k == 3
        assert old.settings.top_k == 5
        assert old.folders
    with workspace.corpus() as found:
        assert found is new
    workspace.close()


def test_somebody_waits_as_long_as_a_search_lasts(notes: Path) -> None:
    workspace = Workspace(models=WordsModels())
    assert not workspace.busy()
    with workspace.searching(), workspace.searching():
        assert workspace.busy()
    assert not workspace.busy()
    workspace.close()
