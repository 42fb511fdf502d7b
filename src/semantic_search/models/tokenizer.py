"""Cuts texts into a model's tokens, with the `tokenizers` library."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ModelUnavailable
from . import pieces

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAK = re.compile(r"\s")
_SLICE = (
    20_000  # characters: the library holds some 150 bytes a token at once, and one slice keeps one core busy
)
_BATCH = 64  # slices
_UNKNOWN_LETTERS = 4  # an unknown stretch counts as one token for so many characters


class ModelTokenizer:
    """Tokens of texts. `special` counts the tokens that a model's input has around a text's own.

    Special tokens' names (`[CLS]`, `<s>`) in a text are text. Lone surrogates are read as U+FFFD.
    """

    def __init__(self, tokenizer: Tokenizer, unknown: int | None) -> None:
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
        return len(self._tokenizer.encode(clean(text), add_special_tokens=False).ids)

    def inputs(self, texts: Sequence[str], *, prefix: str, window: int) -> list[list[int]]:
        """For each text the ids that the model reads: special ones, prefix and text, at most `window`.

        What is too long is cut at its end.
        """
        room = window - self.special
        # Only runs of white space make a token longer than this; cutting first keeps a huge text cheap.
        prefixed = [prefix + clean(text[: 64 * window]) for text in texts]
        encodings = self._tokenizer.encode_batch(prefixed, add_special_tokens=False)
        return [[*self._begin, *encoding.ids[:room], *self._end] for encoding in encodings]

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the offsets, in characters, at which its tokens start; special tokens are left out.

        They never decrease.
        A stretch that the vocabulary does not cover is one token for the model however long it is (WordPiece
        makes one of any word over 100 letters). So that a count of tokens stays a measure of length, such a
        stretch counts as one token for each 4 characters.
        """
        starts: list[list[int]] = [[] for _ in texts]
        slices = _slices(texts)
        while batch := list(islice(slices, _BATCH)):
            encodings = self._tokenizer.encode_batch([part for _, _, part in batch], add_special_tokens=False)
            for (text, offset, _), encoding in zip(batch, encodings, strict=True):
                self._append_starts(starts[text], encoding, offset)
        return starts

    def _append_starts(self, starts: list[int], encoding: Encoding, offset: int) -> None:
        last = starts[-1] if starts else 0
        for id_, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            last = max(last, offset + start)
            starts.append(last)
            if id_ == self._unknown and end - start > _UNKNOWN_LETTERS:
                starts.extend(range(last + _UNKNOWN_LETTERS, offset + end, _UNKNOWN_LETTERS))
                last = starts[-1]


def clean(text: str) -> str:
    """The text with each lone surrogate, which has no UTF-8 form, replaced by U+FFFD; offsets stay."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def from_json(path: Path, unknown: int | None) -> ModelTokenizer:
    """The tokenizer that a `tokenizer.json` describes; `unknown` is its unknown token's id, if it has one.

    Raises ModelUnavailable naming the file.
    """
    tokenizers = _library()
    try:
        return ModelTokenizer(tokenizers.Tokenizer.from_file(str(path)), unknown)
    except Exception as error:
        # The library's errors are bare Exceptions.
        raise ModelUnavailable(f"{path} cannot be read: {error}. Download or copy it again.") from error


def from_pieces(folder: Path, special: pieces.SpecialIds) -> ModelTokenizer:
    """The tokenizer of an XLM-RoBERTa vocabulary that `pieces.write` wrote.

    Normalisation is NFKC. Words are separated by white space, each begins with a metaspace.
    """
    tokenizers = _library()
    vocabulary = pieces.read(folder)
    begin, end = vocabulary[special.begin][0], vocabulary[special.end][0]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(vocabulary, special.unknown, False))
    tokenizer.normalizer = tokenizers.normalizers.NFKC()
    split = tokenizers.pre_tokenizers
    tokenizer.pre_tokenizer = split.Sequence([split.WhitespaceSplit(), split.Metaspace()])
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, special.begin), (end, special.end)]
    )
    return ModelTokenizer(tokenizer, special.unknown)


def _library() -> Any:
    # Without a choice here the library warns on stderr in every child that is forked after its first use.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    import tokenizers

    return tokenizers


def _slices(texts: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Parts of texts, cut at white space where there is some: (index of the text, offset, part)."""
    for index, text in enumerate(texts):
        offset = 0
        while offset < len(text):
            end = _slice_end(text, offset)
            yield index, offset, clean(text[offset:end])
            offset = end


def _slice_end(text: str, offset: int) -> int:
    end = offset + _SLICE
    if end >= len(text):
        return len(text)
    space = _BREAK.search(text, end, end + _SLICE)
    return space.start() if space else end


def _template(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
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
