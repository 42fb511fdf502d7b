"""related: passages like the one at a place in a file."""

from __future__ import annotations

import click

from ..errors import QueryError
from ..tools.related import related
from .choosing import editor_options, open_hit
from .commands import command
from .completing import files_of_folders
from .results import show_answer
from .session import color_option, in_option, json_option, open_corpus
from .style import Style


@command("related")
@click.argument("place", metavar="FILE:LINE", shell_complete=files_of_folders)
@click.option(
    "-k", "count", type=click.IntRange(1), metavar="N", help="How many results (default: defaultTopK, 5)."
)
@in_option
@click.option("--files", "only_files", is_flag=True, help="Print only the files, best first.")
@color_option
@editor_options
@json_option
def related_command(
    place: str,
    count: int | None,
    folders: tuple[str, ...],
    only_files: bool,
    style: Style,
    choice: int,
    as_json: bool,
) -> int:
    """Passages like the one at a line of an indexed file, in other files."""
    name, _, line = place.rpartition(":")
    if not name or not line.isdigit():
        raise QueryError(f"{place}: say the line too, as in notes.md:12")
    with open_corpus() as corpus:
        k = min(count or corpus.settings.top_k, 1000)
        answer = related(corpus, name, int(line), k, folders=folders or None)
        hits = show_answer(answer, style, only_files=only_files, as_json=as_json)
    open_hit(hits, choice)
    return 0 if hits else 1
