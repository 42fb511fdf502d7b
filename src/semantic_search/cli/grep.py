"""grep: lines that match a pattern, in the files that the index lists."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable

import click

from ..output import one_line, shown
from ..tools.grep import Line, Search, compile_pattern, grep
from .choosing import editor_options, open_place
from .commands import command
from .results import excerpt
from .session import color_option, glob_option, in_option, json_option, note, open_corpus, show_json
from .style import Style

# A line of fewer characters says too little: it goes over the edge instead.
NARROWEST_LINE = 24


@command("grep")
@click.argument("pattern")
@in_option
@glob_option
@click.option("-i/-s", "ignore_case", default=True, help="Ignore case (default), or not.")
@click.option(
    "-F", "--literal", is_flag=True, help="Take PATTERN as it is, not as a regular expression (RE2)."
)
@click.option(
    "--max",
    "most",
    type=click.IntRange(1),
    metavar="N",
    default=50,
    show_default=True,
    help="How many lines at most.",
)
@color_option
@editor_options
@json_option
def grep_command(
    pattern: str,
    folders: tuple[str, ...],
    globs: tuple[str, ...],
    ignore_case: bool,
    literal: bool,
    most: int,
    style: Style,
    choice: int,
    as_json: bool,
) -> int:
    """Find lines that match a pattern; in documents too."""
    search = Search(pattern, folders or None, globs, not ignore_case, literal, most)
    with open_corpus() as corpus:
        matches = grep(corpus, search)
    for text in matches.notes:
        note(text)
    if as_json:
        show_json(
            {
                "matches": [
                    {
                        "filePath": shown(line.source.absolute),
                        "folder": shown(line.folder_name),
                        "path": shown(line.source.path),
                        "line": line.number,
                        "text": line.text,
                    }
                    for line in matches.lines
                ],
                "more": matches.more,
            }
        )
    else:
        spans_in = _finder(search)
        for line in matches.lines:
            _show(line, style, spans_in)
    if matches.more:
        note(f"there are more: these are the first {most} (--max N shows others, --in and --glob narrow)")
    open_place([(line.source.absolute, line.number) for line in matches.lines], choice)
    return 0 if matches.lines else 1


def _show(line: Line, style: Style, spans_in: Callable[[str], list[tuple[int, int]]]) -> None:
    """A line with its folder and place before it, on a terminal cut to one row where that is wide enough."""
    where = f"{one_line(shown(line.source.path))}:{line.number}"
    folder = one_line(shown(line.folder_name))
    text = one_line(line.text.strip())
    spans = spans_in(text)
    if sys.stdout.isatty():
        room = shutil.get_terminal_size().columns - len(f"{folder}  ·  {where}  ")
        text, spans = excerpt(text, spans, max(room, NARROWEST_LINE))
    print(f"{folder}  ·  {style.place(where, line.source.absolute)}  {style.marked(text, spans)}")


def _finder(search: Search) -> Callable[[str], list[tuple[int, int]]]:
    """A function that gives the places of matches in a line, in characters."""
    find = compile_pattern(search.pattern, literal=search.literal, case_sensitive=search.case_sensitive)

    def spans(text: str) -> list[tuple[int, int]]:
        data = text.encode()
        bounds = (match.span() for match in find(data))
        return [
            (len(data[:start].decode()), len(data[:end].decode())) for start, end in bounds if start < end
        ]

    return spans
