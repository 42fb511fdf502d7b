"""Search: the passages that are about a query, by meaning and by word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..corpus import Corpus
from ..errors import ModelUnavailable, QueryError
from ..freshness import changed_on_disk, refresh
from ..ranking import Ranked
from ..scoring import Asked, Candidate, Evidence, rank
from ..stores import Filter, Store
from ..types import Hit
from .on_demand import index_what_is_missing
from .scope import folders_in, resolve_filter

MOST_RESULTS = 1000
LONGEST_QUERY = 4000

# Of how many files the whole text is weighed.
WHOLE_FILES = 400
_UNUSABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Question:
    """A query with what narrows it. `folders` are names or paths; None means every folder.

    `index_missing` has a directory among `folders` that is not indexed yet indexed first.
    """

    text: str
    k: int
    folders: tuple[str, ...] | None = None
    globs: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    refresh: bool = True
    explain: bool = False
    index_missing: bool = False


@dataclass(slots=True)
class Answer:
    """Hits, best first, with what the reader should know: notes, and texts still without a vector."""

    hits: list[Hit]
    notes: list[str] = field(default_factory=list)
    pending: int = 0


def search(corpus: Corpus, question: Question) -> Answer:
    """The best passages for a question.

    Changed files are brought into the index first (within a time budget). The arm that cannot read the
    query's script, or has no model, abstains. Raises QueryError, NoIndex, StoreError, FolderError.
    """
    text, notes = usable_query(question.text)
    if not 1 <= question.k <= MOST_RESULTS:
        raise QueryError(f"the number of results must be from 1 to {MOST_RESULTS}")
    if question.index_missing:
        index_what_is_missing(corpus, question.folders or ())
    wanted = resolve_filter(corpus, question.folders, question.globs, question.languages)
    if question.refresh and corpus.settings.refresh:
        notes += refresh(corpus, folders_in(corpus, wanted))
    store, _ = corpus.reading()
    with store.snapshot():
        return _answer(corpus, store, text, question, wanted, notes)


def usable_query(text: str) -> tuple[str, list[str]]:
    """The query without characters that nothing can match, cut to a length; and notes. Raises QueryError."""
    cleaned = _UNUSABLE.sub(" ", text).strip()
    if not cleaned:
        raise QueryError("the query is empty: say in a few words what you look for")
    if len(cleaned) <= LONGEST_QUERY:
        return cleaned, []
    return cleaned[:LONGEST_QUERY], [f"the query was cut to its first {LONGEST_QUERY} characters"]


def _answer(
    corpus: Corpus, store: Store, text: str, question: Question, wanted: Filter, notes: list[str]
) -> Answer:
    from ..terms import query_terms

    pool = max(5 * question.k, 100)
    terms = query_terms(text)
    lexical = store.match(terms, wanted, pool) if corpus.settings.hybrid or not terms else []
    vector = _vector_arm(corpus, store, text, wanted, pool, notes)
    if vector is None:
        if not terms:
            raise QueryError("the query has no words in it that could be looked up")
        lexical = lexical or store.match(terms, wanted, pool)
    candidates = _candidates(store, lexical, vector or [])
    asked, evidence = _evidence(store, text, terms, wanted, candidates)
    ranked = rank(asked, candidates, evidence, rrf_k=corpus.settings.rrf_k)
    names = {folder.path: folder.name for folder in corpus.known_folders()}
    hits = [_hit(names, found, question) for found in ranked[: question.k]]
    return Answer(hits, notes, store.pending_count())


def _vector_arm(
    corpus: Corpus, store: Store, text: str, wanted: Filter, pool: int, notes: list[str]
) -> Ranked | None:
    try:
        embedder = corpus.embedder_of(store)
        if not embedder.can_read(text):
            notes.append(f"searched by words alone: {embedder.row.name} does not read this script")
            return None
        return store.nearest(embedder.embed_query(text), wanted, pool)
    except ModelUnavailable as error:
        notes.append(f"searched by words alone: {error}")
        return None


def _candidates(store: Store, lexical: Ranked, vector: Ranked) -> list[Candidate]:
    words = {id_: (place, score) for place, (id_, score) in enumerate(lexical, 1)}
    meaning = {id_: (place, score) for place, (id_, score) in enumerate(vector, 1)}
    passages = store.passages(list(dict.fromkeys([*words, *meaning])))
    return [
        Candidate(passage, *words.get(id_, (None, 0.0)), *meaning.get(id_, (None, 0.0)))
        for id_, passage in passages.items()
    ]


def _evidence(
    store: Store, text: str, terms: Sequence[str], wanted: Filter, candidates: Sequence[Candidate]
) -> tuple[Asked, Evidence]:
    """What the question and the candidates' files say beside the arms."""
    from ..signals import inverse_frequencies
    from ..terms import path_terms

    weights = inverse_frequencies(store.frequencies(path_terms(text)), store.passage_count())
    files = list(dict.fromkeys(candidate.file for candidate in candidates))
    whole = dict(store.match_files(terms, wanted, WHOLE_FILES))
    return Asked(text, weights), Evidence(whole, store.symbols(files))


def _hit(names: dict[str, str], found: tuple[Candidate, float, dict[str, float]], question: Question) -> Hit:
    candidate, score, shares = found
    passage = candidate.passage
    return Hit(
        folder=passage.folder,
        folder_name=names.get(passage.folder, passage.folder),
        path=passage.path,
        language=passage.language,
        chunk=passage.chunk,
        score=score,
        stale=changed_on_disk(passage.folder, passage.path, passage.stamp),
        explain=shares if question.explain else None,
    )


def files_of(hits: Sequence[Hit]) -> list[Hit]:
    """The best hit of each file, in order."""
    seen: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        seen.setdefault((hit.folder, hit.path), hit)
    return list(seen.values())
