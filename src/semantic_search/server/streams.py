"""Standard input and output, kept for the protocol alone.

`claim` comes before everything else: from then on whatever prints, in this process or a child of it, writes
to stderr, and children read nothing. Lines that are no message are answered or dropped here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass

from ..output import harmless

LONGEST_LINE = 16_000_000
_REPORTS = 20
_METHOD = re.compile(r'\{"jsonrpc":"2\.0",("id":[^,]*,)?"method":|\{"method":')
_ID = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[\x20-\x21\x23-\x5b\x5d-\x7e]{0,200}")')


def tell(text: str) -> None:
    """A note for whoever reads the server's stderr."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"semantic-search: {harmless(text)}\n")
        sys.stderr.flush()


@dataclass(frozen=True, slots=True)
class Channel:
    """The two descriptors of the protocol, not inherited by children."""

    input: int
    output: int


def claim() -> Channel:
    """Takes standard input and output for the protocol and leads descriptors 0 and 1 elsewhere."""
    channel = Channel(_private(0, os.O_RDONLY), _private(1, os.O_WRONLY))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # started without stderr
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
    os.close(nothing)
    if sys.platform == "win32":
        from mcp.os.win32.utilities import rebind_std_handle_to_fd

        for descriptor in (0, 1):
            rebind_std_handle_to_fd(descriptor)
    sys.stdout = sys.stderr
    return channel


def _private(descriptor: int, flags: int) -> int:
    try:
        return os.dup(descriptor)
    except OSError:  # closed by whoever started us: nothing comes in, nothing goes out
        return os.open(os.devnull, flags)


class Lines:
    """Messages that come in, a line each: what the SDK's stdio transport takes for its standard input.

    A thread of its own reads, so that work that fills every other thread cannot keep a message or the end of
    input waiting. `on_end` is called from that thread when input ends.
    """

    def __init__(self, descriptor: int, on_end: Callable[[], None], writer: Writer) -> None:
        self._descriptor, self._on_end, self._writer = descriptor, on_end, writer
        self._queue: asyncio.Queue[str | None] = asyncio.Queue(1000)
        self._loop = asyncio.get_running_loop()
        self._reports = self._requests = 0
        threading.Thread(target=self._read, name="mcp-input", daemon=True).start()

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        line = await self._queue.get()
        if line is None:
            raise StopAsyncIteration
        return line

    def _read(self) -> None:
        try:
            with os.fdopen(self._descriptor, "rb", closefd=False) as file:
                while line := file.readline(LONGEST_LINE):
                    if not line.endswith(b"\n") and len(line) >= LONGEST_LINE:
                        self._refuse(line[:1000], "longer than the limit")
                        while line and not line.endswith(b"\n"):
                            line = file.readline(LONGEST_LINE)
                        continue
                    self._take(line)
        except OSError:
            pass
        finally:
            self._on_end()
            # The SDK gives up what is under way at the end of input; what was asked before it gets its
            # answer, as long as the process lives.
            self._writer.wait_for_answers(self._requests)
            self._put(None)

    def _take(self, line: bytes) -> None:
        from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

        if not line.strip():
            return
        try:
            text = line.decode()
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError:  # UnicodeDecodeError, and pydantic's ValidationError
            self._refuse(line, "not a JSON-RPC message in UTF-8")
        else:
            self._requests += isinstance(message, JSONRPCRequest)
            self._put(text)

    def _put(self, line: str | None) -> None:
        try:
            asyncio.run_coroutine_threadsafe(self._queue.put(line), self._loop).result()
        except RuntimeError:  # the loop has ended before the input
            return

    def _refuse(self, line: bytes, why: str) -> None:
        """Answers where the line has an id to answer to: a client would wait for its timeout otherwise."""
        found = _ID.search(line)
        if found and b'"method"' in line:
            error = {"code": -32600, "message": f"invalid request: {why}"}
            reply = {"jsonrpc": "2.0", "id": json.loads(found[1]), "error": error}
            self._requests += 1
            self._writer.send(json.dumps(reply) + "\n")
        self._reports += 1
        if self._reports <= _REPORTS:
            tell(f"dropped a line of input: {why}")


class Writer:
    """Messages that go out: what the SDK's stdio transport takes for its standard output.

    A thread of its own writes: a client that does not read must not keep the loop from seeing that it has
    gone, nor may work that fills every other thread. `on_broken` is called when nobody reads any more.
    """

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self._descriptor, self._on_broken = descriptor, on_broken
        self._queue: queue.SimpleQueue[tuple[str, Callable[[], None]]] = queue.SimpleQueue()
        self._answers = 0
        self._answered = threading.Condition()
        threading.Thread(target=self._work, name="mcp-output", daemon=True).start()

    async def write(self, text: str) -> None:
        """Comes back when the message has been written, or cannot be. Never raises."""
        loop = asyncio.get_running_loop()
        written = asyncio.Event()

        def tell() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(written.set)

        self._queue.put((text, tell))
        await written.wait()

    async def flush(self) -> None:
        """Nothing is held back."""

    def send(self, text: str) -> None:
        """Has a message written, from any thread."""
        self._queue.put((text, lambda: None))

    def _work(self) -> None:
        while True:
            text, tell = self._queue.get()
            data = memoryview(text.encode("utf-8", "backslashreplace"))
            try:
                while data:
                    data = data[os.write(self._descriptor, data) :]
            except OSError:
                self._on_broken()
            with self._answered:
                # Requests and notifications of ours have a method, answers have none.
                self._answers += not _METHOD.match(text)
                self._answered.notify_all()
            tell()

    def wait_for_answers(self, count: int) -> None:
        """Waits until so many answers were written in all; for ever where requests were cancelled."""
        with self._answered:
            self._answered.wait_for(lambda: self._answers >= count)
