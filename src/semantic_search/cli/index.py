"""index: bring the index up to date, showing how far it is."""

from __future__ import annotations

import sys

import click

from ..engines import ENGINES, LOCAL
from ..runs import FolderReport
from ..tools.index import Request, Run, index
from ..wire import run_json
from . import INTERRUPTED
from .commands import command
from .completing import engine_names, folder_names
from .interrupt import until_interrupted
from .progress import Reporter
from .session import json_option, note, open_corpus, show, show_json, store_option


@command("index")
@click.argument("path", required=False, shell_complete=folder_names)
@click.option(
    "--force", is_flag=True, help="Read every file again, and believe that vanished files are gone."
)
@click.option(
    "--max-files", type=click.IntRange(1), metavar="N", help="Stop after so many newly indexed files."
)
@click.option(
    "--concurrency", type=click.IntRange(1, 256), metavar="N", help="Threads (default: one a core)."
)
@click.option("--no-embed", is_flag=True, help="Only make files searchable by words; vectors another time.")
@click.option(
    "--engine",
    default=LOCAL,
    metavar="ENGINE",
    shell_complete=engine_names,
    help=f"What makes the vectors: {ENGINES}.",
)
@click.option("--verbose", is_flag=True, help="Also a line for each skipped file.")
@store_option
@json_option
def index_command(
    path: str | None,
    force: bool,
    max_files: int | None,
    concurrency: int | None,
    no_embed: bool,
    engine: str,
    verbose: bool,
    as_json: bool,
) -> int:
    """Bring the index up to date: every configured folder, or the folder PATH alone.

    Exit status 2 also when a file or directory could not be read, or a passage not be embedded; everything
    else is indexed then.
    """
    with open_corpus() as corpus, until_interrupted() as stop:
        threads = concurrency or corpus.settings.threads
        request = Request(path, force, max_files, threads, embed=not no_embed, engine=engine)
        with Reporter(verbose=verbose, quiet=as_json) as reporter:
            run = index(corpus, request, reporter, stop)
    for text in run.notes:
        note(text)
    _report(run, as_json=as_json)
    if run.interrupted:
        note("interrupted: what was indexed is kept; run `semantic-search index` again to go on")
        return INTERRUPTED
    return 0 if run.whole else 2


def _report(run: Run, *, as_json: bool) -> None:
    summary = run_json(run)
    if not as_json:
        more = " (stopped at --max-files)" if run.truncated else ""
        show(f"total: {total_of(run)}, {run.seconds:.1f} s{more}")
    if as_json or not sys.stdout.isatty():
        show_json(summary)


def total_of(run: Run) -> str:
    """What a run did over all its folders, in words."""
    total = FolderReport("total", "")
    for report in run.reports:
        for name in ("processed", "unchanged", "touched", "deleted", "failed", "chunks"):
            setattr(total, name, getattr(total, name) + getattr(report, name))
    total.skipped = run_json(run)["skipped"]
    waiting = f", {run.pending} wait for a vector" if run.pending else ""
    return f"{counts(total)}, {run.vectors} vectors{waiting}"


def counts(report: FolderReport) -> str:
    """A report's numbers in words."""
    parts = [
        f"{report.processed} files indexed ({report.chunks} passages)",
        f"{report.unchanged + report.touched} unchanged",
        f"{report.deleted} deleted",
    ]
    if report.skipped:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(report.skipped.items()))
        parts.append(f"{sum(report.skipped.values())} skipped ({reasons})")
    if report.failed:
        parts.append(f"{report.failed} failed")
    return ", ".join(parts)
