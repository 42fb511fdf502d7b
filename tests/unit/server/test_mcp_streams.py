"""What was asked before the input ended is answered."""

from __future__ import annotations

import json
import os
from pathlib import Path

import anyio
from builders import write_tree
from command_line import PATIENCE
from fakes import WordsModels, configure

from semantic_search.server.app import Server
from semantic_search.server.lifecycle import Lifecycle
from semantic_search.server.stdio import _run
from semantic_search.server.streams import Channel
from semantic_search.server.tools import register
from semantic_search.server.workspace import Workspace

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
MESSAGES = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "grep", "arguments": {"pattern": "gateway"}},
    },
]


def test_requests_before_the_end_of_input_are_answered(tmp_path: Path, own_environment: Path) -> None:
    """The end of input does not end this process; where it does, seconds decide what is still answered."""
    configure(own_environment, [write_tree(tmp_path / "notes", {"retry.md": "the gateway retries\n"})])
    incoming, asked = os.pipe()
    answered, outgoing = os.pipe()
    with os.fdopen(asked, "w") as pipe:
        pipe.writelines(json.dumps(message) + "\n" for message in MESSAGES)
    workspace, life = Workspace(models=WordsModels()), Lifecycle(leave=lambda _status: None)
    server = Server(workspace, life)
    register(server)
    try:
        anyio.run(_run, server, Channel(incoming, outgoing), life)
    finally:
        life.finished()
        life.join(PATIENCE)
        workspace.close()
        os.close(incoming)
        os.close(outgoing)
    assert life.stopping()
    with os.fdopen(answered) as pipe:
        answers = {answer["id"]: answer for answer in map(json.loads, pipe)}
    assert "retry.md:1" in answers[2]["result"]["content"][0]["text"]
