"""The one packer: blocks of a document, and where each may be cut, become chunks within a budget.

A format module only says what the blocks are (`Block`); sizes are decided here. Cut points have an order of
preference, best first: the block's own `cuts`, then paragraphs, lines, sentences, words, any token. The best
kind that fills at least half of the budget wins (ordered levels are the
idea of the `text-splitter` crate).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from operator import sub

from .headers import fit_names, fit_trail, header_tokens

_TOLERANCE = 1.25
_TINY_CHARS_OF_BLANK_START = 200
_SENTENCE_END = re.compile(r"[.!?…][\"'»”’)\]]*\s+|[。！？][」』”]?\s*")
_PARAGRAPH_START = re.compile(r"\n[^\S\n]*\n")
_PARAGRAPH_BEFORE = re.compile(r"\n[^\S\n]*\n\s*\Z")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Budget:
    """Sizes in tokens: what a chunk aims at, what a split repeats, what none may exceed (header included)."""

    target: int = 200
    overlap: int = 35
    limit: int = 500

    def __post_init__(self) -> None:
        if self.target < 1 or self.limit < 1 or self.overlap < 0:
            raise ValueError(f"a budget needs a positive target and limit, not {self}")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document that reads as one: a section, a definition, a run of statements.

    `level` is its depth (0 outermost); neighbours merge downwards and sideways, not upwards. `trail` are the
    headings above it, `names` the definitions it holds or lies in (`minor`:
    constants and the like, named last). `cuts` are ascending offsets, the best
    kind first; `solids` are spans kept whole where they fit. `overlaps`: a split repeats some text.
    """

    start: int
    end: int
    level: int = 0
    trail: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    minor: tuple[str, ...] = ()
    kind: str = ""
    cuts: tuple[Sequence[int], ...] = ()
    solids: tuple[tuple[int, int], ...] = ()
    overlaps: bool = True


@dataclass(frozen=True, slots=True)
class Merging:
    """When neighbours become one chunk: either has fewer than `small` tokens (`tiny`, to go up a level)."""

    small: int
    tiny: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A span to become a chunk, with its header already fitted."""

    start: int
    end: int
    heading: str
    symbol: str
    kind: str


class TokenIndex:
    """Counts tokens of slices by their starts, from one pass of the tokenizer.

    A tokenizer may see a very long word, or a run of blanks, as one token or none. Such gaps get starts of
    their own, so that no slice is long in characters yet short in tokens.
    """

    _LONGEST_WORD = 64
    _LONGEST_BLANK = 256

    def __init__(self, text: str, starts: Sequence[int]) -> None:
        self._length = len(text)
        own = list(starts)
        edges = [0, *own, self._length]
        widest = max(map(sub, islice(edges, 1, None), edges))
        gaps = (
            [(a, b) for a, b in pairwise(edges) if b - a > self._LONGEST_WORD]
            if widest > self._LONGEST_WORD
            else []
        )
        extra: list[int] = []
        for a, b in gaps:
            word_end = a + len(text[a:b].rstrip())
            if word_end - a > self._LONGEST_WORD:
                extra.extend(range(a, word_end, 2))
            if b - word_end > self._LONGEST_BLANK:
                extra.extend(range(word_end, b, 32))
        self._starts = sorted([*own, *extra]) if extra else own

    def count(self, start: int, end: int) -> int:
        """How many tokens start in [start, end)."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def reach(self, start: int, tokens: int) -> int:
        """The furthest end of a slice from `start` with at most `tokens` tokens, at least a character."""
        at = bisect_left(self._starts, start) + tokens
        if at >= len(self._starts):
            return self._length
        return max(self._starts[at], min(start + 1, self._length))

    def back(self, end: int, tokens: int) -> int:
        """The earliest start of a slice to `end` with at most `tokens` tokens."""
        at = bisect_left(self._starts, end) - tokens
        return self._starts[at] if at > 0 else 0


def pack(
    text: str, tokens: TokenIndex, blocks: Sequence[Block], budget: Budget, merging: Merging
) -> Iterator[Piece]:
    """The pieces of a document, in order, from blocks that partition it; blank ones are left out."""
    group: Block | None = None
    for block in blocks:
        if not _has_text(text, block.start, block.end):
            continue
        if group is None:
            group = block
        elif _may_merge(tokens, group, block, budget, merging):
            group = _merged(group, block)
        else:
            yield from _pieces(text, tokens, group, budget)
            group = block
    if group is not None:
        yield from _pieces(text, tokens, group, budget)


def fits_whole(size: int, budget: Budget) -> bool:
    """Whether a unit of `size` tokens is better kept whole than cut: at most a quarter over the target."""
    return size <= min(int(budget.target * _TOLERANCE), budget.limit - budget.limit // 3)


def _has_text(text: str, start: int, end: int) -> bool:
    blank = _SPACE.match(text, start, end)
    return start < end and (blank is None or blank.end() < end)


def _may_merge(tokens: TokenIndex, group: Block, block: Block, budget: Budget, merging: Merging) -> bool:
    together = tokens.count(group.start, block.end)
    smaller = min(tokens.count(group.start, group.end), tokens.count(block.start, block.end))
    if block.level < group.level:
        return smaller < merging.tiny and fits_whole(together, budget)
    return smaller < merging.small and (
        together <= min(budget.target, budget.limit)
        or (smaller < merging.tiny and fits_whole(together, budget))
    )


def _merged(group: Block, block: Block) -> Block:
    shared = 0
    for mine, other in zip(group.trail, block.trail, strict=False):
        if mine != other:
            break
        shared += 1
    return replace(
        group,
        end=block.end,
        trail=group.trail[:shared] or group.trail or block.trail,
        names=tuple(dict.fromkeys((*group.names, *block.names)))[:8],
        minor=tuple(dict.fromkeys((*group.minor, *block.minor)))[:8],
        kind=block.kind if block.names and not group.names else group.kind or block.kind,
        cuts=(),
        solids=group.solids + block.solids,
    )


def _pieces(text: str, tokens: TokenIndex, block: Block, budget: Budget) -> Iterator[Piece]:
    size = tokens.count(block.start, block.end)
    if size <= budget.target or fits_whole(size, budget):
        room = budget.limit - size
        if size <= budget.limit and (piece := _piece(text, block, block.start, block.end, room)):
            yield piece
        if size <= budget.limit:
            return
    header = header_tokens(*_header(block, budget.limit // 3))
    hard = budget.limit - header
    for start, end in _Splitter(text, tokens, block, budget, hard).spans():
        if piece := _piece(text, block, start, end, budget.limit - tokens.count(start, end)):
            yield piece


def _header(block: Block, room: int) -> tuple[str, str]:
    """Heading and symbol; a chunk shows the model only the first that is there, so only that must fit."""
    room = max(room, 0)
    heading = fit_trail(block.trail, room)
    return heading, fit_names((*block.names, *block.minor), room)


def _piece(text: str, block: Block, start: int, end: int, room: int) -> Piece | None:
    """The span without blank lines around it; indentation stays, blanks at a cut inside a line do not."""
    blank = _SPACE.match(text, start, end)
    if blank is not None:
        line = text.rfind("\n", start, blank.end()) + 1
        at_line_start = line > start or start == 0 or text[start - 1] == "\n"
        keep = max(line, start) if at_line_start else blank.end()
        start = keep if blank.end() - keep <= _TINY_CHARS_OF_BLANK_START else blank.end()
    end = start + len(text[start:end].rstrip())
    if start >= end:
        return None
    heading, symbol = _header(block, room)
    return Piece(start, end, heading, symbol, block.kind)


@dataclass(frozen=True, slots=True)
class _Splitter:
    """Cuts one block that is over the target."""

    text: str
    tokens: TokenIndex
    block: Block
    budget: Budget
    hard: int

    def spans(self) -> Iterator[tuple[int, int]]:
        """Spans that cover the block, in order, each within the hard limit; later ones may repeat text."""
        end = self.block.end
        overlap = min(self.budget.overlap, self.hard // 3, self.budget.target) if self.block.overlaps else 0
        most = max(1, min(self.budget.target, self.hard - overlap))
        fresh = start = self.block.start
        while fresh < end:
            stop = self._stop(fresh, most, self.hard - self.tokens.count(start, fresh))
            if _has_text(self.text, fresh, stop):
                yield start, stop
            fresh = stop
            again = self._overlap_start(start, stop, overlap) if overlap and stop < end else stop
            # A chunk must not hold the whole of the one before it.
            start = again if _has_text(self.text, start, again) else stop

    def _stop(self, start: int, most: int, hard: int) -> int:
        """Where the span whose own text begins at `start` ends: parts are about equal, none over `most`."""
        end = self.block.end
        left = self.tokens.count(start, end)
        if left <= min(int(most * _TOLERANCE), hard):
            return end
        parts = -(-left // most)
        room = min(most, -(-left // parts) + most // 10)
        stop = self._cut(start, min(end, self.tokens.reach(start, room)), room)
        return self._around_solid(start, stop, hard)

    def _cut(self, start: int, reach: int, room: int) -> int:
        least = min(reach, self.tokens.reach(start, room // 2))
        for offsets in self.block.cuts:
            at = bisect_right(offsets, reach) - 1
            if at >= 0 and offsets[at] >= max(least, start + 1):
                return offsets[at]
        for find in (self._paragraph, self._line, self._sentence, self._word):
            found = find(max(least, start + 1), reach)
            if found > start:
                return found
        return reach

    def _paragraph(self, low: int, high: int) -> int:
        at = -1
        for match in _PARAGRAPH_START.finditer(self.text, max(low - 2, 0), high):
            at = match.end() if match.end() <= high else at
        return at if at >= low else -1

    def _line(self, low: int, high: int) -> int:
        return self.text.rfind("\n", low - 1, high) + 1 or -1

    def _sentence(self, low: int, high: int) -> int:
        ends = [match.end() for match in _SENTENCE_END.finditer(self.text, max(low - 1, 0), high)]
        return ends[-1] if ends and ends[-1] >= low else -1

    def _word(self, low: int, high: int) -> int:
        for at in range(high, low - 1, -1):
            if self.text[at - 1].isspace():
                return at
        return -1

    def _around_solid(self, start: int, stop: int, hard: int) -> int:
        """`stop` moved out of a span that is kept whole: behind it if that fits, else before it."""
        solids = self.block.solids
        at = bisect_left(solids, (stop, 0)) - 1
        if at < 0 or not solids[at][0] < stop < solids[at][1]:
            return stop
        first, last = solids[at]
        if self.tokens.count(start, last) <= hard:
            return last
        if (
            first > start
            and self.tokens.count(first, last) <= self.hard
            and _has_text(self.text, start, first)
        ):
            return first
        return stop

    def _overlap_start(self, start: int, stop: int, overlap: int) -> int:
        """The start of a line, sentence or word among the last `overlap` tokens, else `stop`."""
        named = bool(self.block.names or self.block.minor)
        if not named and _PARAGRAPH_BEFORE.search(self.text, max(stop - 80, start), stop):
            return stop  # cut between paragraphs: nothing was torn
        low = max(self.tokens.back(stop, overlap), start + 1)
        line = self.text.find("\n", low - 1, stop) + 1
        if line and _has_text(self.text, line, stop):
            return line
        if named:
            return stop
        for pattern in (_SENTENCE_END, _SPACE):
            match = pattern.search(self.text, low, stop)
            if match is not None and match.end() < stop:
                return match.end()
        return stop
