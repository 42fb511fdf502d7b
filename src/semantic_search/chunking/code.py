"""Blocks of source code: its definitions by syntax tree, or None where the tree is no help."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from .grammars import DEADLY, KINDS
from .layout import indent_cuts
from .outline import Item, outline
from .packing import Block, Budget, TokenIndex, fits_whole

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_MAX_CHARS = 2_000_000
_MOST_ERRORS = 0.5
# The parser asks every hundred of its operations whether to go on. Sources take a step for 30 bytes at most,
# most of them for 100, each of microseconds; text that is none may take a step a byte, each of milliseconds.
_STEPS = 300
_BYTES_A_STEP = 10
_MOST_SECONDS = 10.0
_SLICE = 1 << 14
_CLOSING = re.compile(r"(?:[)\]};,\s]|end\b){,200}")

# A grammar loads once for all threads; a parser holds state and belongs to one thread.
_loading = threading.Lock()
_parsers = threading.local()


def definitions(text: str, grammar: str, tokens: TokenIndex, budget: Budget) -> list[Block] | None:
    """Blocks that partition the source, one a definition (or a class head, a method, a run of statements).

    None where there are no rules for the grammar, the platform has no such library, the text is very long or
    would crash or stall the parser, or more than half of it does not parse.
    """
    if grammar not in KINDS or len(text) > _MAX_CHARS or _is_deadly(text, grammar):
        return None
    parser = _parser(grammar)
    if parser is None:
        return None
    source = text.encode("utf-8", "replace")
    root = _parsed(parser, source)
    if root is None or _is_mostly_errors(root):
        return None
    items = outline(root, grammar)
    if not items:
        return None
    to_char = _char_offsets(text, source)
    return list(_Layout(text, to_char, tokens, budget).blocks(items, 0, len(text), 0, None))


def _parsed(parser: Parser, source: bytes) -> Node | None:
    """The root of the syntax tree; None where looking for one takes far more steps than sources do.

    Steps are counted, so that the same text always gives the same chunks; time, of this thread alone, only
    ends what is beyond all measure.
    """
    most = _STEPS + len(source) // _BYTES_A_STEP
    end = time.thread_time() + _MOST_SECONDS
    steps = 0

    def read(offset: int, _: object) -> bytes:
        return source[offset : offset + _SLICE]

    def is_too_much(_offset: int, _has_error: bool) -> bool:
        nonlocal steps
        steps += 1
        return steps > most or time.thread_time() > end

    try:
        return parser.parse(read, progress_callback=is_too_much).root_node
    except ValueError:
        parser.reset()
        return None


def _is_deadly(text: str, grammar: str) -> bool:
    if grammar not in DEADLY:
        return False
    opening, pattern = DEADLY[grammar]
    start = text.find(opening)
    return start >= 0 and pattern.search(text, start) is not None


def _parser(grammar: str) -> Parser | None:
    parsers: dict[str, Parser | None] = _parsers.__dict__.setdefault("by_grammar", {})
    if grammar not in parsers:
        from semble_grammars import (
            GrammarLoadError,
            LanguageNotFoundError,
            UnsupportedPlatformError,
            get_language,
        )
        from tree_sitter import Parser

        with _loading:
            try:
                parsers[grammar] = Parser(get_language(grammar))
            except (GrammarLoadError, LanguageNotFoundError, UnsupportedPlatformError, OSError):
                parsers[grammar] = None
    return parsers[grammar]


def _is_mostly_errors(root: Node) -> bool:
    if not root.has_error:
        return False
    if root.type == "ERROR":
        return True
    wrong = sum(node.end_byte - node.start_byte for node in root.children if node.type == "ERROR")
    return wrong > _MOST_ERRORS * max(root.end_byte - root.start_byte, 1)


def _char_offsets(text: str, source: bytes) -> Callable[[int], int]:
    """A function from byte offsets in `source` to character offsets in `text`."""
    if len(source) == len(text):
        return int
    import numpy as np

    starts = (np.frombuffer(source, dtype=np.uint8) & 0xC0) != 0x80
    before = np.concatenate(([0], np.cumsum(starts, dtype=np.int64)))
    return lambda offset: int(before[min(offset, len(source))])


class _Layout:
    """Turns nested definitions into a flat run of blocks, descending only into what does not fit."""

    def __init__(self, text: str, to_char: Callable[[int], int], tokens: TokenIndex, budget: Budget) -> None:
        self._text = text
        self._to_char = to_char
        self._tokens = tokens
        self._budget = budget

    def blocks(
        self, items: list[Item], start: int, end: int, level: int, scope: Item | None
    ) -> Iterator[Block]:
        """Blocks that partition [start, end), which holds `items`, the members of `scope`."""
        at = start
        for i, item in enumerate(items):
            first = max(self._line_start(self._to_char(item.start), at), at)
            last = min(max(self._line_end(self._to_char(item.end)), first), end)
            if i + 1 < len(items):
                last = max(min(last, self._to_char(items[i + 1].start)), first)
            elif scope is not None and _CLOSING.fullmatch(self._text, last, end):
                last = end
            if scope is not None and at == start and self._fits(start, last):
                # The head of a class goes with its first member, not with what stands before the class.
                yield self._whole(scope, item, start, last, level - 1)
                at = last
                continue
            if first > at:
                yield self._loose(at, first, level, scope, opens=at == start)
            if last > first:
                yield from self._definition(item, first, last, level)
            at = max(last, at)
        if at < end:
            yield self._loose(at, end, level, scope, opens=at == start)

    def _fits(self, start: int, end: int) -> bool:
        size = self._tokens.count(start, end)
        return size <= self._budget.target or fits_whole(size, self._budget)

    @staticmethod
    def _whole(head: Item | None, item: Item, start: int, end: int, level: int) -> Block:
        above = (head.name,) if head is not None else ()
        names, minor = (*above, *item.names(minor=False)), tuple(item.names(minor=True))
        kind = head.kind if head is not None else item.kind
        return Block(start, end, level, (), names, minor, kind, overlaps=False)

    def _definition(self, item: Item, start: int, end: int, level: int) -> Iterator[Block]:
        if self._fits(start, end):
            yield self._whole(None, item, start, end, level)
        elif item.members:
            yield from self.blocks(item.members, start, end, level + 1, item)
        else:
            yield Block(
                start, end, level, (), (item.name,), (), item.kind, indent_cuts(self._text, start, end)
            )

    def _loose(self, start: int, end: int, level: int, scope: Item | None, opens: bool) -> Block:
        """What lies between definitions. The head of a class is one level up: members may follow it."""
        cuts = indent_cuts(self._text, start, end)
        if scope is None:
            return Block(start, end, level, cuts=cuts, overlaps=False)
        return Block(start, end, level - opens, (), (scope.name,), (), scope.kind, cuts, overlaps=False)

    def _line_start(self, offset: int, least: int) -> int:
        """The start of the line if only blanks stand before `offset` on it."""
        line = self._text.rfind("\n", least, offset) + 1 or least
        return line if not self._text[line:offset].strip() else offset

    def _line_end(self, offset: int) -> int:
        """Behind the line break if nothing but a comment mark or a separator follows on the line."""
        line = self._text.find("\n", offset, offset + 200)
        if line < 0:
            return offset
        rest = self._text[offset:line].strip()
        return line + 1 if not rest or rest in (";", ",", "};", ")") or rest[:1] in "#/" else offset
