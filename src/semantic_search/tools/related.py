"""Related: passages like the one at a place in a file."""

from __future__ import annotations

from collections import Counter

from ..corpus import Corpus, asked_again
from ..errors import QueryError
from ..freshness import refresh
from ..ranking import Ranked
from ..retrieval import candidates, evidence
from ..scoring import Asked, rank
from ..signals import inverse_frequencies
from ..stores import Passage, Store
from .documents import find_file
from .note_links import with_links
from .scope import folders_in, resolve_filter
from .search import LEAST_POOL, MOST_RESULTS, Answer, to_hits

# How many of the passage's own terms stand for it in the lexical arm: those that tell most.
TERMS = 25


@asked_again
def related(
    corpus: Corpus,
    name: str,
    line: int,
    k: int,
    *,
    folders: tuple[str, ...] | None = None,
    look: bool = True,
) -> Answer:
    """The passages most like the one at a line (from 1) of an indexed file, other files than it.

    By the vector that the passage has and the terms that tell most of it. With `look`, files that changed
    are brought into the index first, so that the line is one of the file as it is now. Raises FolderError,
    QueryError, NoIndex, StoreError.
    """
    if not 1 <= k <= MOST_RESULTS:
        raise QueryError(f"the number of results must be from 1 to {MOST_RESULTS}")
    source = find_file(corpus, name)
    wanted = resolve_filter(corpus, folders, (), ())
    notes: list[str] = []
    if look and corpus.settings.refresh:
        own = [folder for folder in corpus.known_folders() if folder.path == source.folder]
        notes = refresh(corpus, list(dict.fromkeys([*own, *folders_in(corpus, wanted)])))
    store, _ = corpus.reading()
    pool = max(5 * k, LEAST_POOL)
    with store.snapshot():
        passage = _passage_at(store.passages_of(source.folder, source.path), name, line)
        weights = _telling_terms(store, passage)
        terms = list(weights)
        lexical = _others(store, store.match(terms, wanted, pool), passage)
        vector = store.vector_of(passage.id)
        meaning: Ranked = []
        if vector is not None:
            meaning = _others(store, store.nearest(vector, wanted, pool), passage)
        found = candidates(store, lexical, meaning)
        asked = Asked.of("", weights, passage.script)
        ranked = rank(asked, found, evidence(store, terms, wanted, found), rrf_k=corpus.settings.rrf_k)
        hits = with_links(store, to_hits(corpus, ranked, k, explain=False))
        return Answer(hits, notes, store.pending_count(wanted), tuple(terms))


def _passage_at(passages: list[Passage], name: str, line: int) -> Passage:
    if not passages:
        raise QueryError(f"{name} has no passages in the index; `semantic-search status --skipped` says why")
    last = passages[-1].chunk.last_line
    if not 1 <= line <= last:
        raise QueryError(f"{name} is indexed from line 1 to {last}; there is no passage at line {line}")
    holding = [p for p in passages if p.chunk.first_line <= line <= p.chunk.last_line]
    return max(holding or passages, key=lambda p: (p.chunk.first_line <= line, p.chunk.first_line))


def _telling_terms(store: Store, passage: Passage) -> dict[str, float]:
    """The terms that stand for a passage, each with what it tells."""
    from ..terms import index_terms

    counts = Counter(index_terms(passage.chunk.text))
    frequencies = store.frequencies(list(counts))
    weights = inverse_frequencies(frequencies, store.passage_count())
    # A term that is nowhere else tells most and finds nothing.
    shared = [term for term in counts if frequencies[term] > 1]
    best = sorted(shared, key=lambda term: (-weights[term] * min(counts[term], 3), term))[:TERMS]
    return {term: weights[term] for term in best}


def _others(store: Store, ranked: Ranked, passage: Passage) -> Ranked:
    found = store.passages([id_ for id_, _ in ranked])
    return [
        (id_, score)
        for id_, score in ranked
        if id_ in found and (found[id_].folder, found[id_].path) != (passage.folder, passage.path)
    ]
