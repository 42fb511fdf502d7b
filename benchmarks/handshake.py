"""What the handshake of the MCP server costs over the SDK's own import, and how soon the server ends.

    python benchmarks/handshake.py [--runs 5]

CPU seconds (user + system) of: importing the SDK; `semantic-search mcp` up to its reply to `tools/list`.
Wall-clock seconds from the end of input to the end of the process: idle, and while it makes vectors.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

SDK = [sys.executable, "-c", "import mcp.server.mcpserver"]
PROGRAM = shutil.which("semantic-search", path=os.path.dirname(sys.executable)) or "semantic-search"
INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "benchmark", "version": "1"},
}


class Server:
    """The server as a child that is asked one thing at a time."""

    def __init__(self, root: Path) -> None:
        self.child = subprocess.Popen(
            [PROGRAM, "mcp", "--root", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.input, self.output = _pipe(self.child.stdin), _pipe(self.child.stdout)
        self.ask("initialize", **INITIALIZE)
        self._send({"method": "notifications/initialized"})
        self.ask("tools/list")

    def _send(self, message: dict[str, Any]) -> None:
        self.input.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.input.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request."""
        self._send({"id": 1, "method": method, "params": params})
        while (message := json.loads(self.output.readline())).get("id") != 1:
            pass
        result = message["result"]
        assert isinstance(result, dict)
        return result

    def call(self, tool: str, **arguments: Any) -> str:
        """The text of a tool's answer."""
        return str(self.ask("tools/call", name=tool, arguments=arguments)["content"][0]["text"])

    def end(self) -> float:
        """Seconds from the end of input to the end of the process."""
        began = time.monotonic()
        self.input.close()
        self.child.wait()
        self.output.close()
        return time.monotonic() - began


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def children_cpu() -> float:
    """CPU seconds of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of_sdk() -> float:
    """CPU seconds of importing the SDK."""
    before = children_cpu()
    subprocess.run(SDK, check=True)
    return children_cpu() - before


def cpu_of_handshake(root: Path) -> tuple[float, float]:
    """CPU and wall-clock seconds from the start of the server to the reply to `tools/list`."""
    before, began = children_cpu(), time.monotonic()
    server = Server(root)
    wall = time.monotonic() - began
    # What loads after the handshake is not part of it.
    server.child.kill()
    server.end()
    return children_cpu() - before, wall


def seconds_to_end(root: Path) -> dict[str, float]:
    """How soon the server ends when its input does, by what it is doing."""
    idle = Server(root)
    idle.call("search", query="walrus")
    times = {"idle": idle.end()}
    page = "\n\n".join(f"The walrus of paragraph {n} likes fish. " * 20 for n in range(300))
    (root / "long.md").write_text(page)
    busy = Server(root)
    busy.call("search", query="walrus")
    waiting = json.loads(busy.call("index_status"))["folders"][0]["pendingVectors"]
    while json.loads(busy.call("index_status"))["folders"][0]["pendingVectors"] == waiting:
        time.sleep(0.2)
    times["making vectors"] = busy.end()
    return times


def main() -> None:
    """Prints the figures, and fails when the handshake costs more than its budget."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--budget", type=float, default=0.4, help="CPU seconds over the SDK's import")
    runs = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ.update(XDG_DATA_HOME=place + "/data", XDG_CONFIG_HOME=place + "/config")
        root = Path(place, "notes")
        root.mkdir()
        (root / "a.md").write_text("a page about walruses\n")
        sdk = [cpu_of_sdk() for _ in range(runs.runs)]
        shaken = [cpu_of_handshake(root) for _ in range(runs.runs)]
        ends = seconds_to_end(root)
    over = statistics.median(cpu for cpu, _ in shaken) - statistics.median(sdk)
    print(f"import of the SDK: {statistics.median(sdk):.2f} s of CPU (median of {runs.runs})")
    print(f"start to tools/list: {statistics.median(cpu for cpu, _ in shaken):.2f} s of CPU")
    print(f"over the SDK: {over:.2f} s (budget {runs.budget} s)")
    print(f"start to tools/list: {statistics.median(wall for _, wall in shaken):.2f} s by the clock")
    for state, seconds in ends.items():
        print(f"end of input to end of process, {state}: {seconds:.2f} s")
    sys.exit(over > runs.budget)


if __name__ == "__main__":
    main()
