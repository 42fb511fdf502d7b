"""cat: a file, or lines of it, as text."""

from __future__ import annotations

import re

import click

from ..corpus import Corpus
from ..errors import FolderError
from ..output import harmless, shown
from ..tools.cat import Excerpt, cat
from .commands import command
from .completing import files_of_folders
from .session import json_option, open_corpus, show_json

_RANGE = re.compile(r"^(?P<name>.+):(?P<start>\d+)(?:-(?P<end>\d+))?$", re.DOTALL)


@command("cat")
@click.argument("file", metavar="FILE[:START[-END]]", shell_complete=files_of_folders)
@json_option
def cat_command(file: str, as_json: bool) -> None:
    """Show a file, or lines of it, as text (of a document what was extracted).

    Line numbers are those of search and grep.
    """
    with open_corpus() as corpus:
        excerpt = _excerpt(corpus, file)
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


def _excerpt(corpus: Corpus, file: str) -> Excerpt:
    """The lines of an argument. A file that has the whole of it for a name goes before a range."""
    match = _RANGE.match(file)
    try:
        return cat(corpus, file)
    except FolderError:
        if not match:
            raise
    start, end = int(match["start"]), match["end"]
    return cat(corpus, match["name"], start, int(end) if end else start)
