"""mcp: the server that agents talk to."""

from __future__ import annotations

import click

from .commands import command
from .completing import directories


@command("mcp")
@click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="PATH",
    shell_complete=directories,
    help="Serve this folder in place of the configured ones. Repeatable.",
)
def mcp_command(roots: tuple[str, ...]) -> None:
    """Serve the Model Context Protocol on standard input and output, for coding agents.

    Agents start it themselves: `semantic-search init` registers it with them.
    """
    # Nothing heavy, and nothing that prints, may come before the streams are taken.
    from ..server.stdio import serve

    serve(roots)
