"""What a tokenizer gives, and the slices in which tokenizers take long texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

UNKNOWN_LETTERS = 4
"""A stretch that a vocabulary does not cover counts as one token for so many characters."""

_BREAK = re.compile(r"\s")
_SLICE = 20_000  # characters: small enough that slices of one large text keep all cores busy


class Tokenizer(Protocol):
    """Cuts texts into a model's tokens. Safe to use from several threads.

    The names of special tokens (`[CLS]`, `<s>`) in a text are text. Lone surrogates count as unknown letters
    or as spaces.
    """

    @property
    def special(self) -> int:
        """How many special tokens go around a text."""

    def count(self, text: str) -> int:
        """How many tokens a text has, without special ones."""

    def inputs(self, texts: Sequence[str], *, prefix: str, window: int) -> list[list[int]]:
        """For each text the ids that the model reads: special ones, prefix and text, at most `window`.

        What is too long is cut at its end.
        """

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the offsets, in characters, at which its tokens start; special tokens are left out.

        Offsets never decrease. A stretch that the vocabulary does not cover is one token for the model,
        however long it is (WordPiece makes one of any word over 100 letters). So that a count of tokens stays
        a measure of length, such a stretch counts as one token for each 4 characters.
        """


def slices_of(texts: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Parts of texts, cut at white space where there is some: (index of the text, offset, part)."""
    for index, text in enumerate(texts):
        offset = 0
        while offset < len(text):
            end = _slice_end(text, offset)
            yield index, offset, text[offset:end]
            offset = end


def _slice_end(text: str, offset: int) -> int:
    end = offset + _SLICE
    if end >= len(text):
        return len(text)
    space = _BREAK.search(text, end, end + _SLICE)
    return space.start() if space else end
