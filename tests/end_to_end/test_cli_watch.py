"""`watch` as a user runs it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from builders import arrive
from command_line import Command, wait_until
from mcp_agents import NO_MODEL


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="sends a signal of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_follows_changes_and_a_signal_ends_it(
    run: Command, notes: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SS_MODEL_NAME", NO_MODEL)
    run("add", notes)
    with run.start("watch", "--no-embed", "--json") as child:
        try:
            assert child.stdout is not None
            assert json.loads(child.stdout.readline())["filesProcessed"] > 0
            arrive(notes, "zorb.md", "the zorb is new\n")
            assert json.loads(child.stdout.readline())["filesProcessed"] == 1
            assert run.search("zorb", "--no-refresh") == ["zorb.md"]
            run("config", "chunk.targetTokens", "150")
            assert json.loads(child.stdout.readline())["filesProcessed"] > 1
            wait_until(lambda: run.search("zorb", "--no-refresh") == ["zorb.md"])
            child.send_signal(number)
            _, err = child.communicate()
            assert child.returncode == 0, err
            assert b"Traceback" not in err and b"starting anew" in err
        finally:
            child.kill()
