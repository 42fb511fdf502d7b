"""search: the passages that are about a query."""

from __future__ import annotations

import click

from ..corpus import Corpus
from ..output import harmless, one_line, shown
from ..tools.gather import gather
from ..tools.search import MOST_RESULTS, Question, search
from .choosing import editor_options, open_hit
from .commands import command
from .progress import Reporter
from .results import marked, show_answer, tell
from .session import color_option, filters, json_option, open_corpus
from .style import Style


@command("search")
@click.argument("query", nargs=-1, required=True, metavar="QUERY")
@click.option(
    "-k", "count", type=click.IntRange(1), metavar="N", help="How many results (default: defaultTopK, 5)."
)
@filters
@click.option(
    "-C", "context", type=click.IntRange(0), metavar="LINES", help="Print passages with LINES around them."
)
@click.option("--files", "only_files", is_flag=True, help="Print only the files, best first.")
@click.option("--explain", is_flag=True, help="Show the rank in each arm and every signal's share.")
@color_option
@editor_options
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
    style: Style,
    choice: int,
    as_json: bool,
) -> int:
    """Find passages by meaning and by word."""
    with open_corpus() as corpus:
        narrowed = (folders, globs, languages, tags)
        question = question_of(corpus, query, count, narrowed, refresh=not no_refresh, explain=explain)
        if context is not None and not as_json:
            with Reporter(quiet=True) as reporter:
                gathered = gather(corpus, question, reporter, context_lines=context, max_tokens=10**9)
            for span in gathered.spans:
                lines = f"{shown(span.hit.absolute)}:{span.first_line}-{span.last_line}"
                print(f"{style.place(one_line(lines), span.hit.absolute)}  {span.hit.score:.3f}")
                print(marked(harmless(span.text), gathered.answer.terms, style) + "\n")
            tell(gathered.answer)
            hits = [span.hit for span in gathered.spans]
        else:
            with Reporter(quiet=True) as reporter:
                answer = search(corpus, question, reporter)
            hits = show_answer(answer, style, only_files=only_files, as_json=as_json)
    open_hit(hits, choice)
    return 0 if hits else 1


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
