"""Passages as one Markdown block, each with where it is from: what an agent reads instead of whole files."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..corpus import Corpus, asked_again
from ..errors import QueryError
from ..languages import page_word
from ..output import harmless, one_line, shown
from ..types import Hit
from .index import Watcher
from .search import Answer, Question, search

# Tokens are estimated from UTF-8 bytes: English and code have about four a token, Cyrillic words fewer
# tokens a byte.
BYTES_A_TOKEN = 4
MOST_TOKENS = 9_000
MOST_CONTEXT = 500
_FENCE = re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True)
class Span:
    """A run of lines of one file, as shown: several passages that touch are one span."""

    hit: Hit
    first_line: int
    last_line: int
    text: str


@dataclass(slots=True)
class Gathered:
    """The spans that fit, best first, how many did not, and what the reader should know."""

    spans: list[Span]
    left_out: int
    answer: Answer


@asked_again
def gather(
    corpus: Corpus,
    question: Question,
    watcher: Watcher | None = None,
    *,
    context_lines: int = 0,
    max_tokens: int = MOST_TOKENS,
) -> Gathered:
    """The best passages with lines of context, no line twice, within a budget of tokens.

    The text is what the index holds, so that lines and text agree; a file that changed since is marked.
    Raises what `search` raises.
    """
    if not 0 <= context_lines <= MOST_CONTEXT:
        raise QueryError(f"the number of context lines must be from 0 to {MOST_CONTEXT}")
    if max_tokens < 1:
        raise QueryError("the token budget must be at least 1")
    answer = search(corpus, question, watcher)
    spans = _spans(corpus, answer.hits, context_lines)
    kept: list[Span] = []
    room = max_tokens * BYTES_A_TOKEN
    for span in spans:
        size = len(span.text.encode()) + 120
        if size > room and kept:
            break
        kept.append(span if size <= room else _cut(span, room))
        room -= size
    return Gathered(kept, len(spans) - len(kept), answer)


def _spans(corpus: Corpus, hits: list[Hit], context: int) -> list[Span]:
    """One span for each run of touching passages of a file, in the order of its best passage."""
    store, _ = corpus.reading()
    by_file: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        by_file.setdefault((hit.folder, hit.path), []).append(hit)
    spans: list[tuple[int, Span]] = []
    place = {id(hit): n for n, hit in enumerate(hits)}
    for (folder, path), of_file in by_file.items():
        document = store.document(folder, path)
        if document is None:  # pruned by another process since the search
            spans += [
                (place[id(h)], Span(h, h.chunk.first_line, h.chunk.last_line, h.chunk.text)) for h in of_file
            ]
            continue
        lines = document.text.split("\n")
        for first, last, best in _runs(of_file, context, len(lines)):
            text = "\n".join(lines[first - 1 : last])
            spans.append((place[id(best)], Span(best, first, last, text)))
    return [span for _, span in sorted(spans, key=lambda item: item[0])]


def _runs(hits: list[Hit], context: int, lines: int) -> list[tuple[int, int, Hit]]:
    runs: list[tuple[int, int, Hit]] = []
    for hit in sorted(hits, key=lambda h: h.chunk.first_line):
        first = max(1, hit.chunk.first_line - context)
        last = min(lines, hit.chunk.last_line + context)
        if runs and first <= runs[-1][1] + 1:
            best = max(runs[-1][2], hit, key=lambda h: h.score)
            runs[-1] = (runs[-1][0], max(runs[-1][1], last), best)
        else:
            runs.append((first, last, hit))
    return runs


def _cut(span: Span, room: int) -> Span:
    text = span.text.encode()[:room].decode(errors="ignore")
    lines = text.count("\n")
    return Span(span.hit, span.first_line, span.first_line + lines, text + "\n… (cut to the token budget)")


def to_markdown(gathered: Gathered) -> str:
    """The block: a heading for each span, then its text in a fence longer than any fence inside.

    Control characters are escaped: an agent's client may show the block on a terminal.
    """
    blocks = []
    total = len(gathered.spans)
    for n, span in enumerate(gathered.spans, 1):
        hit = span.hit
        text = harmless(span.text)
        longest = max((len(run) for run in _FENCE.findall(text)), default=2)
        fence = "`" * max(3, longest + 1)
        head = (
            f"### [{n}/{total}]  {one_line(hit.folder_name)}  ·  {one_line(shown(hit.path))}  ·  "
            f"line {span.first_line}  ·  score {hit.score:.3f}"
        )
        if hit.chunk.page:
            head += f"  ·  {page_word(hit.language)} {hit.chunk.page}"
        if hit.stale:
            head += "  ·  changed on disk since it was indexed"
        blocks.append(f"{head}\n\n{fence}{hit.language}\n{text}\n{fence}")
    if gathered.left_out:
        blocks.append(
            f"{gathered.left_out} more passages were left out to stay within the token budget; "
            "ask with a smaller k, fewer context lines, or a narrower folder or glob."
        )
    return "\n\n".join(blocks)
