"""Tokenizers that a `tokenizer.json` describes, run by the `tokenizers` library."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelUnavailable
from .tokenizer import UNKNOWN_LETTERS, slices_of

if TYPE_CHECKING:
    import tokenizers

_SURROGATE = re.compile("[\ud800-\udfff]")
_BATCH = 64  # slices: the library holds some 150 bytes a token at once


class LibraryTokenizer:
    """Tokens of texts; see `tokenizer.Tokenizer` for what the methods give."""

    def __init__(self, tokenizer: tokenizers.Tokenizer, unknown: int | None) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        self._tokenizer = tokenizer
        self._begin, self._end = _template(tokenizer)
        self._unknown = unknown

    @property
    def special(self) -> int:
        """How many special tokens go around a text."""
        return len(self._begin) + len(self._end)

    def count(self, text: str) -> int:
        """How many tokens a text has, without special ones."""
        return len(self._tokenizer.encode(_clean(text), add_special_tokens=False).ids)

    def inputs(self, texts: Sequence[str], *, prefix: str, window: int) -> list[list[int]]:
        """For each text the ids that the model reads: special ones, prefix and text, at most `window`."""
        room = window - self.special
        # Only runs of white space make a token longer than this; cutting first keeps a huge text cheap.
        prefixed = [prefix + _clean(text[: 64 * window]) for text in texts]
        encodings = self._tokenizer.encode_batch(prefixed, add_special_tokens=False)
        return [[*self._begin, *encoding.ids[:room], *self._end] for encoding in encodings]

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the offsets, in characters, at which its tokens start."""
        starts: list[list[int]] = [[] for _ in texts]
        slices = slices_of(texts)
        while batch := list(islice(slices, _BATCH)):
            encodings = self._tokenizer.encode_batch(
                [_clean(part) for _, _, part in batch], add_special_tokens=False
            )
            for (text, offset, _), encoding in zip(batch, encodings, strict=True):
                self._append_starts(starts[text], encoding, offset)
        return starts

    def _append_starts(self, starts: list[int], encoding: tokenizers.Encoding, offset: int) -> None:
        last = starts[-1] if starts else 0
        for id_, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            last = max(last, offset + start)
            starts.append(last)
            if id_ == self._unknown and end - start > UNKNOWN_LETTERS:
                starts.extend(range(last + UNKNOWN_LETTERS, offset + end, UNKNOWN_LETTERS))
                last = starts[-1]


def from_json(path: Path, unknown: int | None) -> LibraryTokenizer:
    """The tokenizer that a `tokenizer.json` describes; `unknown` is its unknown token's id, if it has one.

    Raises ModelUnavailable naming the file.
    """
    library = _library()
    try:
        return LibraryTokenizer(library.Tokenizer.from_file(str(path)), unknown)
    except Exception as error:
        # The library's errors are bare Exceptions.
        raise ModelUnavailable(f"{path} cannot be read: {error}. Download or copy it again.") from error


def _library() -> Any:
    # Without a choice here the library warns on stderr in every child that is forked after its first use.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    import tokenizers

    return tokenizers


def _template(tokenizer: tokenizers.Tokenizer) -> tuple[list[int], list[int]]:
    """The ids that the model's template puts before and after a text."""
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    full = tokenizer.encode("a", add_special_tokens=True).ids
    before = next(
        (
            index
            for index in range(len(full) - len(bare) + 1)
            if bare and full[index : index + len(bare)] == bare
        ),
        0,
    )
    return full[:before], full[before + len(bare) :]


def _clean(text: str) -> str:
    """The text with each lone surrogate, which has no UTF-8 form, replaced by U+FFFD; offsets stay."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)
