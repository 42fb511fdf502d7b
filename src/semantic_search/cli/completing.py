"""What a shell offers at the Tab key where click cannot know it. Nothing here opens the index or a model."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator

import click
from click.shell_completion import BashComplete, CompletionItem, ZshComplete, add_completion_class

from ..errors import SemanticSearchError
from ..folders import Folder, configured_folders
from ..languages import languages
from ..settings import KEYS, Settings, load_settings

_SPLIT_OR_ACTED_UPON = re.compile(r"[\s'\"\\$`&|;<>()*?\[\]{}!#]")

SHELLS = ("bash", "zsh", "fish")

Items = list["CompletionItem[str]"]


# Click's scripts have a blank put after everything; what follows a slash or `NAME=` is still to come.
_BASH = BashComplete.source_template.replace(
    "COMPREPLY+=($value)",
    "COMPREPLY+=($value)\n            if [[ $value == *[/=] ]]; then compopt -o nospace; fi",
)
_ZSH = ZshComplete.source_template.replace(
    "compadd -U -V unsorted -a completions",
    "compadd -U -V unsorted -S '' -- ${(M)completions:#*[/=]}\n"
    "        compadd -U -V unsorted -- ${completions:#*[/=]}",
)


class BashCompleteQuoting(BashComplete):
    """Bash puts what is offered on the line as it is; zsh and fish quote it themselves."""

    source_template = _BASH

    def format_completion(self, item: CompletionItem[str]) -> str:
        """See `BashComplete`."""
        if item.type == "plain":
            item.value = shlex.quote(item.value) if _SPLIT_OR_ACTED_UPON.search(item.value) else item.value
        return super().format_completion(item)


class ZshCompleteOpen(ZshComplete):
    """Zsh, without a blank after a slash."""

    source_template = _ZSH


def use_our_shells() -> None:
    """Has click complete for bash and zsh in our way from now on."""
    add_completion_class(BashCompleteQuoting)
    add_completion_class(ZshCompleteOpen)


def folder_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """Configured folders by name, else directories."""
    return [CompletionItem(incomplete, type="dir"), *_folders(incomplete)]


def folders_or_below(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """Configured folders by name and directories in them, else directories."""
    return [
        CompletionItem(incomplete, type="dir"),
        *_folders(incomplete),
        *_below(incomplete, with_files=False),
    ]


def files_of_folders(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """Files, also those of a configured folder after its name and a slash."""
    return [
        CompletionItem(incomplete, type="file"),
        *_folders(incomplete, after="/"),
        *_below(incomplete, with_files=True),
    ]


def directories(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """Directories."""
    return [CompletionItem(incomplete, type="dir")]


def files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """Files."""
    return [CompletionItem(incomplete, type="file")]


def mapped_folders(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """`NAME=` for each configured folder."""
    return _folders(incomplete, after="=")


def setting_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The names of settings, each with what it expects."""
    return [CompletionItem(name, help=KEYS[name].expects) for name in _beginning(incomplete, KEYS)]


def setting_values(ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """The values that a setting may have, where they are few."""
    name = ctx.params.get("key")
    key = KEYS.get(str(name))
    if key is None:
        return []
    known: Iterable[str] = ("true", "false") if isinstance(key.default, bool) else key.choices
    if name == "modelName":
        from ..models.rows import MODELS

        known = MODELS
    elif name == "editor":
        from .editor import EDITORS

        known = EDITORS
    return [CompletionItem(value) for value in _beginning(incomplete, known)]


def language_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """Languages and kinds of files."""
    return [CompletionItem(name) for name in _beginning(incomplete, languages())]


def engine_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> Items:
    """What can make vectors."""
    return [CompletionItem(name) for name in _beginning(incomplete, ("local", "ray", "ray://"))]


def _folders(incomplete: str, *, after: str = "") -> Items:
    found = [folder for folder in _configured() if folder.name.startswith(incomplete)]
    # Zsh's script handles what has a description in a way that always adds a blank.
    return [
        CompletionItem(folder.name + after, help=None if after else folder.path)
        for folder in found
        if _sayable(folder)
    ]


def _below(incomplete: str, *, with_files: bool) -> Iterator[CompletionItem[str]]:
    """What lies in a configured folder, for `NAME/part of a path`."""
    for folder in _configured():
        if not incomplete.startswith(folder.name + "/"):
            continue
        place, _, begun = incomplete[len(folder.name) + 1 :].rpartition("/")
        try:
            with os.scandir(os.path.join(folder.path, place)) as entries:
                found = sorted((entry.name, entry.is_dir()) for entry in entries)
        except OSError:
            continue
        prefix = "/".join(part for part in (folder.name, place) if part)
        for name, is_directory in found:
            hidden = name.startswith(".") and not begun.startswith(".")
            if name.startswith(begun) and not hidden and name.isprintable() and (is_directory or with_files):
                yield CompletionItem(f"{prefix}/{name}{'/' if is_directory else ''}")


def _configured() -> tuple[Folder, ...]:
    try:
        settings: Settings = load_settings()
    except SemanticSearchError:
        return ()  # whatever is wrong with the configuration is told when a command runs
    return configured_folders(settings)


def _sayable(folder: Folder) -> bool:
    """Lone surrogates and line ends cannot be told to a shell; `isprintable` is false for both."""
    return folder.name.isprintable() and folder.path.isprintable()


def _beginning(incomplete: str, known: Iterable[str]) -> list[str]:
    return [each for each in known if each.casefold().startswith(incomplete.casefold())]
