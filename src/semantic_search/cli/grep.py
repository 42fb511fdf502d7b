"""grep: lines that match a pattern, in the files that the index lists."""

from __future__ import annotations

import click

from ..output import one_line, shown
from ..tools.grep import Search, grep
from .session import glob_option, in_option, json_option, note, open_corpus, show_json


@click.command("grep")
@click.argument("pattern")
@in_option
@glob_option
@click.option("-i/-s", "ignore_case", default=True, help="Ignore case (default), or not.")
@click.option(
    "-F", "--literal", is_flag=True, help="Take PATTERN as it is, not as a regular expression (RE2)."
)
@click.option(
    "--max", "most", type=click.IntRange(1), default=50, show_default=True, help="How many lines at most."
)
@json_option
def grep_command(
    pattern: str,
    folders: tuple[str, ...],
    globs: tuple[str, ...],
    ignore_case: bool,
    literal: bool,
    most: int,
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
        for line in matches.lines:
            where = (
                f"{one_line(shown(line.folder_name))}  ·  {one_line(shown(line.source.path))}:{line.number}"
            )
            print(f"{where}  {one_line(line.text.strip())}")
    if matches.more:
        note(f"there are more: these are the first {most} (--max N shows others, --in and --glob narrow)")
    return 0 if matches.lines else 1
