"""Hits as they are shown: a table on a terminal, a line each in a pipe, what was asked for brought out."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ..languages import page_word
from ..output import one_line, shown
from ..tools.search import Answer, files_of
from ..types import Hit
from ..wire import hits_json
from .session import note, show, show_json
from .style import Style, file_uri

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

# A table needs this many columns; below, a hit stands on lines of its own.
NARROWEST_TABLE = 64
# How many lines of a table's row a preview may take, and how wide a line in a pipe.
PREVIEW_LINES = 4
PREVIEW_IN_PIPE = 160


def show_answer(answer: Answer, style: Style, *, only_files: bool, as_json: bool) -> list[Hit]:
    """Prints hits on stdout and notes on stderr; the hits that were shown."""
    hits = files_of(answer.hits) if only_files else answer.hits
    if as_json:
        show_json([shown(hit.absolute) for hit in hits] if only_files else hits_json(hits))
    elif only_files:
        for hit in hits:
            print(style.place(one_line(shown(hit.absolute)), hit.absolute))
    elif sys.stdout.isatty() and hits:
        _show_on_terminal(hits, answer.terms, style)
    else:
        for hit in hits:
            show_hit(hit, answer.terms, style)
    tell(answer)
    return hits


def tell(answer: Answer) -> None:
    """Says on stderr what the reader of an answer should know."""
    for text in answer.notes:
        note(text)
    if any(hit.stale for hit in answer.hits):
        note("some results are from files that changed since they were indexed")
    if answer.pending:
        note(f"{answer.pending} passages still wait for a vector; run `semantic-search index` to make them")
    if not answer.hits:
        note("nothing found")


def show_hit(hit: Hit, terms: Collection[str], style: Style) -> None:
    """A hit on one line: path:line, score, place, preview; tabs between them."""
    place = hit.chunk.symbol or hit.chunk.heading
    if hit.chunk.page:
        page = f"{page_word(hit.language)} {hit.chunk.page}"
        place = f"{place} ({page})" if place else page
    where = style.place(f"{one_line(shown(hit.absolute))}:{hit.chunk.first_line}", hit.absolute)
    text = marked(preview(hit, PREVIEW_IN_PIPE), terms, style)
    print(f"{where}\t{hit.score:.3f}\t{one_line(place)}\t{text}")
    _explain(hit)


def preview(hit: Hit, width: int) -> str:
    """The passage on one line, cut to a width."""
    text = _flat(hit)
    return text if len(text) <= width else text[: width - 1] + "…"


def marked(text: str, terms: Collection[str], style: Style) -> str:
    """A text with the words that have the terms brought out, where colours are wanted."""
    return style.marked(text, spans(text, terms)) if style.colour else text


def spans(text: str, terms: Collection[str]) -> list[tuple[int, int]]:
    """Where a text has the terms of a question, whatever a word's ending."""
    from ..terms import spans_of

    return spans_of(text, set(terms))


def excerpt(text: str, found: Sequence[tuple[int, int]], width: int) -> tuple[str, list[tuple[int, int]]]:
    """The part of a text, at most `width` characters, that has most of what was found, and where it has it.

    … stands where something was left out. The beginning is taken where it has as much as any other part.
    """
    if len(text) <= width:
        return text, list(found)
    # A little of what stands before a match tells what it is about.
    lead = width // 5
    starts = [0, *(max(0, min(start - lead, len(text) - width)) for start, _ in found)]
    held = [sum(begin >= start and end <= start + width - 2 for begin, end in found) for start in starts]
    start = starts[held.index(max(held))]
    if start:
        start = text.find(" ", start, start + lead) + 1 or start
    end = min(len(text), start + width - 2)
    if end < len(text):
        blank = text.rfind(" ", start + width // 2, end + 1)
        end = blank if blank >= 0 else end
    front = "…" if start else ""
    shift = len(front) - start
    inside = [(b + shift, e + shift) for b, e in found if b >= start and e <= end]
    return f"{front}{text[start:end]}{'…' if end < len(text) else ''}", inside


def _flat(hit: Hit) -> str:
    return one_line(" ".join(hit.chunk.text.split()))


def _explain(hit: Hit) -> None:
    if hit.explain is not None:
        show("    " + "  ".join(f"{key} {value:.4g}" for key, value in hit.explain.items()))


# On a terminal


def _show_on_terminal(hits: Sequence[Hit], terms: Collection[str], style: Style) -> None:
    console = _console(style)
    if console.width < NARROWEST_TABLE:
        for hit in hits:
            _show_stacked(console, hit, terms, style)
    else:
        console.print(_table(console.width, hits, terms, style))
        for hit in hits:
            _explain(hit)


def _console(style: Style) -> Console:
    from rich.console import Console

    # It would read the same variables by rules of its own.
    return Console(color_system="auto" if style.colour else None, no_color=not style.colour, highlight=False)


def _table(width: int, hits: Sequence[Hit], terms: Collection[str], style: Style) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    longest = max(len(_where(hit)) for hit in hits)
    for_path = max(12, min(longest, 9 * width // 20))
    table.add_column("path", overflow="fold", max_width=for_path)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("preview", overflow="fold", ratio=1)
    # Two blanks between columns, five characters each for line and score.
    room = (width - for_path - 14) * PREVIEW_LINES
    for hit in hits:
        where = _linked(_where(hit), hit, style)
        if hit.stale:
            where.append(" (changed)", style="yellow")
        if hit.chunk.page:
            where.append(f" {page_word(hit.language)} {hit.chunk.page}", style="dim")
        line = _linked(str(hit.chunk.first_line), hit, style)
        table.add_row(where, line, Text(f"{hit.score:.3f}"), _body(hit, terms, room))
    return table


def _show_stacked(console: Console, hit: Hit, terms: Collection[str], style: Style) -> None:
    from rich.padding import Padding

    where = _linked(f"{_where(hit)}:{hit.chunk.first_line}", hit, style)
    where.append(f"  {hit.score:.3f}")
    if hit.stale:
        where.append(" (changed)", style="yellow")
    if hit.chunk.page:
        where.append(f" {page_word(hit.language)} {hit.chunk.page}", style="dim")
    console.print(where, overflow="fold")
    console.print(Padding(_body(hit, terms, (console.width - 2) * PREVIEW_LINES), (0, 0, 0, 2)))
    _explain(hit)


def _where(hit: Hit) -> str:
    return f"{one_line(shown(hit.folder_name))}/{one_line(shown(hit.path))}"


def _linked(text: str, hit: Hit, style: Style) -> Text:
    from rich.style import Style as RichStyle
    from rich.text import Text

    link = file_uri(hit.absolute, style.host) if style.links else None
    return Text().append(text, RichStyle(color="cyan", link=link))


def _body(hit: Hit, terms: Collection[str], room: int) -> Text:
    """What a hit says: the name above it, and the part of its text that has most of the question."""
    from rich.text import Text

    body = Text(overflow="fold")
    name = one_line(hit.chunk.symbol or hit.chunk.heading)
    if name:
        body.append_text(_brought_out(name, spans(name, terms), "bold")).append("  ")
    flat = one_line(" ".join(_below_heading(hit).split()))
    # Words do not fill every line to its end.
    text, found = excerpt(flat, spans(flat, terms), max(40, room - len(body) - room // 10))
    return body.append_text(_brought_out(text, found))


def _below_heading(hit: Hit) -> str:
    """The passage without a first line that only repeats the heading that is shown before it."""
    first, _, rest = hit.chunk.text.lstrip().partition("\n")
    heading = hit.chunk.heading.rpartition(" > ")[2]
    repeated = bool(heading) and not hit.chunk.symbol and first.strip("#=* \t") == heading
    return rest if repeated and rest.strip() else hit.chunk.text


def _brought_out(text: str, found: Sequence[tuple[int, int]], style: str = "") -> Text:
    from rich.text import Text

    part = Text(text, style=style)
    for start, end in found:
        part.stylize("bold red", start, end)
    return part
