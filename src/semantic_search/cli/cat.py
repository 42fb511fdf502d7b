"""cat: a file, or lines of it, as text."""

from __future__ import annotations

import os
import re

import click

from ..output import harmless, shown
from ..tools.cat import cat
from .session import json_option, open_corpus, show_json

_RANGE = re.compile(r"^(?P<name>.+):(?P<start>\d+)(?:-(?P<end>\d+))?$", re.DOTALL)


@click.command("cat")
@click.argument("file", metavar="FILE[:START[-END]]")
@json_option
def cat_command(file: str, as_json: bool) -> None:
    """Show a file, or lines of it, as text (for PDF and Word what was extracted).

    Line numbers are those of search and grep.
    """
    name, start, end = split_range(file)
    with open_corpus() as corpus:
        excerpt = cat(corpus, name, start, end)
    if as_json:
        show_json(
            {
                "filePath": shown(excerpt.source.absolute),
                "startLine": excerpt.first_line,
                "endLine": excerpt.last_line,
                "lines": excerpt.lines,
                "text": excerpt.text,
            }
        )
    else:
        print(harmless(excerpt.text))


def split_range(file: str) -> tuple[str, int, int | None]:
    """The file name, first and last line of an argument; `FILE:7` is line 7 alone.

    A file that has the whole argument for a name goes before a range.
    """
    match = _RANGE.match(file)
    if not match or os.path.exists(file):
        return file, 1, None
    start, end = int(match["start"]), match["end"]
    return match["name"], start, int(end) if end else start
