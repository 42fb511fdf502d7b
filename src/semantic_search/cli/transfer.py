"""export, import: an index as one file."""

from __future__ import annotations

import click

from ..output import shown
from ..tools.transfer import Transfer, export_index, import_index
from ..wire import transfer_json
from .commands import command
from .completing import files, folder_names, mapped_folders
from .session import json_option, note, open_corpus, show, show_json, store_option


@command("export")
@click.argument("file", shell_complete=files)
@click.option(
    "--in",
    "folders",
    multiple=True,
    metavar="NAME_OR_PATH",
    shell_complete=folder_names,
    help="Only this folder. Repeatable.",
)
@store_option
@json_option
def export_command(file: str, folders: tuple[str, ...], as_json: bool) -> None:
    """Write the index to FILE, for another store or another machine."""
    with open_corpus() as corpus:
        done = export_index(corpus, file, folders)
    _report(done, "exported", as_json=as_json)


@command("import")
@click.argument("file", shell_complete=files)
@click.option(
    "--map",
    "mappings",
    multiple=True,
    metavar="NAME=PATH",
    shell_complete=mapped_folders,
    help="Where a folder of the export is on this machine. Repeatable.",
)
@store_option
@json_option
def import_command(file: str, mappings: tuple[str, ...], as_json: bool) -> None:
    """Take the folders of an exported FILE into the index, with their vectors."""
    mapping = {}
    for each in mappings:
        name, equals, path = each.partition("=")
        if not (name and equals and path):
            raise click.UsageError(f"--map {each}: write NAME=PATH")
        mapping[name] = path
    with open_corpus() as corpus:
        done = import_index(corpus, file, mapping)
    _report(done, "imported", as_json=as_json)


def _report(done: Transfer, what: str, *, as_json: bool) -> None:
    for text in done.notes:
        note(text)
    if as_json:
        show_json(transfer_json(done))
        return
    for folder in done.folders:
        show(f"{what}: {shown(folder.name)}  {shown(folder.path)}")
    copied = done.copied
    counts = f"{copied.files} files, {copied.chunks} passages, {copied.vectors} vectors"
    show(f"{counts}; {shown(done.file)} has {done.size / 1e6:.1f} MB")
