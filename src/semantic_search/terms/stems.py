"""Light stems, by script, so that forms of one word meet; each depends on the word alone.

Snowball (https://snowballstem.org) does most of the work. Its stemmers only cut endings, which the Cyrillic
rule builds on: letters that only Ukrainian and Belarusian have are read as their Russian neighbours to find
the length of the stem, and the stem keeps its own letters, so that `і`, `ї` and `и` stay apart.
"""

from __future__ import annotations

import re
import threading
from typing import Protocol


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


_AS_RUSSIAN = str.maketrans("іїєґў", "ииегу")
_UKRAINIAN_DATIVE = re.compile(r"(?<=.{3})[оеє]ві$")
_ABSTRACT_NOUN = re.compile(r"(?<=.{3})(?:істю|ість|ості|остей)$")
_ADJECTIVE = re.compile(r"(?<=.{3})(?:ськ|ск|нн|н|ов|ев|єв)$")
_LAST_VOWEL = re.compile(r"(?<=.{4})[аеиіоуыэюяєїьй]$")

# A stemmer holds the word it works on: one a thread.
_stemmers = threading.local()


def _snowball(language: str, word: str) -> str:
    by_language: dict[str, _Stemmer] = _stemmers.__dict__
    stemmer = by_language.get(language)
    if stemmer is None:
        import snowballstemmer

        stemmer = by_language[language] = snowballstemmer.stemmer(language)
    return str(stemmer.stemWord(word))


def stem_latin(word: str) -> str:
    """The English stem (Porter 2) of a folded word."""
    return _snowball("english", word)


def stem_cyrillic(word: str) -> str:
    """The stem of a folded Russian or Ukrainian word, without endings, `-ськ-`, `-н-`, `-ов-`."""
    word = _ABSTRACT_NOUN.sub("ост", _UKRAINIAN_DATIVE.sub("", word))
    word = word[: len(_snowball("russian", word.translate(_AS_RUSSIAN)))]
    return _LAST_VOWEL.sub("", _ADJECTIVE.sub("", word))


def stem_arabic(word: str) -> str:
    """The Arabic stem of a folded word: articles, prefixes and suffixes go, forms of alef are one."""
    return _snowball("arabic", word)
