"""Draws docs/search.svg: what the real command prints on a terminal, over the samples.

    python docs/scripts/picture.py [FILE]

A picture of rich's making, in a font of the reader's own: its usual template fetches one from elsewhere.
"""

from __future__ import annotations

import html
import io
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pages import ROOT
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text
from terminal import show
from try_pages import environment, write_checkout

PICTURE = ROOT / "docs" / "search.svg"
COLUMNS = 100
SHOWN = (
    ("search", "чому ми не видаляємо старі події?", "-k", "2"),
    ("search", "how do we restore everything after losing the disk", "-k", "1"),
    ("search", "що означає жовтий вогник на коробці", "-k", "1"),
    ("search", "exponential backoff with jitter", "--lang", "python", "-k", "1"),
)

# The width that rich gives to a character, and a text that begins with spaces.
_COLUMN = 12.2
_INDENTED = re.compile(
    r'(?P<before><text[^>]*) x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)" textLength="[\d.]+"(?P<after>[^>]*)>'
    r"(?P<spaces>(?:&#160;)+)"
)

_FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>What semantic-search prints for four questions about the samples</title>
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; white-space: pre; }}
.{unique_id}-title {{ font-family: sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def draw(file: Path, bin_directory: Path, more: Mapping[str, str] | None = None) -> None:
    """Indexes the samples in a home of its own, asks the questions, and writes the picture."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place).resolve() / "home"
        home.mkdir()
        directory = write_checkout(home)
        env = environment(home, bin_directory, more)
        for first in (["add", "samples/corpus"], ["index"]):
            subprocess.run(
                ["semantic-search", *first], cwd=directory, env=env, check=True, capture_output=True
            )
        console = Console(
            record=True, width=COLUMNS, force_terminal=True, color_system="truecolor", file=io.StringIO()
        )
        for words in SHOWN:
            command = ["semantic-search", *words]
            console.print(Text.assemble(("$ ", "bold green"), (shlex.join(command), "bold")))
            printed, status = show(command, env, columns=COLUMNS, directory=directory, stderr=False)
            if status:
                raise subprocess.CalledProcessError(status, command)
            console.print(Text.from_ansi(printed.replace("\r\n", "\n")))
        svg = console.export_svg(
            title="semantic-search", theme=MONOKAI, code_format=_FORMAT, unique_id="terminal"
        )
    svg = _INDENTED.sub(_at_its_column, svg)
    # A difference shows what changed, line by line.
    file.write_text(re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE), encoding="utf-8")


def _at_its_column(match: re.Match[str]) -> str:
    """A text without the spaces before it, where it stands: not every viewer gives these their width."""
    start = float(match["x"]) + match["spaces"].count("&#160;") * _COLUMN
    return f'{match["before"]} x="{start:.1f}" y="{match["y"]}"{match["after"]}>'


def lines_of(svg: str) -> list[str]:
    """The lines of text in a picture, from the top."""
    found: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        found.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    lines = []
    for _, parts in sorted(found.items()):
        line = ""
        for x, text in sorted(parts):
            line = line.ljust(round(x / _COLUMN)) + text
        lines.append(line.rstrip())
    return lines


def main() -> None:
    """Draws the picture of the `semantic-search` beside this Python."""
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    draw(file, Path(sys.executable).parent)
    print(file)


if __name__ == "__main__":
    main()
