"""Which Unicode scripts a text is written in, and whether a model reads them. Pure.

Ranges are those of Unicode's Scripts.txt joined over small gaps; letters outside them count as `Other`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from itertools import islice

from .rows import ALL_SCRIPTS

_RANGES: tuple[tuple[int, int, str], ...] = (
    (0x0041, 0x024F, "Latin"),
    (0x0250, 0x02AF, "Latin"),
    (0x0370, 0x03FF, "Greek"),
    (0x0400, 0x052F, "Cyrillic"),
    (0x0531, 0x058F, "Armenian"),
    (0x0591, 0x05F4, "Hebrew"),
    (0x0600, 0x06FF, "Arabic"),
    (0x0700, 0x074F, "Syriac"),
    (0x0750, 0x077F, "Arabic"),
    (0x0870, 0x08FF, "Arabic"),
    (0x0900, 0x097F, "Devanagari"),
    (0x0980, 0x09FF, "Bengali"),
    (0x0A00, 0x0A7F, "Gurmukhi"),
    (0x0A80, 0x0AFF, "Gujarati"),
    (0x0B00, 0x0B7F, "Oriya"),
    (0x0B80, 0x0BFF, "Tamil"),
    (0x0C00, 0x0C7F, "Telugu"),
    (0x0C80, 0x0CFF, "Kannada"),
    (0x0D00, 0x0D7F, "Malayalam"),
    (0x0D80, 0x0DFF, "Sinhala"),
    (0x0E00, 0x0E7F, "Thai"),
    (0x0E80, 0x0EFF, "Lao"),
    (0x0F00, 0x0FFF, "Tibetan"),
    (0x1000, 0x109F, "Myanmar"),
    (0x10A0, 0x10FF, "Georgian"),
    (0x1100, 0x11FF, "Hangul"),
    (0x1200, 0x139F, "Ethiopic"),
    (0x1780, 0x17FF, "Khmer"),
    (0x1800, 0x18AF, "Mongolian"),
    (0x1C80, 0x1C8F, "Cyrillic"),
    (0x1C90, 0x1CBF, "Georgian"),
    (0x1D00, 0x1D25, "Latin"),
    (0x1D26, 0x1D2A, "Greek"),
    (0x1D2C, 0x1DBF, "Latin"),
    (0x1E00, 0x1EFF, "Latin"),
    (0x1F00, 0x1FFF, "Greek"),
    (0x2090, 0x209C, "Latin"),
    (0x2C60, 0x2C7F, "Latin"),
    (0x2D00, 0x2D2F, "Georgian"),
    (0x2DE0, 0x2DFF, "Cyrillic"),
    (0x3005, 0x3007, "Han"),
    (0x3041, 0x309F, "Hiragana"),
    (0x30A0, 0x30FF, "Katakana"),
    (0x3130, 0x318F, "Hangul"),
    (0x31F0, 0x31FF, "Katakana"),
    (0x3400, 0x4DBF, "Han"),
    (0x4E00, 0x9FFF, "Han"),
    (0xA640, 0xA69F, "Cyrillic"),
    (0xA720, 0xA7FF, "Latin"),
    (0xA8E0, 0xA8FF, "Devanagari"),
    (0xA960, 0xA97F, "Hangul"),
    (0xAB30, 0xAB64, "Latin"),
    (0xAC00, 0xD7FF, "Hangul"),
    (0xF900, 0xFAFF, "Han"),
    (0xFB00, 0xFB06, "Latin"),
    (0xFB13, 0xFB17, "Armenian"),
    (0xFB1D, 0xFB4F, "Hebrew"),
    (0xFB50, 0xFDFF, "Arabic"),
    (0xFE70, 0xFEFC, "Arabic"),
    (0xFF21, 0xFF5A, "Latin"),
    (0xFF66, 0xFF9F, "Katakana"),
    (0xFFA0, 0xFFDC, "Hangul"),
    (0x20000, 0x323AF, "Han"),
)
_STARTS = [start for start, _, _ in _RANGES]

_DENSE = frozenset({"Han", "Hangul"})
_SAMPLE = 2000  # letters looked at: the first ones tell what a text is written in
_ENOUGH = (
    0.7  # the smallest share of readable letters: names and identifiers in between are no other language
)


def script_of(letter: str) -> str:
    """The name of a letter's script, `Other` where the table has none."""
    point = ord(letter)
    index = bisect_right(_STARTS, point) - 1
    if index >= 0 and point <= _RANGES[index][1]:
        return _RANGES[index][2]
    return "Other"


def count_scripts(text: str) -> Counter[str]:
    """How many of the first 2000 letters are of which script."""
    letters = Counter(islice(filter(str.isalpha, text), _SAMPLE))
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[script_of(letter)] += count
    return scripts


def can_read(text: str, scripts: frozenset[str]) -> bool:
    """Whether 70 % of the text's letters are of the given scripts; true for a text without letters."""
    if scripts == ALL_SCRIPTS:
        return True
    counts = count_scripts(text)
    readable = sum(count for script, count in counts.items() if script in scripts)
    return readable >= _ENOUGH * counts.total()


def trained_scripts(pieces: list[str]) -> frozenset[str]:
    """The scripts that a tokenizer's vocabulary has words for, as an estimate of what its model can read.

    A vocabulary spells any alphabet letter by letter; words show that text in it was in the training set. A
    script counts with 500 pieces of three letters or more (any length in Han and Hangul, whose letters are
    syllables or words). With six scripts or more the model reads ALL_SCRIPTS.
    """
    found: Counter[str] = Counter()
    for piece in pieces:
        letters = "".join(filter(str.isalpha, piece))
        if letters:
            script = script_of(letters[0])
            if len(letters) >= 3 or script in _DENSE:
                found[script] += 1
    least = {script: 1500 if script in _DENSE else 500 for script in found}
    scripts = frozenset(
        script for script, count in found.items() if count >= least[script] and script != "Other"
    )
    return ALL_SCRIPTS if len(scripts) >= 6 else scripts
