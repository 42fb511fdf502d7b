"""`--editor` and `--hit`: one of the results opened in the user's editor."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from ..errors import QueryError
from ..output import shown
from ..settings import load_settings
from ..types import Hit
from .session import environment, note

Function = TypeVar("Function", bound=Callable[..., Any])

Place = tuple[str, int]
"""An absolute path, and a line of the file's text (from 1)."""


def editor_options(function: Function) -> Function:
    """The options of a command whose results can be opened. It gets `choice`, to be given to `open_place`."""
    number = click.option(
        "--hit",
        "choice",
        type=click.IntRange(1),
        metavar="N",
        callback=_choice,
        help="Which one --editor opens (default: the first).",
    )
    # Settled first: the other's callback looks at it.
    wanted = click.option(
        "--editor",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_remember,
        help="Open a result at its line in your editor.",
    )
    return wanted(number(function))


def _remember(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    ctx.meta[__name__] = wanted


def _choice(ctx: click.Context, _param: click.Parameter, number: int | None) -> int:
    """Which result to open, from 1; 0 for none."""
    wanted = ctx.meta.get(__name__, False)
    if number is not None and not wanted:
        raise click.UsageError("--hit goes with --editor", ctx)
    return (number or 1) if wanted else 0


def open_hit(hits: Sequence[Hit], choice: int) -> None:
    """Opens a hit; see `open_place`."""
    open_place([(hit.absolute, hit.chunk.first_line) for hit in hits], choice)


def open_place(places: Sequence[Place], choice: int) -> None:
    """Opens one of the places, counted from 1; nothing for 0 or without places.

    Raises QueryError where there are fewer, SettingsError where there is no editor or it fails.
    """
    if not choice or not places:
        return
    if choice > len(places):
        raise QueryError(f"there is no result {choice}: there are {len(places)}")
    from ..formats import FORMATS
    from .editor import editor_command, open_in_editor

    path, line = places[choice - 1]
    command = editor_command(load_settings().editor, environment())
    document = os.path.splitext(path)[1].lower() in FORMATS
    if document:
        note(f"{shown(path)} is a document: the editor opens it at its beginning")
    open_in_editor(command, path, None if document else line)
