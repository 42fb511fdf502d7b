"""What a file's place, name and definitions say about a question. Pure functions with values from 0 to 1."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from .terms import index_terms, path_terms

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->|/)[A-Za-z_$][\w$]*)*(?:\(\))?[!?]?")
_LAST_PART = re.compile(r"[\w$]+")
_HAS_JOINT = re.compile(r"[a-z0-9][A-Z]|_|\.|::|#|->|\(\)")

_QUOTED = re.compile(r"\"([^\"]{3,})\"|“([^”]{3,})”|«([^»]{3,})»|`([^`]{3,})`")

_TEST = re.compile(
    r"(^|/)(tests?|testing|spec|specs|__tests__|e2e|testdata|fixtures?|mocks?|__mocks__)(/|$)"
    r"|(^|/)(test_[^/]*|conftest\.py|[^/]*[._-](test|tests|spec|specs)\.[^/]+|[^/]*(Test|Tests|Spec|TestCase)\.\w+)$"
)
_EXAMPLE = re.compile(
    r"(^|/)(examples?|samples?|demos?|bench|benches|benchmarks?|playground|tutorials?|docs_src|scripts?)(/|$)"
)
_VENDORED = re.compile(
    r"(^|/)(vendor|vendored|_vendor|third_party|thirdparty|external|deps|extern|node_modules)(/|$)"
)
_LEGACY = re.compile(r"(^|/)(legacy|deprecated|obsolete|old|compat|attic|archive)(/|$|[._-])|(^|/)_?compat\.")
_GENERATED = re.compile(
    r"\.(min|bundle)\.(js|css)$|\.(lock|snap|map)$|[._](pb|pb2|pb2_grpc|generated|g|freezed|gen)\.\w+$"
    r"|(^|/)(package-lock\.json|pnpm-lock\.yaml|go\.sum|generated|__generated__)(/|$)"
)
_HIDDEN = re.compile(r"(^|/)\.[^/]+/")
_FILE_NAME = re.compile(r"\.{0,2}/?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[a-z][a-z0-9]{0,9}")
_ASKS_FOR_TEST = frozenset(index_terms("test tests testing spec specs fixture mock тест тести тесты"))
_ASKS_FOR_EXAMPLE = frozenset(
    index_terms("example examples sample samples demo benchmark tutorial script scripts приклад пример")
)


def inverse_frequencies(frequencies: Mapping[str, int], passages: int) -> dict[str, float]:
    """How much each term tells: ln(1 + (N - n + 0.5) / (n + 0.5)).

    As BM25 has it (Robertson and Zaragoza, FnTIR 3(4), 2009).
    """
    return {
        term: math.log(1 + (passages - min(count, passages) + 0.5) / (min(count, passages) + 0.5))
        for term, count in frequencies.items()
    }


def share_found(weights: Mapping[str, float], found: Collection[str]) -> float:
    """The share of a question's weight that lies in terms which are found."""
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in found) / total if total else 0.0


def coverage(asked: Collection[str], terms: Collection[str]) -> float:
    """The share of a name's terms that the question has."""
    return sum(1 for term in terms if term in asked) / len(terms) if terms else 0.0


@lru_cache(maxsize=1 << 14)
def terms_of_path(path: str) -> frozenset[str]:
    """The terms of a whole path."""
    return frozenset(path_terms(path))


@lru_cache(maxsize=1 << 14)
def terms_of_stem(path: str) -> frozenset[str]:
    """The terms of a file's name without its extension; of its directory where the name says nothing."""
    *directories, name = path.split("/")
    stem = name[1:].partition(".")[0]
    stem = name[:1] + stem
    if stem.lower() in _SAYS_NOTHING and directories:
        stem = directories[-1]
    return frozenset(index_terms(stem))


_SAYS_NOTHING = frozenset(
    {"__init__", "__main__", "index", "mod", "main", "lib", "init", "readme", "package"}
)


def terms_of_names(names: Iterable[str]) -> frozenset[str]:
    """The terms of the names that a file or passage defines."""
    return frozenset().union(*map(_terms_of_name, names))


@lru_cache(maxsize=1 << 16)
def _terms_of_name(name: str) -> frozenset[str]:
    return frozenset(index_terms(name))


def asked_symbol(query: str) -> str:
    """The last part of the identifier that a question consists of (`c` of `a.b::c()`), else an empty string.

    One plain word is taken for one only by its look: a capital inside, an underscore, a joint or a call.
    """
    text = query.strip().strip("`'\"")
    if not _IDENTIFIER.fullmatch(text):
        return ""
    if not _HAS_JOINT.search(text) and not text[:1].isupper():
        return ""
    return _last(text)


def phrases_of(query: str) -> tuple[str, ...]:
    """What of a question may stand in a text as it is: its quoted parts, else all of it, if several words."""
    quoted = [part for pair in _QUOTED.findall(query) for part in pair if part]
    phrases = (phrase.casefold().split() for phrase in (quoted or [query]))
    return tuple(" ".join(words) for words in phrases if len(words) > 1)


def holds_phrase(phrases: Sequence[str], text: str) -> bool:
    """Whether one of the phrases stands in a text, case and line breaks apart."""
    if not phrases:
        return False
    flat = " ".join(text.casefold().split())
    return any(phrase in flat for phrase in phrases)


def identifiers_in(query: str) -> frozenset[str]:
    """The words of a question that look like identifiers: joined by `_` or a capital inside, or called."""
    return frozenset(
        part
        for word in query.split()
        if _HAS_JOINT.search(word)
        for part in _LAST_PART.findall(word)
        if len(part) > 2
    )


def share_of_identifiers(identifiers: Collection[str], text: str) -> float:
    """The share of identifiers that stand in a text, in their own spelling."""
    return sum(1 for name in identifiers if name in text) / len(identifiers) if identifiers else 0.0


def defines(symbol: str, names: Iterable[str]) -> bool:
    """Whether one of the names is a symbol's definition, alone or as the last part of a qualified name."""
    return any(_last(name) == symbol for name in names)


def _last(name: str) -> str:
    parts: list[str] = _LAST_PART.findall(name)
    return parts[-1] if parts else ""


def names_in(symbol: str) -> list[str]:
    """The names of a passage's symbol, which joins several by commas."""
    return [name for part in symbol.split(",") if (name := part.strip())]


def is_test(path: str) -> bool:
    """Whether a file is a test, a fixture or a mock."""
    return bool(_TEST.search(path))


def is_example(path: str) -> bool:
    """Whether a file is an example, a benchmark or a script beside the thing itself."""
    return bool(_EXAMPLE.search(path))


def is_second_hand(path: str) -> bool:
    """Whether a file is vendored, generated, a lock file, hidden, or kept for old times' sake."""
    return any(kind.search(path) for kind in (_VENDORED, _GENERATED, _LEGACY, _HIDDEN))


def is_declaration(path: str) -> bool:
    """Whether a file declares what another one holds: headers and stubs."""
    return path.endswith((".h", ".hh", ".hpp", ".hxx", ".pyi", ".d.ts", ".mli", ".hrl"))


def file_names_in(query: str) -> tuple[str, ...]:
    """The paths, or ends of paths, with an extension that a question names, in lower case."""
    words = (word.strip("`'\"()[]{},;:?!").rstrip(".").lower() for word in query.split())
    return tuple("/" + word.lstrip("./") for word in words if _FILE_NAME.fullmatch(word))


def is_named(names: Sequence[str], path: str) -> bool:
    """Whether a path is, or ends in, one of the file names of a question."""
    whole = f"/{path.lower()}"
    return any(whole.endswith(name) for name in names)


def asks_for_test(terms: Collection[str]) -> bool:
    """Whether a question is about tests."""
    return not _ASKS_FOR_TEST.isdisjoint(terms)


def asks_for_example(terms: Collection[str]) -> bool:
    """Whether a question is about examples, benchmarks or scripts."""
    return not _ASKS_FOR_EXAMPLE.isdisjoint(terms)
