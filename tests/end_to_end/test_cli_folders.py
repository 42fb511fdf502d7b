"""add, list, remove, config and init as a user types them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from builders import write_tree
from command_line import Command, index_file

from semantic_search.cli import COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(run: Command, command: str) -> None:
    found = run(command, "--help")
    assert found.stdout.startswith(f"Usage: semantic-search {command} ")
    assert "Options:" in found.stdout
    assert found.stderr == ""
    assert run(command, "-h").stdout == found.stdout


def test_the_help_lists_every_command_and_the_exit_status(run: Command) -> None:
    shown = run("--help").stdout
    assert all(f"\n  {name} " in shown for name in COMMANDS)
    assert "Exit status: 0" in shown


def test_the_version_is_the_packages(run: Command) -> None:
    from semantic_search import __version__

    assert __version__ in run("--version").stdout


def test_a_mistyped_command_is_told_the_right_one(run: Command) -> None:
    found = run("serch", "retry", status=2)
    assert "search" in found.stderr
    assert found.stdout == ""


def test_a_command_that_resembles_nothing(run: Command) -> None:
    assert "no command" in run("xyzzy", status=2).stderr


def test_no_command_shows_the_help(run: Command) -> None:
    found = run(status=None)
    assert "Usage:" in found.stdout + found.stderr
    assert found.returncode in (0, 2)


@pytest.mark.parametrize("command", [["add"], ["remove"], ["search"], ["gather"], ["grep"], ["cat"]])
def test_a_missing_argument_is_an_error(run: Command, command: list[str]) -> None:
    found = run(*command, status=2)
    assert "Missing argument" in found.stderr
    assert found.stdout == ""


def test_an_unknown_option_is_an_error(run: Command) -> None:
    assert "--nonsense" in run("list", "--nonsense", status=2).stderr


def test_list_says_when_there_is_nothing(run: Command) -> None:
    found = run("list", status=1)
    assert found.stdout == ""
    assert "semantic-search add" in found.stderr
    assert run("list", "--json", status=1).document == []


def test_added_folders_are_listed(run: Command, notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    added = run("add", notes, other, "--json")
    assert added.document == [
        {"name": "notes", "path": str(notes), "added": True},
        {"name": "other", "path": str(other), "added": True},
    ]
    assert run("list").lines == [f"notes  {notes}", f"other  {other}"]
    assert run("list", "--json").document == [
        {"name": "notes", "path": str(notes), "missing": False},
        {"name": "other", "path": str(other), "missing": False},
    ]


def test_a_folder_is_added_once(run: Command, notes: Path, tmp_path: Path) -> None:
    run("add", notes)
    link = tmp_path / "link"
    link.symlink_to(notes)
    for spelling in (notes, link, f"{notes}/", f"{notes}/src/.."):
        found = run("add", spelling)
        assert found.lines == [f"already there: notes  {notes}"]
    assert run("add", "link", "--json", cwd=tmp_path).document[0]["added"] is False
    assert len(run("list").lines) == 1


def test_a_relative_path_is_stored_absolute_and_resolved(
    run: Command, notes: Path, tmp_path: Path, own_environment: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(notes)
    run("add", "link/src", cwd=tmp_path)
    config = json.loads((own_environment / "config/semantic-search/config.json").read_text())
    assert config["defaultRoots"] == [str(notes / "src")]


@pytest.mark.parametrize(
    ("path", "cause"), [("nowhere", "no such folder"), ("retry.md", "not a folder"), ("/", "whole drive")]
)
def test_what_cannot_be_added_is_refused_and_nothing_else_is(
    run: Command, notes: Path, path: str, cause: str
) -> None:
    found = run("add", notes / "src", path, status=2, cwd=notes)
    assert cause in found.stderr
    assert run("list", "--json", status=1).document == []


def test_a_home_directory_needs_force(run: Command, own_environment: Path) -> None:
    assert "--force" in run("add", own_environment, status=2).stderr
    run("add", "--force", own_environment)
    assert len(run("list").lines) == 1


def test_folders_of_one_name_get_distinct_names(run: Command, tmp_path: Path) -> None:
    for parent in ("one", "two"):
        write_tree(tmp_path / parent / "docs", {f"{parent}.md": f"the {parent} of them\n"})
        run("add", tmp_path / parent / "docs")
    names = [folder["name"] for folder in run("list", "--json").document]
    assert names == ["docs", "two/docs"]
    run("index", "--no-embed")
    assert run.search("them", "--in", "two/docs") == ["two.md"]
    run("remove", "two/docs")
    assert run("list").lines == [f"docs  {tmp_path}/one/docs"]
    assert run.search("them") == ["one.md"]


def test_remove_takes_the_passages_along(run: Command, indexed: Path) -> None:
    assert run.search("seedlings")[0] == "garden.md"
    found = run("remove", "notes")
    assert "notes" in found.stdout
    assert run.search("seedlings") == []
    assert run("status", "--json").document["folders"] == []


def test_remove_by_path_and_as_json(run: Command, indexed: Path) -> None:
    (removed,) = run("remove", indexed, "--json").document
    assert (removed["name"], removed["path"]) == ("notes", str(indexed))
    assert run("list", status=1).stdout == ""


def test_remove_can_keep_the_passages(run: Command, indexed: Path) -> None:
    run("remove", "notes", "--keep-index")
    assert run("list", status=1).stdout == ""
    (folder,) = run("status", "--json").document["folders"]
    assert (folder["files"], folder["configured"]) == (3, False)
    assert run.search("seedlings")[0] == "garden.md"
    run("remove", indexed)
    assert run("status", "--json").document["folders"] == []


def test_what_is_not_there_cannot_be_removed(run: Command, indexed: Path) -> None:
    found = run("remove", "notes", "nonsense", status=2)
    assert "nonsense" in found.stderr
    assert "notes" in found.stderr
    assert len(run("list").lines) == 1


def test_a_missing_folder_is_listed_as_missing_and_can_be_removed(
    run: Command, indexed: Path, tmp_path: Path
) -> None:
    indexed.rename(tmp_path / "elsewhere")
    assert run("list").lines == [f"notes  {indexed}  (missing)"]
    assert run("list", "--json").document[0]["missing"] is True
    run("remove", "notes")
    assert run.search("seedlings") == []


@pytest.mark.parametrize("first", ["outer", "inner"])
def test_nested_folders_hold_each_file_once(run: Command, tmp_path: Path, first: str) -> None:
    outer = write_tree(
        tmp_path / "outer",
        {"a.md": "a walnut tree\n", "inner/b.md": "a walnut chair\n", "c/d.md": "walnut\n"},
    )
    paths = [outer, outer / "inner"]
    for path in paths if first == "outer" else reversed(paths):
        found = run("add", path)
        run("index", "--no-embed")
    assert "inner" in found.stderr
    folders = {f["name"]: f["files"] for f in run("status", "--json").document["folders"]}
    assert folders == {"outer": 2, "inner": 1}
    hits = run("search", "--json", "walnut", "-k", "20").document
    assert sorted(Path(hit["filePath"]).name for hit in hits) == ["a.md", "b.md", "d.md"]
    assert run("index", "--no-embed").summary["filesProcessed"] == 0


@pytest.mark.parametrize("removed", ["outer", "inner"])
def test_removing_one_of_two_nested_folders_leaves_the_others_files(
    run: Command, tmp_path: Path, removed: str
) -> None:
    outer = write_tree(tmp_path / "outer", {"a.md": "a walnut tree\n", "inner/b.md": "a walnut chair\n"})
    run("add", outer, outer / "inner")
    run("index", "--no-embed")
    run("remove", removed)
    left = ["inner/b.md", "a.md"] if removed == "inner" else ["b.md"]
    assert sorted(run.search("walnut", "--no-refresh")) == sorted(left)
    again = run("index", "--no-embed").summary
    assert (again["filesProcessed"], again["filesDeleted"]) == (0, 0)
    assert sorted(run.search("walnut")) == sorted(left)


def test_config_shows_values_and_where_they_are_from(run: Command, notes: Path) -> None:
    run("add", notes)
    document = run("config", "--json", env={"SS_AUTO_REFRESH": "0"}).document
    assert document["settings"]["defaultTopK"] == 5
    assert document["settings"]["defaultRoots"] == [str(notes)]
    assert document["origins"]["defaultTopK"] == "default"
    assert document["origins"]["defaultRoots"] == "file"
    assert document["origins"]["autoRefresh"] == "environment"
    assert os.path.isabs(document["configPath"])
    lines = run("config").lines
    assert "defaultTopK = 5  (default)" in lines
    assert f"config file: {document['configPath']}" in lines


def test_config_sets_one_key_and_keeps_what_it_does_not_know(
    run: Command, own_environment: Path, notes: Path
) -> None:
    place = own_environment / "config/semantic-search/config.json"
    write_tree(place.parent, {"config.json": json.dumps({"futureKey": {"a": [1]}, "defaultTopk": 3})})
    assert "defaultTopK = 2  (file)" in run("config", "defaultTopK", "2").lines
    run("config", "chunk.targetTokens", "100")
    run("config", "defaultIgnorePatterns", '["*.tmp"]')
    run("config", "hybridSearch", "false")
    run("add", notes)
    run("remove", "notes")
    assert json.loads(place.read_text()) == {
        "futureKey": {"a": [1]},
        "defaultTopk": 3,
        "defaultTopK": 2,
        "chunk": {"targetTokens": 100},
        "defaultIgnorePatterns": ["*.tmp"],
        "hybridSearch": False,
        "defaultRoots": [],
    }
    shown = run("config")
    assert "futureKey" in shown.stderr
    assert "did you mean defaultTopK?" in shown.stderr
    assert run("config", "--json").document["unknown"] != []


def test_config_shows_one_key(run: Command) -> None:
    assert run("config", "rrfK").lines == ["rrfK = 60  (default)"]
    assert run("config", "rrfK", "--json").document["settings"] == {"rrfK": 60}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("defaultTopK", "0"),
        ("defaultTopK", "many"),
        ("hybridSearch", "1"),
        ("chunk.targetTokens", "9999"),
        ("chunk.targetTokens", "300"),
        ("storeBackend", "paper"),
        ("nonsense", "1"),
        ("defaultRoots", "5"),
    ],
)
def test_config_refuses_what_cannot_be_used(run: Command, key: str, value: str) -> None:
    found = run("config", key, value, status=2)
    assert found.stdout == ""
    assert key in found.stderr
    # Nothing else stops working: the value was not written.
    run("config")


def test_config_of_an_unknown_key(run: Command) -> None:
    assert "defaultTopK" in run("config", "defaultTopk", status=2).stderr


def test_init_prints_an_example_of_an_indexignore(run: Command, notes: Path) -> None:
    example = run("init", "--indexignore").stdout
    assert "node_modules/" in example
    (notes / ".indexignore").write_text(example)
    (notes / "node_modules").mkdir()
    (notes / "node_modules/left.md").write_text("pad the left side\n")
    run("add", notes)
    assert run("index", "--no-embed").summary["filesProcessed"] == 3


def test_variables_say_where_things_are(
    run: Command, notes: Path, tmp_path: Path, own_environment: Path, model_cache: Path
) -> None:
    env = {"SS_CONFIG_PATH": str(tmp_path / "my.json"), "SS_INDEX_DIR": str(tmp_path / "my-index")}
    run("add", notes, env=env)
    run("index", "--no-embed", env=env)
    assert json.loads((tmp_path / "my.json").read_text())["defaultRoots"] == [str(notes)]
    assert list((tmp_path / "my-index").glob("index-*.sqlite3"))
    assert not (own_environment / "data").exists()
    assert not (own_environment / "config").exists()
    assert run.search("seedlings", env=env)[0] == "garden.md"
    assert run("config", "--json", env=env).document["modelCache"] == str(model_cache)
    without = {**env, "SS_MODEL_CACHE_DIR": None}
    assert run("config", "--json", env=without).document["modelCache"] == str(tmp_path / "my-index/models")


def test_xdg_directories_are_used_when_absolute(run: Command, own_environment: Path, notes: Path) -> None:
    run("add", notes)
    run("index", "--no-embed")
    assert (own_environment / "config/semantic-search/config.json").is_file()
    assert index_file(own_environment).parent == own_environment / "data/semantic-search"
    relative = {"XDG_CONFIG_HOME": "here", "XDG_DATA_HOME": "here"}
    document = run("config", "--json", env=relative, cwd=notes).document
    assert str(notes) not in document["configPath"]
    assert str(notes) not in document["indexDirectory"]


@pytest.mark.parametrize(
    ("variable", "value"),
    [("SS_STORE_BACKEND", "paper"), ("SS_AUTO_REFRESH", "perhaps"), ("SS_ALLOW_DOWNLOAD", "2")],
)
def test_a_variable_that_cannot_be_used_is_named(run: Command, variable: str, value: str) -> None:
    assert variable in run("list", status=2, env={variable: value}).stderr


def test_the_model_and_the_store_can_come_from_variables(run: Command) -> None:
    env = {"SS_MODEL_NAME": "all-MiniLM-L6-v2", "SS_STORE_BACKEND": "sqlite", "SS_ALLOW_DOWNLOAD": "yes"}
    document = run("config", "--json", env=env).document
    assert document["settings"]["modelName"] == "all-MiniLM-L6-v2"
    assert document["settings"]["allowDownload"] is True
    assert document["origins"]["storeBackend"] == "environment"
