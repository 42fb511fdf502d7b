"""XLM-RoBERTa's tokenizer over the vocabulary of `pieces`: NFKC, words at white space, Unigram segmentation.

What recurs is segmented once: words for the ids that a model reads, and for the offsets of all tokens of a
text the parts of words that no piece crosses (`joints`), found by array operations.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, cast

import numpy as np

from .joints import Joints
from .pieces import Segmenter, SpecialIds
from .tokenizer import UNKNOWN_LETTERS, slices_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SPACE = "\u2581"  # SentencePiece writes the space before a word as this letter
_SPACES = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# What NFKC keeps and XLM-RoBERTa's normaliser drops or reads as a space: controls, zero-width characters and
# direction marks, the metaspace, U+FFFD. Lone surrogates have no UTF-8 form. A space for each keeps offsets.
_BLANKS = "\x00-\x08\x0e-\x1f\x7f\x8f\x9f\u200b-\u200f\u2581\ud800-\udfff\ufeff\ufffd"
# A longer run of letters is cut: segmenting takes memory by the longest word.
_LONGEST = 128
_WORD = re.compile(f"[^{_SPACES}{_BLANKS}]{{1,{_LONGEST}}}")
_CONTINUED = "\0"  # before the rest of a cut word, which has no space in front; no word holds this letter

_GROUP = 250_000  # characters looked at together: some 10 MB of arrays
_CACHED_WORDS = 50_000  # some 15 MB
_CACHED_PARTS = 100_000  # some 15 MB
_CACHED_LENGTH = 40

Tokens = tuple[tuple[int, ...], tuple[int, ...]]  # ids, and offsets in the word at which they start


class UnigramTokenizer:
    """Tokens of texts; see `tokenizer.Tokenizer` for what the methods give."""

    def __init__(self, segmenter: Segmenter, special: SpecialIds) -> None:
        self._segmenter = segmenter
        self._special_ids = special
        self._cache: dict[str, Tokens] = {}
        self._parts: dict[str, tuple[int, ...]] = {}

    @property
    def special(self) -> int:
        """How many special tokens go around a text."""
        return 2

    def count(self, text: str) -> int:
        """How many tokens a text has, without special ones."""
        words = [word for _, word in _words(text, 0)]
        tokens = self._tokens(words)
        return sum(len(tokens[word][0]) for word in words)

    def inputs(self, texts: Sequence[str], *, prefix: str, window: int) -> list[list[int]]:
        """For each text the ids that the model reads: special ones, prefix and text, at most `window`."""
        room = window - self.special
        # Only runs of white space make a token longer than 64 characters.
        words = [[word for _, word in _words(prefix + text[: 64 * window], 0)] for text in texts]
        tokens = self._tokens({word for of_text in words for word in of_text[:room]})
        begin, end = self._special_ids.begin, self._special_ids.end
        return [
            [begin, *[id_ for word in of_text[:room] for id_ in tokens[word][0]][:room], end]
            for of_text in words
        ]

    def token_starts(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the offsets, in characters, at which its tokens start."""
        starts: list[list[int]] = [[] for _ in texts]
        for group in _groups(slices_of(texts)):
            # A space before each slice begins its first word and ends the last one of the slice before.
            joined = " ".join(["", *(part for _, _, part in group)])
            found = self._starts_in(joined)
            edge = 1
            for index, offset, part in group:
                low, high = np.searchsorted(found, (edge, edge + len(part)))
                starts[index] += (found[low:high] + (offset - edge)).tolist()
                edge += len(part) + 1
        return starts

    def _starts_in(self, text: str) -> NDArray[np.int64]:
        """The offsets at which the tokens of a text start, ascending. The text begins with a space."""
        spans = find_parts(text, self._segmenter.joints)
        odd = [] if unicodedata.is_normalized("NFKC", text) else _not_normal(text, spans)
        if odd:
            spans = spans.without([(start, start + len(word)) for start, word in odd])
        parts = spans.texts()
        offsets = self._offsets(parts)
        counts = np.fromiter(map(len, offsets), np.int64, len(offsets))
        starts = np.repeat(spans.starts, counts)
        starts += np.fromiter(chain.from_iterable(offsets), np.int64, len(starts))
        if not odd:
            return starts
        tokens = self._tokens([word for _, word in odd])
        of_odd = [start + offset for start, word in odd for offset in tokens[word][1]]
        return np.sort(np.concatenate([starts, np.array(of_odd, np.int64)]), kind="stable")

    def _offsets(self, parts: Sequence[str]) -> list[tuple[int, ...]]:
        """For each part the offsets in it at which its tokens start; those of short ones are remembered."""
        cache = self._parts
        offsets = list(map(cache.get, parts))
        if None not in offsets:
            return cast(list[tuple[int, ...]], offsets)
        new = list({part for part, known in zip(parts, offsets, strict=True) if known is None})
        found = dict(zip(new, self._offsets_of_new(new), strict=True))
        short = {part: known for part, known in found.items() if len(part) <= _CACHED_LENGTH}
        if len(cache) + len(short) > _CACHED_PARTS:
            self._parts = short if len(short) <= _CACHED_PARTS else {}
        else:
            cache.update(short)
        return [
            known if known is not None else found[part] for part, known in zip(parts, offsets, strict=True)
        ]

    def _offsets_of_new(self, parts: Sequence[str]) -> Iterator[tuple[int, ...]]:
        # A part that begins a word has the space before it in front, which lies where its first letter does.
        words = [_SPACE + part[1:] if part[0] == " " else part for part in parts]
        for word, (ids, starts) in zip(words, self._segmenter.segment(words), strict=True):
            places = _PLAIN if word[0] == _SPACE else _REST
            end = places[len(word)]
            yield tuple(self._spread(ids, [places[start] for start in starts], end))

    def _tokens(self, words: Collection[str]) -> dict[str, Tokens]:
        """The tokens of each word; the new ones are segmented together."""
        cache = self._cache
        known = {word: cache[word] for word in words if word in cache}
        new = list({word for word in words if word not in known})
        known.update(zip(new, self._segmented(new), strict=True))
        self._remember({word: known[word] for word in new if len(word) <= _CACHED_LENGTH})
        return known

    def _remember(self, new: dict[str, Tokens]) -> None:
        if len(self._cache) + len(new) > _CACHED_WORDS:
            self._cache = {}
        if len(new) <= _CACHED_WORDS:
            self._cache.update(new)

    def _segmented(self, words: Sequence[str]) -> Iterator[Tokens]:
        parts = [_parts(word) for word in words]
        segmented = iter(self._segmenter.segment([part for of_word in parts for part, _, _ in of_word]))
        for of_word in parts:
            ids: list[int] = []
            starts: list[int] = []
            for _, places, end in of_word:
                of_part, offsets = next(segmented)
                ids += of_part
                starts += self._spread(of_part, [places[offset] for offset in offsets], end)
            yield tuple(ids), tuple(starts)

    def _spread(self, ids: list[int], starts: list[int], end: int) -> list[int]:
        """The starts, with more of them in long stretches that no piece covers."""
        unknown = self._special_ids.unknown
        if unknown not in ids:
            return starts
        spread: list[int] = []
        for id_, start, stop in zip(ids, starts, [*starts[1:], end], strict=True):
            spread += range(start, stop, UNKNOWN_LETTERS) if id_ == unknown and stop > start else [start]
        return spread


_PLAIN: Sequence[int] = (
    0,
    *range(_LONGEST + 1),
)  # the space in front lies where the word's first letter does
_REST: Sequence[int] = range(_LONGEST + 1)


def _words(text: str, offset: int) -> Iterator[tuple[int, str]]:
    """The words of a text and their offsets; the rest of a word that was cut begins with `_CONTINUED`."""
    end = -1
    for match in _WORD.finditer(text):
        start = match.start()
        yield start + offset, _CONTINUED + match.group() if start == end else match.group()
        end = match.end()


def _parts(word: str) -> list[tuple[str, Sequence[int], int]]:
    """What of a word is segmented: text, offset in the word of each of its characters, end in the word."""
    if word.startswith(_CONTINUED):
        return [(word[1:], _REST, len(word) - 1)]
    if unicodedata.is_normalized("NFKC", word):
        return [(_SPACE + word, _PLAIN, len(word))]
    letters, places = _normalised(word)
    parts: list[tuple[str, Sequence[int], int]] = []
    # NFKC makes a space and a mark of some marks.
    for match in _WORD.finditer(letters):
        own = places[match.start() : match.end()]
        end = places[match.end()]
        parts.append((_SPACE + match.group(), [own[0], *own], end))
    return parts


def _normalised(word: str) -> tuple[str, list[int]]:
    """NFKC of a word, and for each of its characters and its end the offset that it comes from."""
    letters: list[str] = []
    places: list[int] = []
    start = 0
    for end in range(1, len(word) + 1):
        if end < len(word) and _joins(word[end]):
            continue
        normal = unicodedata.normalize("NFKC", word[start:end])
        letters.append(normal)
        places += [start] * len(normal)
        start = end
    return "".join(letters), [*places, len(word)]


def _joins(letter: str) -> bool:
    """Whether a letter may form one character with what is before it: a mark, a Hangul vowel or final."""
    return unicodedata.combining(letter) != 0 or "\u1160" <= letter <= "\u11ff"


def _groups(slices: Iterable[tuple[int, int, str]]) -> Iterator[list[tuple[int, int, str]]]:
    group: list[tuple[int, int, str]] = []
    size = 0
    for entry in slices:
        group.append(entry)
        size += len(entry[2])
        if size >= _GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


@dataclass(frozen=True, slots=True)
class _Spans:
    """Parts of words in a text: where each of n starts and ends, ascending, and whether it begins a word."""

    text: str
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    begins: NDArray[np.bool_]

    def without(self, stretches: Sequence[tuple[int, int]]) -> _Spans:
        """Those that start in none of the stretches, which are in order."""
        edges = np.array(stretches).reshape(-1)
        kept = np.searchsorted(edges, self.starts, side="right") % 2 == 0
        return _Spans(self.text, self.starts[kept], self.ends[kept], self.begins[kept])

    def texts(self) -> list[str]:
        """The part itself, behind a space where it begins a word."""
        text = self.text
        first = (self.starts - self.begins).tolist()
        return [text[start:end] for start, end in zip(first, self.ends.tolist(), strict=True)]


def find_parts(text: str, joints: Joints) -> _Spans:
    """The parts of all words of a text that begins with a space; whatever stands between words is a space."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").copy()
    blank = _blank()[points]
    points[blank] = ord(" ")
    inside = ~blank[1:]
    begins = np.zeros(len(points), np.bool_)
    begins[1:] = inside & blank[:-1]
    starts = begins.copy()
    starts[1:] |= inside & joints.between(points)
    ends = np.flatnonzero(~blank & np.append(blank[1:], True)) + 1
    firsts = np.flatnonzero(begins)
    for word in np.flatnonzero(ends - firsts > _LONGEST).tolist():
        starts[firsts[word] : ends[word] : _LONGEST] = True
    part_starts = np.flatnonzero(starts)
    part_ends = np.append(part_starts[1:], len(points))
    word_end = ends[np.searchsorted(ends, part_starts, side="right")]
    return _Spans(
        points.tobytes().decode("utf-32-le"),
        part_starts,
        np.minimum(part_ends, word_end),
        begins[part_starts],
    )


@cache
def _blank() -> NDArray[np.bool_]:
    """For each code point whether it stands between words."""
    table = np.zeros(0x110000, np.bool_)
    for low, high in re.findall("(.)(?:-(.))?", _SPACES + _BLANKS, re.DOTALL):
        table[ord(low) : ord(high or low) + 1] = True
    return table


def _not_normal(text: str, spans: _Spans) -> list[tuple[int, str]]:
    """The words that are not NFKC, as (offset, word), in order, without the rest of one that was cut."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    firsts = spans.starts[spans.begins]
    of_letter = np.searchsorted(firsts, np.flatnonzero(points > 0x7F), side="right") - 1
    found = []
    for start in firsts[np.unique(of_letter[of_letter >= 0])].tolist():
        word = _WORD.match(text, start)
        if word is not None and not unicodedata.is_normalized("NFKC", word.group()):
            found.append((start, word.group()))
    return found
