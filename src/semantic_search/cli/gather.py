"""gather: the best passages as one Markdown block."""

from __future__ import annotations

import click

from ..output import harmless
from ..tools.gather import MOST_TOKENS, gather, to_markdown
from ..wire import hit_json
from .commands import command
from .progress import Reporter
from .results import tell
from .search import question_of
from .session import filters, json_option, open_corpus, show_json


@command("gather")
@click.argument("query", nargs=-1, required=True, metavar="QUERY")
@click.option(
    "-k", "count", type=click.IntRange(1), metavar="N", help="How many passages (default: defaultTopK, 5)."
)
@click.option(
    "-C", "context", type=click.IntRange(0), default=0, metavar="LINES", help="Lines around each passage."
)
@click.option(
    "--max-tokens",
    type=click.IntRange(1),
    metavar="N",
    default=MOST_TOKENS,
    show_default=True,
    help="Budget of the block.",
)
@filters
@json_option
def gather_command(
    query: tuple[str, ...],
    count: int | None,
    context: int,
    max_tokens: int,
    folders: tuple[str, ...],
    globs: tuple[str, ...],
    languages: tuple[str, ...],
    tags: tuple[str, ...],
    no_refresh: bool,
    as_json: bool,
) -> int:
    """The best passages as one Markdown block."""
    with open_corpus() as corpus:
        narrowed = (folders, globs, languages, tags)
        question = question_of(corpus, query, count, narrowed, refresh=not no_refresh)
        with Reporter(quiet=True) as reporter:
            gathered = gather(corpus, question, reporter, context_lines=context, max_tokens=max_tokens)
    if as_json:
        spans = [
            {**hit_json(span.hit), "text": span.text, "startLine": span.first_line, "endLine": span.last_line}
            for span in gathered.spans
        ]
        for span in spans:
            span.pop("offset")
        show_json({"passages": spans, "leftOut": gathered.left_out})
    elif gathered.spans:
        print(harmless(to_markdown(gathered)))
    tell(gathered.answer)
    return 0 if gathered.spans else 1
