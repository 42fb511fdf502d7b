"""watch: keep the index current while files change."""

from __future__ import annotations

import sys
import time

import click

from ..tools.index import Request
from ..tools.watch import Changed, watch
from ..wire import run_json
from .commands import command
from .completing import folder_names
from .index import total_of
from .interrupt import until_interrupted
from .progress import Reporter
from .session import json_option, note, open_corpus, show, show_json, store_option


@command("watch")
@click.argument("path", required=False, shell_complete=folder_names)
@click.option(
    "--concurrency", type=click.IntRange(1, 256), metavar="N", help="Threads (default: one a core)."
)
@click.option("--no-embed", is_flag=True, help="Only make files searchable by words; vectors another time.")
@store_option
@json_option
def watch_command(path: str | None, concurrency: int | None, no_embed: bool, as_json: bool) -> int:
    """Bring the index up to date, then keep it so while files change, until Ctrl-C.

    Every configured folder, or the folder PATH alone. Searches and servers go on beside it. With --json each
    run prints its summary as one line.
    """
    with until_interrupted() as stop:
        again = True
        while again and not stop():
            with open_corpus() as corpus:
                request = Request(path, threads=concurrency or corpus.settings.threads, embed=not no_embed)
                with Reporter(verbose=False, quiet=True) as reporter:
                    again = watch(
                        corpus, request, lambda done: _tell(done, as_json), watcher=reporter, stop=stop
                    )
            if again:
                note("the folders or the configuration changed: starting anew")
    return 0


def _tell(done: Changed, as_json: bool) -> None:
    for text in done.run.notes:
        note(text)
    if as_json:
        show_json(run_json(done.run))
    else:
        show(f"{time.strftime('%H:%M:%S')}  {', '.join(done.folders)}: {total_of(done.run)}")
    # Whoever reads this through a pipe shall not wait for the next eight kilobytes.
    sys.stdout.flush()
