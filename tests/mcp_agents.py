"""Clients of the server for tests: one in memory for breadth, one that is all bytes for the protocol."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from command_line import PATIENCE, Command, Environment, environment, wait_until
from fakes import WordsModels
from mcp.client import Client

from semantic_search.server.app import Server
from semantic_search.server.lifecycle import Lifecycle
from semantic_search.server.tools import register
from semantic_search.server.workspace import Workspace

BUDGET = 36_000
# A model that is nowhere: everything is searched by words, and nothing heavy is loaded.
NO_MODEL = "nobody/no-such-model"


@dataclass(slots=True)
class Answer:
    """What a tool gave: its blocks of text, whether it is an error, and the progress told meanwhile."""

    blocks: list[str]
    is_error: bool
    progress: list[tuple[float, float | None, str | None]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.blocks[0]

    @property
    def notes(self) -> str:
        return "\n".join(self.blocks[1:])

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def size(self) -> int:
        """Bytes of it on the wire."""
        return sum(len(json.dumps(block, ensure_ascii=False).encode()) for block in self.blocks)


class Agent:
    """The SDK's client, connected in memory. Every call waits for its answer."""

    def __init__(self, portal: BlockingPortal, client: Client, server: Server) -> None:
        self.portal, self.client, self.server = portal, client, server

    def call(self, tool: str, **arguments: Any) -> Answer:
        told: list[tuple[float, float | None, str | None]] = []

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, total, message))

        async def work() -> Any:
            return await self.client.call_tool(tool, arguments, progress_callback=progress)

        result = self.portal.call(work)
        assert result.structured_content is None
        return Answer([block.text for block in result.content], bool(result.is_error), told)

    def ok(self, tool: str, **arguments: Any) -> Answer:
        """An answer that is no error."""
        answer = self.call(tool, **arguments)
        assert not answer.is_error, answer.text
        assert answer.size < BUDGET or "maxTokens" in arguments
        return answer

    def refused(self, tool: str, **arguments: Any) -> str:
        """The sentence of an answer that is an error."""
        answer = self.call(tool, **arguments)
        assert answer.is_error, answer.text
        (text,) = answer.blocks
        assert "\n" not in text and "Traceback" not in text
        return text

    def run(self, method: str, *arguments: Any) -> Any:
        """A method of the client."""

        async def work() -> Any:
            return await getattr(self.client, method)(*arguments)

        return self.portal.call(work)


@contextlib.contextmanager
def agent(
    *roots: Path | str,
    models: WordsModels | None = None,
    index_seconds: float = PATIENCE,
    cool_down: float = 0.0,
    clock: Callable[[], float] | None = None,
) -> Iterator[Agent]:
    """A server of the settings in force, and a client of it."""
    timing = {} if clock is None else {"clock": clock}
    workspace = Workspace(
        [str(root) for root in roots], models=models or WordsModels(), cool_down=cool_down, **timing
    )
    life = Lifecycle(leave=lambda _status: None)
    server = Server(workspace, life, index_seconds=index_seconds)
    register(server)
    try:
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(Client(server)) as client,
        ):
            yield Agent(portal, client, server)
    finally:
        life.end()
        life.finished()
        life.join(PATIENCE)
        workspace.close()


class Wire:
    """The installed command as a child, spoken to in bytes. Every line it writes must be a message."""

    def __init__(
        self, *args: str | os.PathLike[str], env: Environment | None = None, run: Command | None = None
    ) -> None:
        self.child = subprocess.Popen(
            (run or Command()).argv("mcp", *args),
            env=environment(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.messages: list[dict[str, Any]] = []
        self.bytes_out = bytearray()
        self.stderr = bytearray()
        self._news: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._next = 0
        for work in (self._read, self._drain):
            threading.Thread(target=work, daemon=True).start()

    def _read(self) -> None:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            self.bytes_out += line
            self._news.put(json.loads(line))
        self._news.put(None)

    def _drain(self) -> None:
        assert self.child.stderr is not None
        for line in self.child.stderr:
            self.stderr.extend(line)

    def send(self, data: bytes) -> None:
        """Writes bytes to the server."""
        assert self.child.stdin is not None
        self.child.stdin.write(data)
        self.child.stdin.flush()

    def notify(self, method: str, **params: Any) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    def request(self, method: str, **params: Any) -> int:
        """Sends a request and returns its id."""
        self._next += 1
        message = {"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}
        self.send(json.dumps(message).encode() + b"\n")
        return self._next

    def call(self, tool: str, _token: str | None = None, **arguments: Any) -> int:
        """Sends a call of a tool and returns its id."""
        meta = {"_meta": {"progressToken": _token}} if _token else {}
        return self.request("tools/call", name=tool, arguments=arguments, **meta)

    def until(self, true: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message of which something is true, among those not asked about yet."""
        for message in self.messages:
            if true(message):
                self.messages.remove(message)
                return message
        while True:
            news = self._news.get(timeout=PATIENCE)
            assert news is not None, f"the server ended: {self.stderr.decode()}"
            if true(news):
                return news
            self.messages.append(news)

    def answer(self, id_: int) -> dict[str, Any]:
        """The message that answers a request."""
        return self.until(lambda message: message.get("id") == id_)

    def result(self, id_: int) -> Answer:
        """What a tool gave."""
        result = self.answer(id_)["result"]
        assert "structuredContent" not in result
        return Answer([block["text"] for block in result["content"]], bool(result.get("isError")))

    def ask(self, tool: str, **arguments: Any) -> Answer:
        """Calls a tool and waits."""
        return self.result(self.call(tool, **arguments))

    def job(self) -> dict[str, Any]:
        """The last index run as `index_status` tells of it."""
        found = self.ask("index_status").json["job"]
        assert isinstance(found, dict)
        return found

    def index(self, **arguments: Any) -> dict[str, Any]:
        """The summary of an index run: its call comes back before its end where it takes long."""
        answer = self.ask("index", **arguments)
        assert not answer.is_error, answer.text
        wait_until(lambda: not self.job()["running"])
        return self.job()

    def initialize(self) -> Wire:
        """The handshake."""
        self.answer(
            self.request(
                "initialize",
                protocolVersion="2025-06-18",
                capabilities={},
                clientInfo={"name": "test", "version": "1"},
            )
        )
        self.notify("notifications/initialized")
        return self

    def close(self) -> int:
        """Ends the input and returns the exit status."""
        assert self.child.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.child.stdin.close()
        return self.child.wait(PATIENCE)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait(PATIENCE)
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError, ValueError):
                stream.close()


def texts(messages: Sequence[dict[str, Any]]) -> str:
    """Everything that messages hold, as one text."""
    return json.dumps(list(messages), ensure_ascii=False)
