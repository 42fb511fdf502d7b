"""The terms of a text: what the lexical arm matches, the same for every store.

A term holds letters, digits, combining marks and `_` only (Unicode categories L, M, N and the low line), so a
store may join terms by spaces; a store that splits them again must count all of these as parts of a word.

- Text is NFKC; terms are case-folded, `ё` is `е`, accents fall (`café` is `cafe`) but `й`, `ї` and `ў` are
  letters.
- An identifier gives itself without its separators, then its parts: `getUserById` and `get_user_by_id` both
  give `getuserbyid get user by id`; `1.2.3` gives `1_2_3 1 2 3`.
- Words are stemmed by script (module `stems`); Chinese, Japanese, Thai and the like are pairs of characters.
- No word is dropped for being common: BM25 weighs it down, and `the` or `d` can be what is asked for.

A passage's words in Latin script are stemmed in its own language where its function words tell that. A query
has too few words for it: it asks for the stems of each language, and one of them is the passage's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from itertools import chain

from .stems import LATIN_LANGUAGES, latin_language
from .words import ASCII_PART, fold, word_terms

TERMS_VERSION = 2
"""Changes whenever the same text gives other terms: an index made with another value must be rebuilt."""

_APOSTROPHES = "'’ʼ＇‘"
# Marks are no `\w` for `re`, and the blocks of scripts that write vowels as marks are taken whole.
_LETTER = (
    r"[\w\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u109f"
    r"\u1780-\u17ff\u3099\u309a]"
)
_WORD = re.compile(
    rf"\d+(?:\.\d+)+(?!\w)|{_LETTER}+(?:(?:[-{_APOSTROPHES}]|(?<=[\u0400-\u052f])`(?=[\u0400-\u052f])){_LETTER}+)*"
)
_ASCII_WORD = re.compile(r"\d+(?:\.\d+)+(?!\w)|\w+(?:[-']\w+)*", re.ASCII)
# Soft hyphens, zero-width characters, marks of direction, the Arabic tatweel: they stand inside words unseen.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u0640\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]+"
)
_NO_SEPARATOR = re.compile("[^-_]+")
_CACHED_WORDS = 1 << 17
_CACHED_LENGTH = 64


class _Cache(dict[str, tuple[str, ...]]):
    """The terms of each word seen, forgotten all at once when there are too many."""

    def __init__(self, language: str) -> None:
        self._language = language

    def __missing__(self, word: str) -> tuple[str, ...]:
        terms = word_terms(word, self._language)
        if len(word) <= _CACHED_LENGTH:
            if len(self) >= _CACHED_WORDS:
                self.clear()
            self[word] = terms
        return terms


_terms_of = {language: _Cache(language) for language in LATIN_LANGUAGES}


def index_terms(text: str) -> list[str]:
    """The terms of a passage, in the order of its words, as often as they occur."""
    words = _words(text)
    terms_of = _terms_of[latin_language(words)]
    return list(chain.from_iterable(map(terms_of.__getitem__, words)))


def terms_among(text: str, wanted: Collection[str]) -> set[str]:
    """Which of the wanted terms a passage has: what `index_terms` gives, without a stem for every word."""
    words = _words(text)
    terms_of = _terms_of[latin_language(words)]
    initials = {term[:1] for term in wanted}
    # Stems cut the ends of words: a plain word keeps its first letter.
    likely = {word for word in words if word[0] in initials or not _is_plain(word)}
    return {term for word in likely for term in terms_of[word] if term in wanted}


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower()


def query_terms(text: str) -> list[str]:
    """The terms of a question, in the order of its words, each once; none for blanks, signs or emoji."""
    found: dict[str, None] = {}
    for word in _words(text):
        for terms_of in _terms_of.values():
            found.update(dict.fromkeys(terms_of[word]))
    return list(found)


def spans_of(text: str, wanted: Collection[str]) -> list[tuple[int, int]]:
    """Where a passage has the wanted terms: (start, end) of words, of parts of identifiers, or of pairs of
    characters, in order and apart. A word counts as `index_terms` counts it, whatever its ending."""
    seen = _INVISIBLE.sub("", text)
    terms_of = _terms_of[latin_language(_words(text))]
    words = (_ASCII_WORD if seen.isascii() else _WORD).finditer(seen)
    found = [
        (word.start() + start, word.start() + end)
        for word in words
        for start, end in _spans_in(word[0], terms_of, wanted)
    ]
    if len(seen) == len(text):
        return found
    places = [place for place, character in enumerate(text) if not _INVISIBLE.match(character)]
    return [(places[start], places[end - 1] + 1) for start, end in found]


def _spans_in(word: str, terms_of: _Cache, wanted: Collection[str]) -> list[tuple[int, int]]:
    hit = {term for each in _words(word) for term in terms_of[each] if term in wanted}
    if not hit:
        return []
    spans: list[tuple[int, int]] = []
    for part in (ASCII_PART if word.isascii() else _NO_SEPARATOR).finditer(word):
        for start, end in _spans_in_part(part[0], terms_of, hit):
            start, end = part.start() + start, part.start() + end
            if spans and not word[spans[-1][1] : start].strip("-_.'"):
                start = spans.pop()[0]
            spans.append((start, end))
    # It may be wanted only as a whole: `getuserbyid` for `getUserById`.
    return spans or [(0, len(word))]


def _spans_in_part(part: str, terms_of: _Cache, hit: set[str]) -> list[tuple[int, int]]:
    terms = {term for each in _words(part) for term in terms_of[each]}
    if terms.isdisjoint(hit):
        return []
    if len(terms) > 1 and not part.isascii():
        pairs = [(n, n + 2) for n in range(len(part) - 1) if fold(part[n : n + 2]) in hit]
        if pairs:
            return pairs
    return [(0, len(part))]


def path_terms(path: str) -> list[str]:
    """The terms of a path (parts separated by `/`), its extension included, in order."""
    return list(chain.from_iterable(map(_terms_of["english"].__getitem__, _words(path))))


def _words(text: str) -> list[str]:
    """The words of a text as they stand, in order."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return _WORD.findall(unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)))
