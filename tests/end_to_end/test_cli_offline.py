"""Nothing connects anywhere: every command in a network of its own that leads nowhere, and watched."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import write_tree
from command_line import Command, works
from document_samples import SAMPLES
from mcp_agents import NO_MODEL, Wire

# Whatever Python itself would connect to, or look up, is written down; libraries of native code go past it.
_WATCH = """
import os, sys
def hook(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        with open(os.environ["WATCHED"], "a") as file:
            file.write(f"{event} {arguments[1:]} {sys.argv}\\n")
sys.addaudithook(hook)
"""


class Watched:
    """Runs commands with no network, and tells what they tried to reach."""

    def __init__(self, place: Path, *, without_network: bool) -> None:
        self.traces, self.events = place / "traces", place / "events"
        self.traces.mkdir()
        self.events.touch()
        prefix = ["unshare", "-n"] if without_network else []
        self.traced = shutil.which("strace") is not None
        if self.traced:
            prefix += ["strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-e", "signal=none"]
            prefix += ["-A", "-o", str(self.traces / "all")]
        site = write_tree(place / "site", {"sitecustomize.py": _WATCH})
        self.env = {"PYTHONPATH": str(site), "WATCHED": str(self.events)}
        self.run = Command(prefix)

    def attempts(self) -> list[str]:
        """Every try to reach something that is not on this machine's own file system."""
        said = self.events.read_text().splitlines()
        for trace in self.traces.iterdir():
            lines = trace.read_text(errors="replace").splitlines()
            said += [line for line in lines if re.search(r"AF_INET|AF_PACKET", line)]
        return said


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    if sys.platform != "linux":
        pytest.skip("networks are taken away as Linux does it")
    if not works("unshare", "-n"):
        pytest.skip("a network of its own needs rights that this user has not (unshare -n)")
    yield Watched(tmp_path, without_network=True)


def test_the_watch_sees_what_connects(tmp_path: Path) -> None:
    """So that the tests below can fail."""
    watched = Watched(tmp_path, without_network=False)
    code = "import socket; s = socket.socket(); s.settimeout(1); s.connect_ex(('127.0.0.1', 9)); s.close()"
    watched.run._prefix += [sys.executable, "-c", code]
    subprocess.run(watched.run._prefix, env={**watched.env}, check=True, capture_output=True)
    assert any("socket.connect" in line for line in watched.attempts())
    assert not watched.traced or any("AF_INET" in line for line in watched.attempts())


@pytest.mark.parametrize("backend", ["sqlite", "lancedb"])
def test_security_10_no_command_connects_anywhere(
    watched: Watched, notes: Path, tmp_path: Path, backend: str
) -> None:
    write_tree(notes, {f"sample{suffix}": SAMPLES[suffix].data() for suffix in (".docx", ".html")})
    env = {**watched.env, "SS_STORE_BACKEND": backend, "HF_HUB_OFFLINE": None}
    export = tmp_path / "index.ssx"
    commands: list[list[str]] = [
        ["add", str(notes)],
        ["index"],
        ["search", "young plants"],
        ["related", "garden.md:3"],
        ["doctor"],
        ["export", str(export)],
    ]
    if backend == "sqlite":
        commands += [
            ["list"],
            ["config"],
            ["status"],
            ["gather", "young plants"],
            ["grep", "tomato"],
            ["cat", "notes/garden.md"],
            ["init", "--print"],
            ["import", str(export)],
            ["remove", str(notes)],
        ]
    for args in commands:
        found = watched.run(*args, env=env, status=None)
        assert found.returncode == 0 or args == ["init", "--print"], (args, found.stderr)
    if backend == "sqlite":
        watched.run("add", notes, env=env)
        watched.run("index", env=env)
        with Wire(env=env, run=watched.run) as wire:
            wire.initialize()
            assert wire.answer(wire.request("tools/list"))["result"]["tools"]
            assert "garden.md" in wire.ask("search", query="young plants").text
            assert wire.close() == 0
    assert watched.attempts() == []


def test_without_any_model_words_are_searched_and_one_message_says_why(
    watched: Watched, notes: Path, tmp_path: Path
) -> None:
    env = {
        **watched.env,
        "SS_MODEL_NAME": NO_MODEL,
        "SS_MODEL_CACHE_DIR": str(tmp_path / "empty"),
        "HF_HUB_OFFLINE": None,
    }
    watched.run("add", notes, env=env)
    found = watched.run("index", env=env)
    (said,) = [line for line in found.stderr.splitlines() if NO_MODEL in line]
    assert "words alone" in said
    for look in ([], ["--no-refresh"]):
        found = watched.run("search", "--json", *look, "seedlings", env=env)
        assert found.paths == ["garden.md"]
        (said,) = [line for line in found.stderr.splitlines() if NO_MODEL in line]
        assert "searched by words alone" in said
    assert watched.attempts() == []
