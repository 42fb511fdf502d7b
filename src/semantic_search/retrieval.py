"""From a question to ranked candidates: both arms, what their files say, and the order of it all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import signals
from .errors import ModelUnavailable, QueryError
from .ranking import Ranked
from .scoring import Asked, Candidate, Evidence, Signals, rank
from .scripts import dominant_script
from .spelling import SHORTEST, one_edit_away

if TYPE_CHECKING:
    from .corpus import Corpus
    from .stores import Filter, Store

Found = tuple[Candidate, float, Signals]

# Of how many files the whole text is weighed.
WHOLE_FILES = 400

# How many unknown words of a question are looked for under another spelling, and how many of those each has.
UNKNOWN_WORDS = 4
SPELLINGS = 3

# A term tells something when it has this share of the weight of the question's rarest.
TELLING = 0.25

_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Pool:
    """How far the arms reach: passages each may return, and what these may be."""

    size: int
    wanted: Filter


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Ranked candidates, best first, and the terms of the question that tell something."""

    ranked: list[Found]
    terms: tuple[str, ...]


def retrieve(corpus: Corpus, store: Store, text: str, pool: Pool, notes: list[str]) -> Retrieved:
    """Ranked candidates for a question; call it within a snapshot. What the user should know goes to `notes`.

    With `hybridSearch` off the vector arm decides alone. An arm that has nothing to go by abstains: the
    vector arm without a model or in a script the model cannot read, the lexical arm without words. Raises
    QueryError when both do.
    """
    from .terms import path_terms, query_terms
    from .terms.questions import small_words, telling_part

    told = telling_part(text)
    terms = query_terms(told)
    vector = _vector_arm(corpus, store, text, pool, notes)
    if vector is None and not terms:
        raise QueryError("the query has no words in it that could be looked up")
    if not terms:
        notes.append("no word of the query can be looked up: these passages are the nearest by meaning alone")
    lexical: Ranked = []
    if corpus.settings.hybrid or vector is None:
        terms = [*terms, *_other_spellings(store, told, notes)]
        lexical = store.match(terms, pool.wanted, pool.size)
    found = candidates(store, lexical, vector or [])
    weights = signals.inverse_frequencies(store.frequencies(path_terms(told)), store.passage_count())
    asked = Asked.of(text, weights, dominant_script(text))
    ranked = rank(asked, found, evidence(store, terms, pool.wanted, found), rrf_k=corpus.settings.rrf_k)
    least = TELLING * max(weights.values(), default=0.0)
    small = set(query_terms(small_words(told)))
    told_by = (term for term in terms if term not in small and weights.get(term, least) >= least)
    return Retrieved(ranked, tuple(told_by))


def _vector_arm(corpus: Corpus, store: Store, text: str, pool: Pool, notes: list[str]) -> Ranked | None:
    if not store.has_vectors():
        notes.append(f"searched by words alone: {corpus.model_trouble() or 'no passage has a vector yet'}")
        return None
    try:
        from .models.questions import question_vector

        embedder = corpus.embedder_of(store)
        if not embedder.can_read(text):
            notes.append(f"searched by words alone: {embedder.row.name} does not read this script")
            return None
        return store.nearest(question_vector(embedder, text), pool.wanted, pool.size)
    except ModelUnavailable as error:
        notes.append(f"searched by words alone: {error}")
        return None


def _other_spellings(store: Store, text: str, notes: list[str]) -> list[str]:
    """Terms one edit away from words that occur nowhere, the commonest first."""
    from .terms import query_terms

    words = [word for word in dict.fromkeys(_LETTERS.findall(text)) if len(word) >= SHORTEST]
    variants = {word: query_terms(word) for word in words}
    counts = store.frequencies([term for terms in variants.values() for term in terms])
    unknown = [word for word, terms in variants.items() if not any(counts[term] for term in terms)]
    found: list[str] = []
    for word in unknown[:UNKNOWN_WORDS]:
        edits = {edit for term in variants[word] for edit in one_edit_away(term)}
        # Whoever mistypes a word seldom misses its first letter; without this "when" is taken for "then".
        edits = {edit for edit in edits if edit[:1] == variants[word][0][:1]}
        near = {edit: count for edit, count in store.frequencies(sorted(edits)).items() if count}
        best = sorted(near, key=lambda edit: (-near[edit], edit))[:SPELLINGS]
        if best:
            notes.append(f"“{word}” is nowhere in the index: searched for {', '.join(best)} as well")
            found += best
    return found


def candidates(store: Store, lexical: Ranked, vector: Ranked) -> list[Candidate]:
    """The passages that either arm returned, with their place and score in each."""
    words = {id_: (place, score) for place, (id_, score) in enumerate(lexical, 1)}
    meaning = {id_: (place, score) for place, (id_, score) in enumerate(vector, 1)}
    passages = store.passages(list(dict.fromkeys([*words, *meaning])))
    return [
        Candidate(passage, *words.get(id_, (None, 0.0)), *meaning.get(id_, (None, 0.0)))
        for id_, passage in passages.items()
    ]


def evidence(store: Store, terms: Sequence[str], wanted: Filter, found: Sequence[Candidate]) -> Evidence:
    """What the candidates' files say of the terms."""
    files = list(dict.fromkeys(candidate.file for candidate in found))
    whole = dict(store.match_files(terms, wanted, WHOLE_FILES)) if terms else {}
    return Evidence(whole, store.symbols(files))
