"""`semantic-search mcp`: the server on standard input and output, from the first byte to the end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from .lifecycle import Lifecycle
from .streams import Channel, Lines, Writer, claim

if TYPE_CHECKING:
    from .app import Server


def serve(roots: Sequence[str]) -> None:
    """Serves until the client is gone, then ends the process. Raises SettingsError, FolderError before."""
    channel = claim()
    life = Lifecycle()
    life.watch()
    from .workspace import Workspace

    workspace = Workspace(roots)
    import anyio

    from .app import Server
    from .tools import register

    server = Server(workspace, life)
    register(server)
    try:
        anyio.run(_run, server, channel, life)
    finally:
        # Threads of calls that were given up may go on for long: they end here, with the process.
        life.end(1 if sys.exc_info()[0] else 0)
        life.finished()
        life.wait_for_the_end()


async def _run(server: Server, channel: Channel, life: Lifecycle) -> None:
    from mcp.server.stdio import stdio_server

    writer = Writer(channel.output, life.end)
    lines = Lines(channel.input, life.end, writer)
    async with stdio_server(cast(Any, lines), cast(Any, writer)) as (incoming, outgoing):
        lowlevel = server._lowlevel_server  # the SDK's own `run_stdio_async` takes no streams
        await lowlevel.run(incoming, outgoing, lowlevel.create_initialization_options())
