"""add, list, remove."""

from __future__ import annotations

import click

from ..output import shown
from ..tools import folders as verbs
from .commands import command
from .completing import directories, folder_names
from .session import json_option, note, open_corpus, show, show_json


@command("add")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=directories)
@click.option("--force", is_flag=True, help="Accept a whole drive or home directory.")
@json_option
def add_command(paths: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Add folders to be indexed."""
    with open_corpus() as corpus:
        added = verbs.add(corpus, paths, force=force)
    for item in added:
        if item.inside:
            note(
                f"{shown(item.folder.path)} lies inside {shown(item.inside)}: "
                "its files belong to it alone from now on"
            )
        for inner in item.around:
            note(f"{shown(item.folder.path)} holds {shown(inner)}, which keeps its own files")
    if as_json:
        show_json(
            [
                {"name": shown(item.folder.name), "path": shown(item.folder.path), "added": item.new}
                for item in added
            ]
        )
        return
    for item in added:
        what = "added" if item.new else "already there"
        show(f"{what}: {shown(item.folder.name)}  {shown(item.folder.path)}")
    if any(item.new for item in added):
        note("run `semantic-search index` to index it")


@command("list")
@json_option
def list_command(as_json: bool) -> int:
    """List the configured folders."""
    with open_corpus() as corpus:
        folders = corpus.folders
    if as_json:
        show_json([{"name": shown(f.name), "path": shown(f.path), "missing": f.missing} for f in folders])
    for folder in () if as_json else folders:
        show(f"{shown(folder.name)}  {shown(folder.path)}{'  (missing)' if folder.missing else ''}")
    if not folders and not as_json:
        note("no folders yet: add one with `semantic-search add PATH`")
    return 0 if folders else 1


@command("remove")
@click.argument("names", nargs=-1, required=True, metavar="NAME_OR_PATH...", shell_complete=folder_names)
@click.option("--keep-index", is_flag=True, help="Keep the passages in the index.")
@json_option
def remove_command(names: tuple[str, ...], keep_index: bool, as_json: bool) -> None:
    """Remove folders and their passages."""
    with open_corpus() as corpus:
        removed = verbs.remove(corpus, names, keep_index=keep_index)
    if as_json:
        show_json(
            [
                {
                    "name": shown(r.folder.name),
                    "path": shown(r.folder.path),
                    "indexKept": r.kept_index or bool(r.covered_by),
                }
                for r in removed
            ]
        )
        return
    for item in removed:
        what = "removed"
        if item.kept_index:
            what = "removed, its passages are kept"
        elif item.covered_by:
            what = f"removed, its passages now belong to {shown(item.covered_by)}"
        show(f"{what}: {shown(item.folder.name)}  {shown(item.folder.path)}")
