"""status: what is indexed, what waits, what was skipped."""

from __future__ import annotations

import click

from ..output import shown
from ..tools.status import FolderStatus, lock_held, status
from ..wire import status_json
from .commands import command
from .session import json_option, note, open_corpus, show, show_json, store_option


@command("status")
@click.option(
    "--skipped", "with_skipped", is_flag=True, help="List every file without passages, with its reason."
)
@store_option
@json_option
def status_command(with_skipped: bool, as_json: bool) -> None:
    """What is indexed, what waits, what was skipped."""
    with open_corpus() as corpus:
        found = status(corpus, with_skipped=with_skipped)
        indexing = lock_held(corpus)
    if as_json:
        show_json(status_json(found, indexing=indexing, with_skipped=with_skipped))
        return
    for folder in found.folders:
        _show_folder(folder)
    if not found.folders:
        note("no folders yet: add one with `semantic-search add PATH`")
    size = "" if found.index_bytes is None else f"{found.index_bytes / 1e6:.1f} MB "
    show(f"model {found.model}, store {found.store}, {size}at {shown(found.index_path)}")
    if indexing:
        show("a process is indexing now")
    if not found.current:
        show("the settings changed since: `semantic-search index` renews the index")
    for skip in found.skipped:
        detail = f" ({skip.detail})" if skip.detail else ""
        show(f"{shown(skip.folder)}/{shown(skip.path)}: {skip.reason.sentence}{detail}")


def _show_folder(folder: FolderStatus) -> None:
    marks = "  (missing)" if folder.missing else ""
    marks += "" if folder.configured else "  (indexed by path, not configured)"
    show(f"{shown(folder.name)}  {shown(folder.path)}{marks}")
    waiting = f", {folder.pending} wait for a vector" if folder.pending else ""
    last = f", last run {folder.last_run}" if folder.last_run else ", never indexed to the end"
    show(f"    {folder.files} files, {folder.chunks} passages{waiting}{last}")
    if folder.skipped:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(folder.skipped.items()))
        show(f"    skipped: {reasons}")
