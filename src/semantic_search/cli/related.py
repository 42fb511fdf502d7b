"""related: passages like the one at a place in a file."""

from __future__ import annotations

import click

from ..errors import QueryError
from ..tools.related import related
from .search import show_answer
from .session import in_option, json_option, open_corpus


@click.command("related")
@click.argument("place", metavar="FILE:LINE")
@click.option("-k", "count", type=click.IntRange(1), help="How many results (default: defaultTopK, 5).")
@in_option
@click.option("--files", "only_files", is_flag=True, help="Print only the files, best first.")
@json_option
def related_command(
    place: str, count: int | None, folders: tuple[str, ...], only_files: bool, as_json: bool
) -> int:
    """Passages like the one at a line of an indexed file, in other files."""
    name, _, line = place.rpartition(":")
    if not name or not line.isdigit():
        raise QueryError(f"{place}: say the line too, as in notes.md:12")
    with open_corpus() as corpus:
        k = min(count or corpus.settings.top_k, 1000)
        answer = related(corpus, name, int(line), k, folders=folders or None)
        return show_answer(answer, only_files=only_files, as_json=as_json)
