"""Light stems, by script, so that forms of one word meet; each depends on the word alone.

Snowball (https://snowballstem.org) does most of the work. Its stemmers only cut endings, which the Cyrillic
rule builds on: letters that only Ukrainian and Belarusian have are read as their Russian neighbours to find
the length of the stem, and the stem keeps its own letters, so that `і`, `ї` and `и` stay apart.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from typing import Protocol


class _Stemmer(Protocol):
    maxCacheSize: int  # noqa: N815 - the library's name

    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


_AS_RUSSIAN = str.maketrans("іїєґў", "ииегу")
_UKRAINIAN_DATIVE = re.compile(r"(?<=.{3})[оеє]ві$")
_ABSTRACT_NOUN = re.compile(r"(?<=.{3})(?:істю|ість|ості|остей)$")
_ADJECTIVE = re.compile(r"(?<=.{3})(?:ськ|ск|нн|н|ов|ев|єв)$")
_GERMAN_DERIVATION = re.compile(r"(?<=.{3})(?:[aeiou]|ier|ung|isch)$")
# The vowel that other forms do not have: `список` and `списку`, `хлопець` and `хлопця`, `конец` and `конца`.
_FLEETING_VOWEL = re.compile(r"(?<=.[бвгджзйклмнпрстфхцчшщ])[оеє](?=[кц]$)")
_LAST_VOWEL = re.compile(r"(?<=.{4})[аеиіоуыэюяєїьй]$")

LATIN_LANGUAGES = ("english", "german", "spanish")
"""Languages in Latin script that have stems of their own; others are stemmed as English."""

_FUNCTION_WORDS = {
    "english": frozenset({
        "the", "of", "and", "to", "is", "for", "with", "that", "this", "from", "are", "was", "by",
        "be", "it", "not",
    }),
    "german": frozenset({
        "der", "das", "und", "ist", "nicht", "ein", "eine", "einer", "eines", "mit", "von", "für",
        "auf", "den", "dem", "sich", "wird", "auch", "wie", "zu", "zur", "zum", "bei", "oder",
        "nach", "werden", "durch", "als", "aus", "sind", "im", "über", "wurde", "dass", "kann",
    }),
    "spanish": frozenset({
        "el", "los", "las", "que", "y", "en", "por", "con", "para", "una", "un", "del", "al",
        "como", "más", "su", "pero", "son", "fue", "entre", "está", "sus", "se", "lo",
    }),
}  # fmt: skip
_ENOUGH_FUNCTION_WORDS = 3

# A stemmer holds the word it works on: one a thread.
_stemmers = threading.local()


def _snowball(language: str, word: str) -> str:
    by_language: dict[str, _Stemmer] = _stemmers.__dict__
    stemmer = by_language.get(language)
    if stemmer is None:
        import Stemmer

        stemmer = by_language[language] = Stemmer.Stemmer(language)
        stemmer.maxCacheSize = 0  # the terms of whole words are remembered
    return str(stemmer.stemWord(word))


def latin_language(words: Sequence[str]) -> str:
    """Which of `LATIN_LANGUAGES` these words are in, by their function words; English if in doubt."""
    distinct = frozenset(words)
    hits = [(len(known & distinct), language) for language, known in _FUNCTION_WORDS.items()]
    most, language = max(hits)
    return language if most >= _ENOUGH_FUNCTION_WORDS else "english"


def stem_latin(word: str, language: str) -> str:
    """The Snowball stem of a folded word in one of `LATIN_LANGUAGES`, in German without `-ung`, `-ier`."""
    stem = _snowball(language, word)
    return _GERMAN_DERIVATION.sub("", stem) if language == "german" else stem


def stem_cyrillic(word: str) -> str:
    """The stem of a folded Russian or Ukrainian word, without endings, `-ськ-`, `-н-`, `-ов-`.

    A fleeting vowel goes whether the form has one or not; other vowels and consonants that change (`ніч` and
    `ночі`, `рука` and `руці`) stay: made one, they join more that is apart than they bring together.
    """
    word = _ABSTRACT_NOUN.sub("ост", _UKRAINIAN_DATIVE.sub("", word))
    word = word[: len(_snowball("russian", word.translate(_AS_RUSSIAN)))]
    # First, so that `список` and `списку` look the same to what takes `-ск-` for the ending of an adjective.
    return _LAST_VOWEL.sub("", _ADJECTIVE.sub("", _FLEETING_VOWEL.sub("", word)))


def stem_arabic(word: str) -> str:
    """The Arabic stem of a folded word: articles, prefixes and suffixes go, forms of alef are one."""
    return _snowball("arabic", word)
