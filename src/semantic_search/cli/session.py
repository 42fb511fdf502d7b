"""What commands share: options, the corpus of a run, and where notes and results go."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import click

from ..corpus import Corpus
from ..output import harmless, one_line
from ..settings import STORE_BACKENDS, Settings, load_settings, load_usable_settings
from ..wire import dumps
from .commands import Choice
from .completing import folders_or_below, language_names
from .style import WHEN, Style, style_for

_STORE = f"{__name__}.store"

Function = TypeVar("Function", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
in_option = click.option(
    "--in",
    "folders",
    multiple=True,
    metavar="NAME_OR_PATH",
    shell_complete=folders_or_below,
    help="Only this folder, or a path in it. Repeatable.",
)
glob_option = click.option(
    "--glob",
    "-g",
    "globs",
    multiple=True,
    metavar="GLOB",
    help="Only files like this; !GLOB excludes. Repeatable.",
)
lang_option = click.option(
    "--lang",
    "languages",
    multiple=True,
    metavar="LANG",
    shell_complete=language_names,
    help="Only this language, such as python or md. Repeatable.",
)
tag_option = click.option(
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    help="Only notes with this tag, or one below it. Repeatable.",
)
no_refresh_option = click.option("--no-refresh", is_flag=True, help="Do not look for changed files first.")


def _choose_store(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value:
        context.meta[_STORE] = value


store_option = click.option(
    "--store",
    type=Choice(STORE_BACKENDS),
    expose_value=False,
    callback=_choose_store,
    help="The store to use for this run (default: the setting storeBackend).",
)


def filters(function: Function) -> Function:
    """The options that narrow a search."""
    for option in (store_option, no_refresh_option, tag_option, lang_option, glob_option, in_option):
        function = option(function)
    return function


def note(text: str) -> None:
    """Tells the user something on stderr."""
    print(harmless(text), file=sys.stderr, flush=True)


def show(text: str) -> None:
    """A line of results on stdout, with nothing in it that a terminal would obey."""
    print(one_line(text))


def show_json(value: object) -> None:
    """A JSON document on stdout."""
    print(dumps(value))


@contextlib.contextmanager
def open_corpus() -> Iterator[Corpus]:
    """The corpus of this run. Notes go to stderr, what is unknown in the configuration too."""
    with _opened(load_settings(_variables())) as corpus:
        yield corpus


@contextlib.contextmanager
def open_whatever_can_be() -> Iterator[tuple[Corpus, list[str]]]:
    """The corpus with the default of each setting that is wrong, and what is wrong, for the doctor."""
    settings, faults = load_usable_settings(_variables())
    with _opened(settings) as corpus:
        yield corpus, faults


def _variables() -> Mapping[str, str] | None:
    context = click.get_current_context(silent=True)
    store = context.meta.get(_STORE) if context else None
    return {**os.environ, "SS_STORE_BACKEND": store} if store else None


@contextlib.contextmanager
def _opened(settings: Settings) -> Iterator[Corpus]:
    # Grammars are unpacked once; they belong with our other derived files, not in a cache of their own.
    os.environ.setdefault("SEMBLE_GRAMMARS_CACHE_DIR", os.path.join(settings.paths.model_cache, "grammars"))
    for key in settings.unknown:
        note(f"{settings.paths.config_file}: unknown setting {key} (kept, not used)")
    with Corpus(settings, on_note=note) as corpus:
        yield corpus


def environment() -> Mapping[str, str]:
    """This process's environment."""
    return os.environ


def _style(_context: click.Context, _param: click.Parameter, when: str) -> Style:
    return style_for(when, os.environ, terminal=sys.stdout.isatty())


# What the command gets is the style of its output on stdout.
color_option = click.option(
    "--color",
    "style",
    type=Choice(WHEN),
    default="auto",
    callback=_style,
    help="Whether to colour; auto: on a terminal, unless NO_COLOR is set.",
)
