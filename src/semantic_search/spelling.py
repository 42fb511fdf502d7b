"""Words one edit away: for a question's word that occurs nowhere."""

from __future__ import annotations

from collections.abc import Iterator

_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгґдеєжзиіїйклмнопрстуфхцчшщьюяыэъё",
    "αβγδεζηθικλμνξοπρστυφχψω",
)

SHORTEST = 5


def one_edit_away(word: str) -> Iterator[str]:
    """Every string that one letter left out, put in, replaced or swapped with its neighbour makes of a word.

    Damerau, CACM 7(3), 1964: four of five misspellings are one of these. Letters are those of the word's own
    alphabet; a word in an alphabet that is not here gives omissions and swaps only. In no particular order,
    each once, the word itself never.
    """
    letters = next((alphabet for alphabet in _ALPHABETS if any(c in alphabet for c in word)), "")
    seen = {word}
    for edited in _edits(word, letters):
        if edited not in seen:
            seen.add(edited)
            yield edited


def _edits(word: str, letters: str) -> Iterator[str]:
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in letters:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]
