"""How commands are declared: with examples in their help, and saying what was meant by a mistyped option."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..suggestions import did_you_mean
from .examples import EXAMPLES

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # before click 8.2 it takes no parameter


class Command(click.Command):
    """A command with a section of examples, that says which option was meant."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The examples."""
        format_examples(self.name or "", formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """See `click.Command`. Raises UsageError that names the closest option."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise no_such_option(self, ctx, error) from error


command = partial(click.command, cls=Command)


class Choice(_Choice):
    """A choice that says which was meant."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See `click.Choice`."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            known = [str(choice) for choice in self.choices]
            message = error.message.rstrip(".") + did_you_mean(str(value), known)
            raise click.BadParameter(message, error.ctx, error.param, error.param_hint) from error


def format_examples(name: str, formatter: click.HelpFormatter) -> None:
    """Writes the examples of a command ("" for the group), each below what it does."""
    with formatter.section("Examples"):
        indent = " " * formatter.current_indent
        for said, lines in EXAMPLES[name]:
            formatter.write_text(f"# {said}")
            for line in lines.split("\n"):
                # Not by `write_text`: a command that is broken into lines cannot be copied.
                formatter.write(f"{indent}{line}\n")


def no_such_option(command: click.Command, ctx: click.Context, error: click.NoSuchOption) -> click.UsageError:
    """The error for an option that a command does not have, with the one that was meant."""
    meant = did_you_mean(error.option_name, _spellings(command, ctx))
    return click.UsageError(f"there is no option {error.option_name}{meant}", ctx)


def _spellings(command: click.Command, ctx: click.Context) -> Iterator[str]:
    for param in command.get_params(ctx):
        if isinstance(param, click.Option):
            yield from param.opts
            yield from param.secondary_opts
