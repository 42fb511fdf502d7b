"""The score of a candidate: what each arm says of it, and what its file's name, place and definitions say.

`measure` gives every signal of every candidate; `WEIGHTS` says how much each counts; `rank` is the one place
where they are put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from . import signals
from .languages import kind_of
from .ranking import in_order, reciprocal_ranks, saturated, scaled_to_best, scaled_to_pool
from .stores import Passage
from .terms import path_terms, terms_among

FileKey = tuple[str, str]
"""A folder's path and a file's path in it."""


@dataclass(frozen=True, slots=True)
class Weight:
    """What a signal counts among code and among prose."""

    code: float
    prose: float

    def at(self, share: float) -> float:
        """The weight where that share of what was found is code."""
        return share * self.code + (1 - share) * self.prose


# Chosen among round values on the development questions; how they fare on repositories left out, and what the
# signals are worth, is in benchmarks/README.md. Code is found by names and places, prose by what it says: one
# set of weights for both costs each of them points.
WEIGHTS = {
    "words": Weight(0.1, 1.0),
    "meaning": Weight(1.0, 1.0),
    "fileWords": Weight(1.25, 0.1),
    "fileMeaning": Weight(0.1, 0.1),
    "wholeFile": Weight(0.25, 0.0),
    "symbol": Weight(1.0, 0.5),
    "names": Weight(1.0, 0.0),
    "heading": Weight(0.25, 1.5),
    "phrase": Weight(0.25, 0.1),
    "identifiers": Weight(0.25, 0.1),
    "fileSymbol": Weight(1.0, 0.5),
    "fileNames": Weight(1.0, 0.0),
    "askedFile": Weight(2.0, 2.0),
    "stem": Weight(1.0, 0.5),
    "stemCovered": Weight(1.0, 0.1),
    "path": Weight(0.5, 0.1),
    "test": Weight(1.0, 1.0),
    "example": Weight(0.75, 0.25),
    "secondHand": Weight(0.5, 0.5),
    "declaration": Weight(0.5, 0.0),
    "notCode": Weight(0.75, 0.0),
}

# Up to this share of code among the candidates the weights are those of prose, from that on those of code.
PROSE_UP_TO, CODE_FROM = 0.4, 0.8

# What the n-th passage of a file counts, as a power: after a good one another file has its turn. A long page
# answers in several places more often than a source file does.
SATURATION = Weight(0.3, 0.85)

# Words cannot match across scripts. A passage in another script than the question is taken to have had this
# share of its meaning's score for its words, or whatever shares a common word would go before it.
# On English and Russian twins of 240 texts nDCG@10 is 0.903 with 0, 0.935 with 0.5, 0.940 with 0.7.
ACROSS_SCRIPTS = 0.7

# Where all of what was found is in the question's own script, words count so many times as much among prose.
# Where some is not, more weight on words would hide what words cannot find.
OF_ONE_SCRIPT = 1.75
MIXED_UP_TO = 0.8

# When the best matches have less than this share of the question's weight, words count for less by so much:
# what they matched is what any text has ("what", "how", "який").
TRUSTED_SHARE = 0.5

# A file's name that has less than this share of the question's weight counts for less: it is a word of every
# other passage, such as the project's own name.
TELLING_STEM = 0.02

# How many of the best matches are looked at for it.
BEST_MATCHES = 5

# Of how many passages of a file the mean is taken, missing ones counting nothing.
SEVERAL = 3

_DAY_NS = 24 * 3600 * 10**9


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that an arm returned: its place (from 1, None where absent) and score in each."""

    passage: Passage
    lexical_place: int | None
    lexical_score: float
    vector_place: int | None
    vector_score: float

    @property
    def file(self) -> FileKey:
        """The file that the passage is of."""
        return (self.passage.folder, self.passage.path)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: how much each of its terms tells (English stems), its script, and what its text asks for.
    Make one with `of`."""

    weights: Mapping[str, float]
    script: str
    symbol: str
    identifiers: frozenset[str]
    phrases: tuple[str, ...]
    file_names: tuple[str, ...]
    wants_tests: bool
    wants_examples: bool

    @classmethod
    def of(cls, text: str, weights: Mapping[str, float], script: str) -> Asked:
        """A question; a passage that stands for one has no text, only terms."""
        return cls(
            weights,
            script,
            symbol=signals.asked_symbol(text),
            identifiers=signals.identifiers_in(text),
            phrases=signals.phrases_of(text),
            file_names=signals.file_names_in(text),
            wants_tests=signals.asks_for_test(weights),
            wants_examples=signals.asks_for_example(weights),
        )


@dataclass(frozen=True, slots=True)
class _Arms:
    """What each arm found among the candidates, best first, and the scaled scores by passage: of words, of
    words with the credit of passages that words cannot find, and of meaning."""

    found: list[tuple[int, float]]
    near: list[tuple[int, float]]
    lexical: dict[int, float]
    words: dict[int, float]
    meaning: dict[int, float]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of the candidates' files: BM25 of the whole file, and the names that it defines."""

    whole: Mapping[FileKey, float] = field(default_factory=dict)
    names: Mapping[FileKey, Sequence[str]] = field(default_factory=dict)


Signals = dict[str, float]


def rank(
    asked: Asked, candidates: Sequence[Candidate], evidence: Evidence, *, rrf_k: int
) -> list[tuple[Candidate, float, Signals]]:
    """Candidates with their scores and the share of each signal in it, best first.

    A score is relative to what a candidate of this question could have at most: 1 is one with every signal
    that any of them has.
    """
    by_id = {candidate.passage.id: candidate for candidate in candidates}
    arms = _arms(asked, candidates)
    measured = _measure(asked, candidates, evidence, arms)
    share_of_code = _leaning_to_code(candidates)
    weights = {name: weight.at(share_of_code) for name, weight in WEIGHTS.items()}
    weights["words"] *= 1 + (1 - share_of_code) * (OF_ONE_SCRIPT - 1) * _of_one_script(asked, candidates)
    present = {name for values in measured.values() for name, value in values.items() if value > 0}
    most = sum(weights[name] for name in present) or 1.0
    shares = {
        id_: {name: weights[name] * value / most for name, value in values.items() if value}
        for id_, values in measured.items()
    }
    scores = {id_: sum(share.values()) for id_, share in shares.items()}
    fused = reciprocal_ranks([arms.found, arms.near], rrf_k)
    ordered = saturated(
        in_order(scores, lambda id_: _age(by_id[id_])),
        lambda id_: by_id[id_].file,
        SATURATION.at(share_of_code),
        lambda id_: _age(by_id[id_]),
    )
    return [(by_id[id_], score, shares[id_] | _places(by_id[id_], fused[id_])) for id_, score in ordered]


def _age(candidate: Candidate) -> int:
    # Whole days: files that were written in one go (a checkout, a copied folder) are of one age.
    return -(candidate.passage.stamp[1] // _DAY_NS)


PENALTIES = frozenset({"test", "example", "secondHand", "declaration", "notCode"})


def measure(asked: Asked, candidates: Sequence[Candidate], evidence: Evidence) -> dict[int, Signals]:
    """Every signal of every candidate by passage id: from 0 to 1, penalties from -1 to 0."""
    return _measure(asked, candidates, evidence, _arms(asked, candidates))


def _measure(
    asked: Asked, candidates: Sequence[Candidate], evidence: Evidence, arms: _Arms
) -> dict[int, Signals]:
    of_file: dict[FileKey, list[int]] = {}
    for candidate in candidates:
        of_file.setdefault(candidate.file, []).append(candidate.passage.id)
    several_meaning = _several(arms.meaning, of_file)
    several_words = _several(arms.lexical, of_file)
    if any(arms.lexical.values()):
        for candidate in candidates:
            if candidate.passage.script != asked.script:
                several_words[candidate.file] = max(
                    several_words[candidate.file], ACROSS_SCRIPTS * several_meaning[candidate.file]
                )
    most_whole = max((evidence.whole.get(key, 0.0) for key in of_file), default=0.0)
    files = {key: _of_file(asked, key[1], evidence.names.get(key, ())) for key in of_file}
    measured: dict[int, Signals] = {}
    for candidate in candidates:
        id_, key = candidate.passage.id, candidate.file
        names = signals.names_in(candidate.passage.chunk.symbol)
        measured[id_] = {
            "words": arms.words[id_],
            "meaning": arms.meaning[id_],
            "fileWords": several_words[key],
            "fileMeaning": several_meaning[key],
            "wholeFile": evidence.whole.get(key, 0.0) / most_whole if most_whole else 0.0,
            "symbol": float(bool(asked.symbol) and signals.defines(asked.symbol, names)),
            "names": signals.share_found(asked.weights, signals.terms_of_names(tuple(names))),
            "heading": signals.share_found(
                asked.weights, signals.terms_of_names((candidate.passage.chunk.heading,))
            ),
            "phrase": float(signals.holds_phrase(asked.phrases, candidate.passage.chunk.text)),
            "identifiers": signals.share_of_identifiers(asked.identifiers, candidate.passage.chunk.text),
            "notCode": 0.0 if _is_code(candidate) else -1.0,
            **files[key],
            "test": 0.0 if _is_prose(candidate) else files[key]["test"],
        }
    return measured


def _leaning_to_code(candidates: Sequence[Candidate]) -> float:
    share = sum(map(_is_code, candidates)) / max(len(candidates), 1)
    return min(1.0, max(0.0, (share - PROSE_UP_TO) / (CODE_FROM - PROSE_UP_TO)))


def _of_one_script(asked: Asked, candidates: Sequence[Candidate]) -> float:
    """From 0 to 1: how far the candidates are all in the script of the question."""
    share = sum(c.passage.script == asked.script for c in candidates) / max(len(candidates), 1)
    return max(0.0, (share - MIXED_UP_TO) / (1 - MIXED_UP_TO))


def _is_code(candidate: Candidate) -> bool:
    return kind_of(candidate.passage.language) == "code"


def _is_prose(candidate: Candidate) -> bool:
    # A page about testing is no test.
    return kind_of(candidate.passage.language) in ("docs", "text")


def _of_file(asked: Asked, path: str, names: Sequence[str]) -> Signals:
    symbol = asked.symbol
    stem = signals.terms_of_stem(path)
    told = signals.share_found(asked.weights, stem)
    defined = [name for each in names for name in signals.names_in(each)]
    has_symbol = bool(symbol) and signals.defines(symbol, defined)
    named_so = has_symbol and symbol.lower() == path.rsplit("/", 1)[-1].partition(".")[0].lower()
    test = signals.is_test(path) and not asked.wants_tests
    example = signals.is_example(path) and not asked.wants_examples
    return {
        "fileSymbol": (has_symbol + named_so) / 2,
        "askedFile": float(signals.is_named(asked.file_names, path)),
        "fileNames": signals.share_found(asked.weights, signals.terms_of_names(tuple(defined))),
        "stem": told,
        "stemCovered": signals.coverage(asked.weights, stem) * min(1.0, told / TELLING_STEM),
        "path": signals.share_found(asked.weights, signals.terms_of_path(path)),
        "test": -float(test),
        "example": -float(example),
        "secondHand": -float(signals.is_second_hand(path)),
        "declaration": -float(signals.is_declaration(path)),
    }


def _arms(asked: Asked, candidates: Sequence[Candidate]) -> _Arms:
    found = _placed((c.lexical_place, c.passage.id, c.lexical_score) for c in candidates)
    near = _placed((c.vector_place, c.passage.id, c.vector_score) for c in candidates)
    trust = _trust(asked, candidates)
    scaled, close = scaled_to_best(found), scaled_to_pool(near)
    lexical = {c.passage.id: trust * scaled.get(c.passage.id, 0.0) for c in candidates}
    meaning = {c.passage.id: close.get(c.passage.id, 0.0) for c in candidates}
    words = dict(lexical)
    if any(lexical.values()):
        for candidate in candidates:
            if candidate.passage.script != asked.script:
                id_ = candidate.passage.id
                words[id_] = max(words[id_], ACROSS_SCRIPTS * meaning[id_])
    return _Arms(found, near, lexical, words, meaning)


def _placed(rows: Iterable[tuple[int | None, int, float]]) -> list[tuple[int, float]]:
    placed = sorted((place, id_, score) for place, id_, score in rows if place is not None)
    return [(id_, score) for _, id_, score in placed]


def _trust(asked: Asked, candidates: Sequence[Candidate]) -> float:
    """From 0 to 1: whether the best matches of the lexical arm match what the question is about."""
    if not asked.weights:
        return 1.0
    best = [c for c in candidates if c.lexical_place is not None and c.lexical_place <= BEST_MATCHES]
    shares = [signals.share_found(asked.weights, _terms_found(asked, candidate)) for candidate in best]
    return min(1.0, max(shares, default=0.0) / TRUSTED_SHARE)


def _terms_found(asked: Asked, candidate: Candidate) -> set[str]:
    chunk = candidate.passage.chunk
    around = f"{candidate.passage.path} {chunk.symbol} {chunk.heading}"
    return terms_among(chunk.text, asked.weights) | asked.weights.keys() & set(path_terms(around))


def _several(scores: Mapping[int, float], of_file: Mapping[FileKey, list[int]]) -> dict[FileKey, float]:
    """The mean of each file's best passages over the best such mean."""
    means = {
        key: sum(sorted((scores[id_] for id_ in ids), reverse=True)[:SEVERAL]) / SEVERAL
        for key, ids in of_file.items()
    }
    most = max(means.values(), default=0.0)
    return {key: value / most if most else 0.0 for key, value in means.items()}


def _places(candidate: Candidate, fused: float) -> Signals:
    places = {"rrf": fused}
    if candidate.lexical_place is not None:
        places["lexicalRank"] = candidate.lexical_place
    if candidate.vector_place is not None:
        places["vectorRank"] = candidate.vector_place
        places["cosine"] = candidate.vector_score
    return places
