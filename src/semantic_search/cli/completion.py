"""completion: the script that teaches a shell to complete this command."""

from __future__ import annotations

import sys

import click
from click.shell_completion import get_completion_class

from .commands import Choice, command
from .completing import SHELLS, use_our_shells
from .session import note


@command("completion")
@click.argument("shell", type=Choice(SHELLS))
def completion_command(shell: str) -> None:
    """Print the script that completes this command in SHELL: bash, zsh or fish.

    It completes commands, options, setting names, folders, files, and what an option may be. The examples
    show where it goes; it holds from the next shell on. Bash reads a file of that directory by itself where
    the package bash-completion is installed, zsh where `fpath` names the directory before `compinit`.
    """
    from . import COMPLETE_VARIABLE, PROGRAM
    from . import command as group

    use_our_shells()
    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"this version of click does not complete in {shell}")
    print(found(group, {}, PROGRAM, COMPLETE_VARIABLE).source(), end="")
    if sys.stdout.isatty():
        note(f"write this to a file as `{PROGRAM} completion --help` shows, or use it in this shell at once")
