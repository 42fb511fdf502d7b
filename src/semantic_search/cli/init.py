"""init: registers the server with a coding agent, and prints an example .indexignore."""

from __future__ import annotations

import os
from importlib import resources

import click

from ..clients import CLIENTS
from ..clients import registering as clients
from ..errors import SettingsError
from ..folders import check_folder
from ..output import harmless, shown, valid
from ..settings import load_settings
from .commands import Choice, command
from .completing import directories
from .session import json_option, note, show_json


@command("init")
@click.argument("path", required=False, shell_complete=directories)
@click.option(
    "--client",
    "name",
    type=Choice(list(CLIENTS)),
    default="claude-code",
    show_default=True,
    help="Which agent.",
)
@click.option("--project/--user", default=None, help="Its file in the project, or the user's own.")
@click.option("--remove", is_flag=True, help="Undo: take the server out again.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--instructions", is_flag=True, help="Also tell the agent, in the project, when to use it.")
@click.option("--indexignore", is_flag=True, help="Print an example .indexignore and nothing else.")
@json_option
def init_command(
    path: str | None,
    name: str,
    project: bool | None,
    remove: bool,
    yes: bool,
    instructions: bool,
    indexignore: bool,
    as_json: bool,
) -> int | None:
    """Register the MCP server with a coding agent, for the project PATH (default: here).

    Shows the change, then asks. Other entries and comments stay as they are; the file as it was is kept. In
    the user's own file the configured folders are served, or PATH where it is given.
    """
    if indexignore:
        example = resources.files("semantic_search").joinpath("indexignore.example")
        print(example.read_text(encoding="utf-8"), end="")
        return None
    changes = _changes(path, name, project, remove=remove, instructions=instructions)
    needed = [change for change in changes if change.needed]
    if not as_json:
        for change in needed:
            print(harmless(change.diff), end="")
    kept: list[str] = []
    if needed:
        _confirm(yes)
        backups = os.path.join(load_settings().paths.index_directory, "backups")
        kept = [clients.apply(change, backups) for change in needed]
    for backup in kept:
        if backup:
            note(f"the file as it was: {backup}")
    _tell(name, changes, remove=remove, as_json=as_json)
    return 0


def _changes(
    path: str | None, name: str, project: bool | None, *, remove: bool, instructions: bool
) -> list[clients.Change]:
    client = CLIENTS[name]
    directory = check_folder(path or ".", force=True)
    user = client.prefers_user if project is None else not project
    file = clients.target(client, directory, user=user, environment=os.environ)
    served = None if user and path is None else directory
    if served is not None and not remove:
        check_folder(served)
    entry = None if remove else clients.entry_for(client, served, user=user)
    changes = [clients.registration(client, file, entry)]
    if instructions:
        changes.append(clients.instructions(client, directory, remove=remove))
    return changes


def _confirm(yes: bool) -> None:
    if yes:
        return
    try:
        agreed = click.confirm("Write this?", err=True)
    except click.Abort as error:
        raise SettingsError("nothing was written: answer y, or say --yes") from error
    if not agreed:
        raise SettingsError("nothing was written")


def _tell(name: str, changes: list[clients.Change], *, remove: bool, as_json: bool) -> None:
    client = CLIENTS[name]
    if as_json:
        files = [
            {"path": shown(c.path), "changed": c.needed, "removed": c.after is None, "diff": valid(c.diff)}
            for c in changes
        ]
        show_json({"client": name, "changed": any(c.needed for c in changes), "files": files})
        return
    for change in changes:
        what = "changed" if change.needed else "already as it should be"
        note(f"{shown(change.path)}: {what}")
    if changes[0].needed and not remove:
        note(f"restart {client.title}, or have it reload its servers. {client.remark}".strip())
        if not load_settings().roots and "--root" not in changes[0].diff:
            note("no folder is configured yet: add one with `semantic-search add PATH`")
