"""Blocks of text that is a run of records: tables of values, JSON Lines, logs, subtitles.

A passage begins where a record does. The header of a table of values goes with every passage as its heading,
the time of a subtitle likewise.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from .layout import indent_cuts
from .packing import Block

_LINE_START = re.compile(r"^(?=[^\n])", re.MULTILINE)
_DELIMITERS = ",;\t|"
_LONGEST_ROW = 200  # lines: a quotation mark that nothing closes must not swallow the rest of the file
_SAMPLED_ROWS = 20
_MOST_COLUMNS = 60
_NUMBER = re.compile(r"[-+]?[\d\s.,:/%€$-]*\d[\d\s.,:/%€$-]*")
# A date or time, a level, or a bracketed or numeric stamp, at the start of a line.
_STAMP = re.compile(
    r"^(?=[\[(<]?(?:\d{4}[-/.]\d\d[-/.]\d\d|\d{1,2}[-/.][A-Za-z0-9]{2,3}[-/.]\d{2,4}|\d\d:\d\d:\d\d|\d{10,13}[\s.:\]]"
    r"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +[\dA-Z]"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b)"
    r"|\S+ \S+ \S+ \[\d\d/[A-Z][a-z][a-z]/\d{4})",
    re.MULTILINE,
)
_CUE = re.compile(
    r"^(?:[^\n]{1,80}\n)?(?P<time>(?:\d{1,3}:)?\d{1,2}:\d\d)[.,]\d{1,3}[ \t]+-->[ \t]", re.MULTILINE
)


def records(text: str, language: str) -> list[Block]:
    """Blocks that partition a text in one of `RECORD_LANGUAGES`, to be cut where records start."""
    return list(_RECORDS[language](text))


def _rows(text: str) -> Iterator[Block]:
    starts = _row_starts(text)
    header = _header(text, starts)
    yield Block(
        0,
        len(text),
        trail=(", ".join(header),) if header else (),
        cuts=(starts,) if starts else (),
        overlaps=False,
    )


def _row_starts(text: str) -> list[int]:
    """Where rows start: at lines, except within quotation marks."""
    starts: list[int] = []
    at, quoted_lines = 0, 0
    for line in text.split("\n"):
        odd = line.count('"') % 2 == 1
        if not quoted_lines:
            if line.strip():
                starts.append(at)
            quoted_lines = int(odd)
        elif odd or quoted_lines >= _LONGEST_ROW:
            quoted_lines = 0
        else:
            quoted_lines += 1
        at += len(line) + 1
    return starts


def _header(text: str, starts: list[int]) -> list[str]:
    """The names of the columns, none where the first row has numbers, gaps, or another number of cells."""
    if len(starts) < 2:
        return []
    sample = [text[start:end].rstrip("\n") for start, end in pairwise(starts[: _SAMPLED_ROWS + 1])]
    if len(starts) <= _SAMPLED_ROWS:
        sample.append(text[starts[-1] :].rstrip("\n"))
    first = sample[0]
    delimiter = max(_DELIMITERS, key=lambda each: (first.count(each), -_DELIMITERS.index(each)))
    try:
        rows = list(csv.reader(sample, delimiter=delimiter))
    except csv.Error:
        return []
    names = [" ".join(name.split()) for name in rows[0]][:_MOST_COLUMNS]
    widths = {len(row) for row in rows[1:]}
    if len(names) < 2 or len(rows[0]) not in widths or len(set(names)) < len(names):
        return []
    return [] if any(not name or _NUMBER.fullmatch(name) for name in names) else names


def _lines(text: str) -> Iterator[Block]:
    starts = [match.start() for match in _LINE_START.finditer(text)]
    yield Block(0, len(text), cuts=(starts,) if starts else (), overlaps=False)


def _log(text: str) -> Iterator[Block]:
    stamped = [match.start() for match in _STAMP.finditer(text)]
    others = indent_cuts(text, 0, len(text))
    yield Block(0, len(text), cuts=(stamped, *others) if stamped else others, overlaps=False)


def _cues(text: str) -> Iterator[Block]:
    """One block a cue, its time as heading. What stands before the first belongs to that."""
    cues = list(_CUE.finditer(text))
    if not cues:
        yield Block(0, len(text), kind="cues", overlaps=False)
    for n, cue in enumerate(cues):
        start = cue.start() if n else 0
        end = cues[n + 1].start() if n + 1 < len(cues) else len(text)
        yield Block(start, end, trail=(cue["time"],), kind="cues", overlaps=False)


_RECORDS: dict[str, Callable[[str], Iterator[Block]]] = {
    "csv": _rows,
    "json-lines": _lines,
    "log": _log,
    "subtitles": _cues,
}
RECORD_LANGUAGES = frozenset(_RECORDS)
"""The languages that `records` understands."""
