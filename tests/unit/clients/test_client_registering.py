"""Each client's file: what is written, what stays, what is undone."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command_line import Command

from semantic_search.clients import CLIENTS, Client, jsonc
from semantic_search.clients.registering import (
    Change,
    apply,
    command_line,
    entry_for,
    instructions,
    registration,
    target,
)
from semantic_search.errors import SettingsError

NAMES = sorted(CLIENTS)


def entry_in(client: Client, text: str) -> Any:
    """How the server is written in a file."""
    found = tomllib.loads(text) if client.toml else jsonc.loads(text)
    for key in (*client.keys, "semantic-search"):
        found = found[key]
    return found


def argv_of(entry: dict[str, Any]) -> list[str]:
    """The command line that a client would start."""
    command = entry["command"]
    return list(command) if isinstance(command, list) else [command, *entry["args"]]


def test_the_clients_are_those_of_the_contract() -> None:
    assert (
        sorted(["claude-code", "cursor", "codex", "vscode", "zed", "gemini", "opencode", "windsurf"]) == NAMES
    )


@pytest.mark.parametrize("name", NAMES)
def test_init_writes_what_starts_the_server_and_remove_undoes_it(
    run: Command, name: str, tmp_path: Path, own_environment: Path
) -> None:
    client = CLIENTS[name]
    project = tmp_path / "project"
    project.mkdir()
    done = run("init", project, "--client", name, "--yes", "--json").document
    (file,) = done["files"]
    text = Path(file["path"]).read_text()
    argv = argv_of(entry_in(client, text))
    assert argv[-3:-1] == ["mcp", "--root"] and os.path.basename(argv[0]).startswith("semantic-search")
    assert argv[-1] in (".", "${workspaceFolder}", str(project))
    assert Path(file["path"]).is_relative_to(own_environment if client.prefers_user else project)
    assert run("init", project, "--client", name, "--yes", "--json").document["changed"] is False
    again = run("init", project, "--client", name, "--yes", "--remove", "--json").document
    assert again["files"][0]["removed"] is True
    assert not os.path.exists(file["path"])
    assert run("init", project, "--client", name, "--yes", "--remove", "--json").document["changed"] is False


@pytest.mark.parametrize("name", NAMES)
def test_other_entries_and_comments_stay(
    run: Command, name: str, tmp_path: Path, own_environment: Path
) -> None:
    client = CLIENTS[name]
    path = Path(target(client, str(tmp_path), user=client.prefers_user, environment=os.environ))
    path.parent.mkdir(parents=True, exist_ok=True)
    if client.toml:
        before = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "o" # keep\n'
    else:
        key = client.keys[0]
        before = f'{{\n  // mine\n  "theme": "dark",\n  "{key}": {{\n    "other": {{}} // keep\n  }}\n}}\n'
    path.write_text(before)
    path.chmod(0o640)
    run("init", tmp_path, "--client", name, "--yes")
    changed = path.read_text()
    assert "mine" in changed and "keep" in changed and entry_in(client, changed)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    run("init", tmp_path, "--client", name, "--yes", "--remove")
    assert path.read_text() == before
    kept = sorted((own_environment / "data" / "semantic-search" / "backups").iterdir())
    assert [file.read_text() for file in kept] == [before, changed]


def test_without_a_client_a_project_gets_its_mcp_json(run: Command, tmp_path: Path) -> None:
    run("init", "--yes", cwd=tmp_path)
    found = json.loads((tmp_path / ".mcp.json").read_text())
    entry = found["mcpServers"]["semantic-search"]
    assert entry["type"] == "stdio" and entry["args"] == ["mcp", "--root", "."]


def test_the_users_own_file_serves_the_configured_folders(run: Command, own_environment: Path) -> None:
    done = run("init", "--client", "cursor", "--user", "--yes")
    entry = json.loads((own_environment / ".cursor" / "mcp.json").read_text())["mcpServers"][
        "semantic-search"
    ]
    assert entry["args"] == ["mcp"] and os.path.isabs(entry["command"])
    assert "semantic-search add" in done.stderr


def test_the_change_is_shown_and_nothing_is_written_without_a_yes(run: Command, tmp_path: Path) -> None:
    for answer in ("", "n\n"):
        found = run("init", tmp_path, status=2, input=answer)
        assert '+    "semantic-search": {' in found.stdout and "nothing was written" in found.stderr
        assert list(tmp_path.iterdir()) == []
    run("init", tmp_path, input="y\n")
    assert (tmp_path / ".mcp.json").exists()


def test_variables_that_the_user_added_stay(tmp_path: Path) -> None:
    client = CLIENTS["cursor"]
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {"semantic-search": {"command": "old", "env": {"A": "b"}}}}')
    entry = entry_for(client, str(tmp_path), user=False)
    apply(registration(client, str(path), entry), str(tmp_path / "kept" / "backups"))
    found = entry_in(client, path.read_text())
    assert found == {**entry, "env": {"A": "b"}}


@pytest.mark.parametrize(
    "content", [b'{"mcpServers": [', b"\xff\xfe{}", b'{"a": 1,\r\n"b": 2\n}', b'{"mcpServers": 5}']
)
def test_a_file_that_cannot_be_understood_is_left_alone(run: Command, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / ".mcp.json"
    path.write_bytes(content)
    found = run("init", tmp_path, "--yes", status=2)
    assert ".mcp.json" in found.stderr and path.read_bytes() == content


def test_line_ends_and_a_byte_order_mark_stay(run: Command, tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    before = b'\xef\xbb\xbf{\r\n  "a": 1\r\n}\r\n'
    path.write_bytes(before)
    run("init", tmp_path, "--yes")
    changed = path.read_bytes()
    assert changed.startswith(b'\xef\xbb\xbf{\r\n  "a": 1,\r\n') and changed.count(b"\n") == changed.count(
        b"\r"
    )
    run("init", tmp_path, "--yes", "--remove")
    assert path.read_bytes() == before


def test_a_link_to_a_file_stays_a_link(run: Command, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text('{"a": 1}\n')
    (tmp_path / ".mcp.json").symlink_to(real)
    run("init", tmp_path, "--yes")
    assert (tmp_path / ".mcp.json").is_symlink() and "semantic-search" in real.read_text()


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    client = CLIENTS["claude-code"]
    change = registration(client, str(path), entry_for(client, str(tmp_path), user=False))
    path.write_text("{}")
    with pytest.raises(SettingsError, match="meanwhile"):
        apply(change, str(tmp_path / "backups"))
    assert path.read_text() == "{}"


def test_a_change_that_is_none_is_not_needed() -> None:
    assert not Change("/x", b"a", b"a").needed
    assert Change("/x", None, b"a\n").diff.startswith(f"--- {os.devnull}")


@pytest.mark.parametrize("name", NAMES)
def test_instructions_are_added_once_and_taken_out_again(tmp_path: Path, name: str) -> None:
    client = CLIENTS[name]
    path = tmp_path / client.instructions
    path.parent.mkdir(parents=True, exist_ok=True)
    backups = str(tmp_path / "kept" / "backups")
    for before in (None, "# Ours\n\nBe kind.\n", "No line end"):
        if before is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(before)
        apply(instructions(client, str(tmp_path), remove=False), backups)
        text = path.read_text()
        assert text.startswith(before or "") and text.count("semantic-search: begin") == 1
        assert not instructions(client, str(tmp_path), remove=False).needed
        path.write_text(text + "\nMore of ours.\n")
        assert not instructions(client, str(tmp_path), remove=False).needed
        path.write_text(text)
        apply(instructions(client, str(tmp_path), remove=True), backups)
        if before is None:
            assert not path.exists()
        else:
            assert path.read_text().rstrip("\n") == before.rstrip("\n")


def test_init_adds_instructions_when_asked(run: Command, tmp_path: Path) -> None:
    run("init", tmp_path, "--yes")
    assert not (tmp_path / "CLAUDE.md").exists()
    run("init", tmp_path, "--yes", "--instructions")
    assert "gather" in (tmp_path / "CLAUDE.md").read_text()


def test_clients_without_a_file_of_a_kind_say_so(run: Command, tmp_path: Path) -> None:
    assert "claude mcp add" in run("init", tmp_path, "--user", "--yes", status=2).stderr
    found = run("init", tmp_path, "--client", "windsurf", "--project", "--yes", status=2)
    assert "--project" in found.stderr


def test_a_whole_home_is_not_served(run: Command, own_environment: Path) -> None:
    assert "home directory" in run("init", own_environment, "--yes", status=2).stderr


def test_an_opencode_file_with_comments_is_preferred(run: Command, tmp_path: Path) -> None:
    (tmp_path / "opencode.jsonc").write_text("{ // mine\n}\n")
    run("init", tmp_path, "--client", "opencode", "--yes")
    assert "semantic-search" in (tmp_path / "opencode.jsonc").read_text()
    assert not (tmp_path / "opencode.json").exists()


def test_the_command_is_a_name_in_shared_files_and_a_path_in_ones_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beside = os.path.dirname(sys.executable)
    monkeypatch.setenv("PATH", beside)
    assert command_line(shared=True) == ["semantic-search"]
    assert os.path.isabs(command_line(shared=False)[0])
    monkeypatch.setenv("PATH", "/nowhere")
    assert os.path.isabs(command_line(shared=True)[0])
