"""The command line: a group whose commands are imported when they are run."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from .. import __version__
from ..suggestions import did_you_mean
from .commands import format_examples, no_such_option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PROGRAM = "semantic-search"
COMPLETE_VARIABLE = "_SEMANTIC_SEARCH_COMPLETE"
"""By which a shell asks for what completes a line; the scripts of `completion` set it."""

INTERRUPTED = 130
"""The exit status of a command that a signal ended, as a shell gives it for SIGINT."""

# name: (module here, what it does). The group's help reads this table and imports no command.
COMMANDS = {
    "add": ("folders", "Add folders to be indexed."),
    "list": ("folders", "List the configured folders."),
    "remove": ("folders", "Remove folders and their passages."),
    "config": ("config", "Show the settings in force, or change one."),
    "index": ("index", "Bring the index up to date."),
    "watch": ("watch", "Keep the index current while files change."),
    "search": ("search", "Find passages by meaning and by word."),
    "related": ("related", "Passages like the one at a place in a file."),
    "gather": ("gather", "The best passages as one Markdown block."),
    "grep": ("grep", "Find lines that match a pattern."),
    "cat": ("cat", "Show a file, or lines of it, as text."),
    "status": ("status", "What is indexed, what waits, what was skipped."),
    "doctor": ("doctor", "Check everything and say what to mend."),
    "export": ("transfer", "Write the index to one file."),
    "import": ("transfer", "Take an exported index in."),
    "mcp": ("mcp", "Serve the Model Context Protocol to coding agents."),
    "init": ("init", "Register the server with a coding agent."),
    "completion": ("completion", "Print a script that completes in a shell."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it or to show its help."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command and returns its exit status.

        A reader of stdout that has what it wanted (`| head -1`) ends the command quietly, with status 0.
        """
        try:
            status = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # The interpreter would fail once more when it flushes stdout at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return status

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".{COMMANDS[cmd_name][0]}", __name__)
        found = getattr(module, f"{cmd_name}_command")
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands with a line each."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the arguments. Raises UsageError that names the closest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchOption as error:
            raise no_such_option(self, ctx, error) from error
        except click.UsageError as error:
            meant = did_you_mean(args[0], COMMANDS)
            raise click.UsageError(f"there is no command {args[0]}{meant}", ctx) from error

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See `click.Group`. Raises UsageError that names the closest option."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise no_such_option(self, ctx, error) from error

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """The commands by the table, without importing one of them, and the options."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=line)
            for name, (_, line) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples, then the epilog."""
        format_examples("", formatter)
        super().format_epilog(ctx, formatter)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status: 0 found or done, 1 nothing found, 2 an error.",
)
@click.version_option(__version__, prog_name=PROGRAM)
def command() -> None:
    """Local, offline semantic search over your own files, for people and for coding agents."""
