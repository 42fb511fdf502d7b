"""Documents become chunks: verbatim slices that fit the model, cut where the text itself has joints.

Format modules say where those are (`markup`, `code`, `records`, `layout`); one packer decides sizes
(`packing`). Nothing here reads a file or runs a model: the tokenizer's single pass over the document comes in
as offsets.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from ..languages import grammar_of, kind_of, page_word
from ..types import Chunk, Document
from .code import definitions
from .layout import indented, prose
from .markup import MARKUP_LANGUAGES, sections
from .packing import Block, Budget, Merging, TokenIndex, pack
from .records import RECORD_LANGUAGES, records

__all__ = ["CHUNKER_VERSION", "Budget", "chunk_document"]

CHUNKER_VERSION = 5
"""Changes whenever the same document gives other chunks: part of the fingerprint of an index."""

_NEWLINE = re.compile("\n")


def chunk_document(document: Document, token_starts: Sequence[int], budget: Budget) -> list[Chunk]:
    """The chunks of a document, in the order of their ends; none for a document without text.

    `token_starts` are the ascending character offsets at which the model's tokens start in `document.text`.
    Every character that is no white space lies in a chunk. No chunk holds more than `budget.limit` tokens,
    its header included. Chunks overlap only where one paragraph, list or function had to be split.
    """
    text = document.text
    tokens = TokenIndex(text, token_starts)
    blocks, merging = _blocks(document, tokens, budget)
    newlines = [match.start() for match in _NEWLINE.finditer(text)]
    return [
        Chunk(
            piece.start,
            piece.end,
            bisect_left(newlines, piece.start) + 1,
            bisect_left(newlines, piece.end - 1) + 1,
            text[piece.start : piece.end],
            piece.heading,
            piece.symbol,
            piece.kind,
            max(bisect_right(document.pages, piece.start), 1) if document.pages else None,
        )
        for part in _parts(document, blocks)
        for piece in pack(text, tokens, part, budget, merging)
    ]


def _parts(document: Document, blocks: list[Block]) -> list[list[Block]]:
    """The blocks in runs across which nothing is merged: a passage of a slide is of no other.

    The cells of a notebook are often a line long, and the pages of a PDF tear paragraphs: those may be.
    """
    if document.language not in MARKUP_LANGUAGES or page_word(document.language) == "cell":
        return [blocks]
    parts: list[list[Block]] = [[]]
    starts = [page for page in dict.fromkeys(document.pages) if 0 < page < len(document.text)]
    for block in blocks:
        while starts and starts[0] < block.end:
            page = starts.pop(0)
            if page > block.start:
                parts[-1].append(replace(block, end=page))
                block = replace(block, start=page)
            parts.append([])
        parts[-1].append(block)
    return parts


def _blocks(document: Document, tokens: TokenIndex, budget: Budget) -> tuple[list[Block], Merging]:
    """The blocks of the document by the rules of its language, and when neighbours are merged."""
    text, language = document.text, document.language
    if language in MARKUP_LANGUAGES:
        return list(sections(text, language)), Merging(budget.target // 8, budget.target // 16)
    packed = Merging(budget.target, budget.target // 5)
    if language in RECORD_LANGUAGES:
        return records(text, language), packed
    grammar = grammar_of(language)
    if grammar is not None and (found := definitions(text, grammar, tokens, budget)) is not None:
        return found, packed
    if kind_of(language) in ("code", "config", "data"):
        return indented(text), packed
    return prose(text, document.pages), packed
