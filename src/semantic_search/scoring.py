"""The score of a candidate: what each arm says of it and what its place in the files says.

Each signal is a pure function from 0 to 1; `rank` is the one place where they are put together, and
`WEIGHTS` says how much each counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .ranking import in_order, reciprocal_ranks, scaled_to_best, scaled_to_pool, take_turns
from .scripts import dominant_script
from .stores import Passage

# After so many passages of one file the others of that file wait until every file had its turn.
PASSAGES_A_FILE = 3

WEIGHTS = {"words": 1.0, "meaning": 1.0}

# Words cannot match across scripts. A passage in another script than the question is taken to have had this
# share of its meaning's score for its words, or every passage that shares a common word would go before it.
# On English and Russian twins of 240 texts nDCG@10 is 0.903 with 0, 0.935 with 0.5, 0.939 with 0.9.
ACROSS_SCRIPTS = 0.6


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that an arm returned: its place (from 1, None where absent) and score in each."""

    passage: Passage
    lexical_place: int | None
    lexical_score: float
    vector_place: int | None
    vector_score: float


def rank(
    query: str, candidates: Sequence[Candidate], *, rrf_k: int
) -> list[tuple[Candidate, float, dict[str, float]]]:
    """Candidates with their scores (0 to 1) and the share of each signal in it, best first."""
    by_id = {candidate.passage.id: candidate for candidate in candidates}
    lexical = _arm([(c.lexical_place, c.passage.id, c.lexical_score) for c in candidates])
    vector = _arm([(c.vector_place, c.passage.id, c.vector_score) for c in candidates])
    words, meaning = scaled_to_best(lexical), scaled_to_pool(vector)
    whole = (WEIGHTS["words"] if lexical else 0.0) + (WEIGHTS["meaning"] if vector else 0.0)
    fused = reciprocal_ranks([lexical, vector], rrf_k)
    script = dominant_script(query)
    scores: dict[int, float] = {}
    shares: dict[int, dict[str, float]] = {}
    for id_, candidate in by_id.items():
        of_words, of_meaning = words.get(id_, 0.0), meaning.get(id_, 0.0)
        if lexical and candidate.passage.script != script:
            of_words = max(of_words, ACROSS_SCRIPTS * of_meaning)
        share = {
            "words": WEIGHTS["words"] * of_words / whole,
            "meaning": WEIGHTS["meaning"] * of_meaning / whole,
        }
        scores[id_] = sum(share.values())
        shares[id_] = share | _places(candidate, fused[id_])
    ordered = [by_id[id_] for id_, _ in in_order(scores)]
    ordered = take_turns(ordered, lambda c: (c.passage.folder, c.passage.path), PASSAGES_A_FILE)
    return [(c, scores[c.passage.id], shares[c.passage.id]) for c in ordered]


def _arm(rows: Sequence[tuple[int | None, int, float]]) -> list[tuple[int, float]]:
    placed = sorted((place, id_, score) for place, id_, score in rows if place is not None)
    return [(id_, score) for _, id_, score in placed]


def _places(candidate: Candidate, fused: float) -> dict[str, float]:
    places = {"rrf": fused}
    if candidate.lexical_place is not None:
        places["lexicalRank"] = candidate.lexical_place
    if candidate.vector_place is not None:
        places["vectorRank"] = candidate.vector_place
        places["cosine"] = candidate.vector_score
    return places
