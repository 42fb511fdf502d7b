"""The terms of one word: folding, the parts of an identifier, stems or pairs of characters by script."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from .stems import stem_arabic, stem_cyrillic, stem_latin

_MAX_TERM = 100
_MAX_PARTS = 12
_MARKS_OF_CYRILLIC_LETTERS = {("и", "\u0306"), ("у", "\u0306"), ("і", "\u0308")}
_PLAIN_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "ґ": "г", "ð": "d", "þ": "th"}
)
_POINTS = re.compile("[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0483-\u0487]")
_NOT_IN_TERM = re.compile(r"['’ʼ＇‘`-]")
_ELISION = re.compile(r"(?:[cdjlmnst]|qu)['’ʼ](?=[^\W\d_]{2})", re.IGNORECASE)
_PAIRED_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x109F),  # Tibetan, Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),
    (0x3040, 0x30FF),  # kana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x323AF),
)
_HANGUL = ((0x1100, 0x11FF), (0x3130, 0x318F), (0xAC00, 0xD7AF))
ASCII_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def word_terms(word: str, language: str) -> tuple[str, ...]:
    """The terms of a word without blanks, the whole first if it has several parts.

    `language` is one of `stems.LATIN_LANGUAGES`, for words in Latin script.
    """
    if "." in word:
        parts = word.split(".")
        return (word.replace(".", "_")[:_MAX_TERM], *parts)
    pieces = [piece for segment in re.split("[-_]", word) for piece in _parts(segment)]
    if not pieces:
        return ()
    if len(pieces) == 1:
        return _part_terms(*pieces[0], language)
    scripts = {script for _, script in pieces}
    whole = "".join(folded for folded, _ in pieces)
    # Written in one piece it would be stemmed as one word.
    whole = _part_terms(whole, scripts.pop(), language)[0] if len(scripts) == 1 else whole[:_MAX_TERM]
    if len(pieces) > _MAX_PARTS:  # a hash, a key, encoded bytes: its parts mean nothing
        return (whole,)
    terms: list[str] = [] if any(script in "ph" for _, script in pieces) else [whole]
    for folded, script in pieces:
        terms.extend(_part_terms(folded, script, language))
    return tuple(terms)


def _parts(segment: str) -> list[tuple[str, str]]:
    """The parts of an identifier without separators, folded, each with the letter of its script."""
    elided = _ELISION.match(segment)
    if elided is not None:
        return [*_parts(segment[elided.end() :])]
    segment = _NOT_IN_TERM.sub("", segment)
    if segment.isascii():
        return [(part.lower(), "0" if part[0].isdigit() else "l") for part in ASCII_PART.findall(segment)]
    parts: list[tuple[str, str]] = []
    start = 0
    scripts = [_script(char) for char in segment]
    for i in range(1, len(segment) + 1):
        if i == len(segment) or _is_boundary(segment, scripts, start, i):
            folded = fold(segment[start:i])
            if folded and scripts[start] != "-":
                parts.append((folded, scripts[start]))
            start = i
    return parts


def _is_boundary(segment: str, scripts: list[str], start: int, i: int) -> bool:
    if scripts[i] == "m":
        scripts[i] = scripts[i - 1]
        return False
    if scripts[i] != scripts[i - 1]:
        return True
    if not segment[i].isupper():
        return False
    return segment[i - 1].islower() or (i + 1 < len(segment) and segment[i + 1].islower() and i > start)


def _script(char: str) -> str:
    """One letter for what a character is: latin, cyrillic, arabic, pairs, hangul, mark, other, 0 or -."""
    code = ord(char)
    if code < 0x250:
        return "0" if char.isdigit() else "l" if char.isalpha() else "-"
    if unicodedata.category(char)[0] == "M":
        return "m"
    if char.isnumeric() and not char.isalpha():
        return "0"
    if not char.isalpha():
        return "-"
    if 0x400 <= code <= 0x52F:
        return "c"
    if 0x600 <= code <= 0x6FF or 0x750 <= code <= 0x77F:
        return "a"
    if any(low <= code <= high for low, high in _PAIRED_BLOCKS):
        return "p"
    if any(low <= code <= high for low, high in _HANGUL):
        return "h"
    return "l" if 0x1E00 <= code <= 0x1EFF else "o"


def fold(word: str) -> str:
    """The word case-folded, without accents, points and stress marks; `ё` is `е`, `ґ` is `г`, `й` stays."""
    if word.isascii():
        return word.lower()
    word = _POINTS.sub("", word.casefold()).translate(_PLAIN_LETTERS)
    kept: list[str] = []
    for char in unicodedata.normalize("NFD", word):
        if not "\u0300" <= char <= "\u036f" or (kept and (kept[-1], char) in _MARKS_OF_CYRILLIC_LETTERS):
            kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def _part_terms(part: str, script: str, language: str) -> tuple[str, ...]:
    part = part[:_MAX_TERM] if script not in "ph" else part
    if script == "l":
        return (stem_latin(part, language),)
    if script == "c":
        return (stem_cyrillic(part),)
    if script == "a":
        return (stem_arabic(part),)
    if script == "p":
        return _pairs(part)
    if script == "h":
        return (part[:_MAX_TERM], *_pairs(part)) if len(part) > 2 else (part,)
    return (part,)


def _pairs(part: str) -> tuple[str, ...]:
    """Every two neighbouring characters, marks kept with their letter; a lone character as it is."""
    letters: list[str] = []
    for char in part:
        if letters and unicodedata.category(char)[0] == "M":
            letters[-1] += char
        else:
            letters.append(char)
    if len(letters) < 2:
        return tuple(letters)
    return tuple(first + second for first, second in pairwise(letters))
