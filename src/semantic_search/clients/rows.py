"""A row for each client: where its configuration is, and how a server is written in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

SERVER = "semantic-search"

Environment = Mapping[str, str]
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Client:
    """How one client is told of a server.

    `project` is its file in a project (relative, empty where it has none), `also` other names of it, `user`
    gives the user's own. `keys` lead to the object that holds servers by name. `entry` writes a command line.
    `root` stands for the project in the arguments of the project's file, empty where only an absolute path
    will do. `prefers_user` says which of the two files is written unless asked otherwise. `instructions` is
    the file in a project that it reads instructions from. `toml` tells its syntax, JSON with comments
    otherwise. `fresh` are members that a new file begins with. `remark` is for the user.
    """

    name: str
    title: str
    project: str
    user: Callable[[Environment], str] | None
    keys: tuple[str, ...]
    entry: Callable[[list[str]], Entry]
    root: str
    prefers_user: bool = False
    instructions: str = "AGENTS.md"
    toml: bool = False
    also: tuple[str, ...] = ()
    fresh: tuple[tuple[str, str], ...] = ()
    remark: str = ""

    def project_file(self, directory: str) -> str:
        """Its file in a project: the one of its names that is there, else the first."""
        paths = [os.path.join(directory, *name.split("/")) for name in (self.project, *self.also)]
        return next((path for path in paths if os.path.exists(path)), paths[0])


def _home(env: Environment) -> str:
    return env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~")


def _in_home(*parts: str) -> Callable[[Environment], str]:
    return lambda env: os.path.join(_home(env), *parts)


def _in_config(*parts: str) -> Callable[[Environment], str]:
    """In the directory for configuration of the XDG specification, which these clients use on macOS too."""
    return lambda env: os.path.join(env.get("XDG_CONFIG_HOME") or os.path.join(_home(env), ".config"), *parts)


def _of_codex(env: Environment) -> str:
    return os.path.join(env.get("CODEX_HOME") or os.path.join(_home(env), ".codex"), "config.toml")


def _of_zed(env: Environment) -> str:
    if sys.platform == "win32":
        return os.path.join(env.get("APPDATA", _home(env)), "Zed", "settings.json")
    if sys.platform == "darwin":
        return os.path.join(_home(env), ".config", "zed", "settings.json")
    return _in_config("zed", "settings.json")(env)


def _of_vscode(env: Environment) -> str:
    if sys.platform == "win32":
        base = env.get("APPDATA", _home(env))
    elif sys.platform == "darwin":
        base = os.path.join(_home(env), "Library", "Application Support")
    else:
        base = env.get("XDG_CONFIG_HOME") or os.path.join(_home(env), ".config")
    return os.path.join(base, "Code", "User", "mcp.json")


def _plain(command: list[str]) -> Entry:
    return {"command": command[0], "args": command[1:]}


def _typed(command: list[str]) -> Entry:
    return {"type": "stdio", **_plain(command)}


def _zed(command: list[str]) -> Entry:
    return {"source": "custom", **_plain(command), "env": {}}


def _opencode(command: list[str]) -> Entry:
    return {"type": "local", "command": command, "enabled": True}


_ROWS = (
    Client(
        "claude-code",
        "Claude Code",
        ".mcp.json",
        None,
        ("mcpServers",),
        _typed,
        ".",
        instructions="CLAUDE.md",
        remark="Claude Code asks once whether to trust the servers of a project.",
    ),
    Client(
        "cursor",
        "Cursor",
        ".cursor/mcp.json",
        _in_home(".cursor", "mcp.json"),
        ("mcpServers",),
        _typed,
        "${workspaceFolder}",
    ),
    Client(
        "codex",
        "Codex",
        ".codex/config.toml",
        _of_codex,
        ("mcp_servers",),
        _plain,
        ".",
        prefers_user=True,
        toml=True,
        remark="Codex reads the file of a project only when it trusts the project.",
    ),
    Client(
        "vscode",
        "VS Code",
        ".vscode/mcp.json",
        _of_vscode,
        ("servers",),
        _typed,
        "${workspaceFolder}",
        instructions=".github/copilot-instructions.md",
    ),
    Client(
        "zed",
        "Zed",
        ".zed/settings.json",
        _of_zed,
        ("context_servers",),
        _zed,
        "",
        prefers_user=True,
    ),
    Client(
        "gemini",
        "Gemini CLI",
        ".gemini/settings.json",
        _in_home(".gemini", "settings.json"),
        ("mcpServers",),
        _plain,
        ".",
        instructions="GEMINI.md",
    ),
    Client(
        "opencode",
        "OpenCode",
        "opencode.json",
        _in_config("opencode", "opencode.json"),
        ("mcp",),
        _opencode,
        ".",
        also=("opencode.jsonc",),
        fresh=(("$schema", "https://opencode.ai/config.json"),),
    ),
    Client(
        "windsurf",
        "Windsurf",
        "",
        _in_home(".codeium", "windsurf", "mcp_config.json"),
        ("mcpServers",),
        _plain,
        "",
        prefers_user=True,
    ),
)

CLIENTS: Mapping[str, Client] = {row.name: row for row in _ROWS}
