"""search: the passages that are about a query."""

from __future__ import annotations

import sys

import click

from ..corpus import Corpus
from ..languages import page_word
from ..output import harmless, one_line, shown
from ..tools.gather import gather
from ..tools.search import MOST_RESULTS, Answer, Question, files_of, search
from ..types import Hit
from ..wire import hits_json
from .session import colour_wanted, filters, json_option, note, open_corpus, show, show_json


@click.command("search")
@click.argument("query", nargs=-1, required=True, metavar="QUERY")
@click.option("-k", "count", type=click.IntRange(1), help="How many results (default: defaultTopK, 5).")
@filters
@click.option(
    "-C", "context", type=click.IntRange(0), metavar="LINES", help="Print passages with LINES around them."
)
@click.option("--files", "only_files", is_flag=True, help="Print only the files, best first.")
@click.option("--explain", is_flag=True, help="Show the rank in each arm and every signal's share.")
@json_option
def search_command(
    query: tuple[str, ...],
    count: int | None,
    folders: tuple[str, ...],
    globs: tuple[str, ...],
    languages: tuple[str, ...],
    tags: tuple[str, ...],
    no_refresh: bool,
    context: int | None,
    only_files: bool,
    explain: bool,
    as_json: bool,
) -> int:
    """Find passages by meaning and by word."""
    with open_corpus() as corpus:
        narrowed = (folders, globs, languages, tags)
        question = question_of(corpus, query, count, narrowed, refresh=not no_refresh, explain=explain)
        if context is not None and not as_json:
            gathered = gather(corpus, question, context_lines=context, max_tokens=10**9)
            answer = gathered.answer
            for span in gathered.spans:
                show(f"{shown(span.hit.absolute)}:{span.first_line}-{span.last_line}  {span.hit.score:.3f}")
                print(harmless(span.text) + "\n")
        else:
            return show_answer(search(corpus, question), only_files=only_files, as_json=as_json)
    _tell(answer)
    return 0 if answer.hits else 1


def question_of(
    corpus: Corpus,
    words: tuple[str, ...],
    count: int | None,
    narrowed: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]],
    *,
    refresh: bool,
    explain: bool = False,
) -> Question:
    """The question of a command's arguments; `narrowed` are folders, globs, languages and tags."""
    folders, globs, languages, tags = narrowed
    return Question(
        " ".join(words),
        min(count or corpus.settings.top_k, MOST_RESULTS),
        folders or None,
        globs,
        languages,
        tags,
        refresh=refresh,
        explain=explain,
        index_missing=True,
    )


def show_answer(answer: Answer, *, only_files: bool, as_json: bool) -> int:
    """Prints hits on stdout and notes on stderr; the exit status."""
    hits = files_of(answer.hits) if only_files else answer.hits
    if as_json:
        show_json([shown(hit.absolute) for hit in hits] if only_files else hits_json(hits))
    elif only_files:
        for hit in hits:
            show(shown(hit.absolute))
    elif sys.stdout.isatty() and hits:
        _table(hits)
    else:
        for hit in hits:
            show_hit(hit)
    _tell(answer)
    return 0 if answer.hits else 1


def show_hit(hit: Hit) -> None:
    """A hit on one line: path:line, score, place, preview; tabs between them."""
    place = hit.chunk.symbol or hit.chunk.heading
    if hit.chunk.page:
        page = f"{page_word(hit.language)} {hit.chunk.page}"
        place = f"{place} ({page})" if place else page
    where = f"{one_line(shown(hit.absolute))}:{hit.chunk.first_line}"
    print(f"{where}\t{hit.score:.3f}\t{one_line(place)}\t{preview(hit, 160)}")
    _explain(hit)


def preview(hit: Hit, width: int) -> str:
    """The passage on one line, cut to a width."""
    text = one_line(" ".join(hit.chunk.text.split()))
    return text if len(text) <= width else text[: width - 1] + "…"


def _explain(hit: Hit) -> None:
    if hit.explain is not None:
        show("    " + "  ".join(f"{key} {value:.4g}" for key, value in hit.explain.items()))


def _table(hits: list[Hit]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(color_system="auto" if colour_wanted() else None, highlight=False)
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    table.add_column("path", overflow="fold", ratio=2)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("preview", ratio=3, overflow="ellipsis")
    for hit in hits:
        where = Text(f"{one_line(shown(hit.folder_name))}/{one_line(shown(hit.path))}", style="cyan")
        if hit.stale:
            where.append(" (changed)", style="yellow")
        if hit.chunk.page:
            where.append(f" {page_word(hit.language)} {hit.chunk.page}", style="dim")
        body = Text()
        if hit.chunk.symbol or hit.chunk.heading:
            body.append(one_line(hit.chunk.symbol or hit.chunk.heading) + "  ", style="bold")
        body.append(preview(hit, 240))
        table.add_row(where, str(hit.chunk.first_line), f"{hit.score:.3f}", body)
    console.print(table)
    for hit in hits:
        _explain(hit)


def _tell(answer: Answer) -> None:
    for text in answer.notes:
        note(text)
    if any(hit.stale for hit in answer.hits):
        note("some results are from files that changed since they were indexed")
    if answer.pending:
        note(f"{answer.pending} passages still wait for a vector; run `semantic-search index` to make them")
    if not answer.hits:
        note("nothing found")
