"""Sections of marked-up prose: Markdown, reStructuredText, AsciiDoc, Org, LaTeX, Typst, Textile; and of
documents, which are extracted as Markdown.

Headings follow CommonMark 0.31 (ATX and one-line setext, not inside fences); the other languages by their own
simple line rules. A section is a block with the trail of headings above it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..frontmatter import front_matter
from .packing import Block

_NEWLINE = re.compile("\n")
_ITEM = re.compile(r" ?(?:[-*+•]|\d{1,9}[.)])[ \t]+\S")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])|</?[A-Za-z][^>]*>|\s*\{#[^}]*\}\s*$")
_EMPHASIS = re.compile(r"(?<!\w)[*_`~]+|[*_`~]+(?!\w)")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_LONG_TABLE = 1500  # characters from which on a table has to be cut
_LEAD = 400  # characters before a long table that stay with it
_LATEX_LEVELS = {"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6}


@dataclass(frozen=True, slots=True)
class _Syntax:
    """How a language marks headings and verbatim blocks, line by line.

    `heading` has the groups `mark` and `title`; `underlines` are the characters that, repeated, make the line
    above a heading; `fence` opens what `closes` (opening line, line) ends.
    """

    heading: re.Pattern[str] | None
    fence: re.Pattern[str] | None = None
    closes: Callable[[str, str], bool] = str.__eq__
    underlines: str = ""
    fixed_levels: str = ""


def _closes_markdown(opener: str, line: str) -> bool:
    mark = opener.lstrip()
    run = len(mark) - len(mark.lstrip(mark[0]))
    line = line.strip()
    return len(line) >= run and line == mark[0] * len(line)


def _closes_named(opener: str, line: str) -> bool:
    name = re.sub(r"^\s*(?:#\+begin_|\\begin\{)(\w+).*", r"\1", opener, flags=re.IGNORECASE)
    return re.match(rf"\s*(?:#\+end_|\\end\{{){name}\b", line, re.IGNORECASE) is not None


def _closes_same(opener: str, line: str) -> bool:
    return line.rstrip() == opener.rstrip()


_MARKDOWN = _Syntax(
    re.compile(r" {0,3}(?P<mark>#{1,6})(?:[ \t]+(?P<title>.*?))?(?:[ \t]+#+)?[ \t]*$"),
    re.compile(r"\s*(?:`{3,}[^`]*$|~~~)"),
    _closes_markdown,
    "=-",
    "=-",
)
_SYNTAXES = {
    "markdown": _MARKDOWN,
    "mdx": _MARKDOWN,
    **dict.fromkeys(("docx", "html", "pptx", "xlsx", "odt", "ods", "odp", "rtf", "epub"), _MARKDOWN),
    **dict.fromkeys(("email", "jupyter-notebook"), _MARKDOWN),
    "rst": _Syntax(None, underlines="=-~^\"'`:.*+#_<>"),
    "asciidoc": _Syntax(
        re.compile(r"(?P<mark>={1,6})[ \t]+(?P<title>\S.*)$"),
        re.compile(r"(?:-{4,}|\.{4,}|\+{4,}|/{4,}|\|={3,})[ \t]*$"),
        _closes_same,
    ),
    "org": _Syntax(
        re.compile(r"(?P<mark>\*+)[ \t]+(?P<title>\S.*)$"),
        re.compile(r"\s*#\+begin_\w+", re.IGNORECASE),
        _closes_named,
    ),
    "latex": _Syntax(
        re.compile(rf"\s*\\(?P<mark>{'|'.join(_LATEX_LEVELS)})\*?\{{(?P<title>[^}}]*)\}}"),
        re.compile(r"\s*\\begin\{(?:verbatim|lstlisting|minted|tabular|equation|align|table|figure)"),
        _closes_named,
    ),
    "typst": _Syntax(
        re.compile(r"(?P<mark>={1,6})[ \t]+(?P<title>\S.*)$"), re.compile(r"\s*```"), _closes_markdown
    ),
    "textile": _Syntax(re.compile(r"h(?P<mark>[1-6])\.[ \t]+(?P<title>\S.*)$")),
}
MARKUP_LANGUAGES = frozenset(_SYNTAXES)
"""The languages that `sections` understands."""


@dataclass(slots=True)
class _Scan:
    """What one pass over the lines finds: headings (offset, level, title), cut points, spans kept whole, and
    of these the tables."""

    headings: list[tuple[int, int, str]] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    solids: list[tuple[int, int]] = field(default_factory=list)
    tables: list[tuple[int, int]] = field(default_factory=list)
    levels: dict[str, int] = field(default_factory=dict)


def sections(text: str, language: str) -> Iterator[Block]:
    """The sections of a text in one of `MARKUP_LANGUAGES`, in order; they partition it.

    The title that front matter gives is the outermost heading. A table too long for a passage is a section
    of its own, its header the innermost heading of each part.
    """
    front = front_matter(text if language in ("markdown", "mdx") else "")
    body = front.end
    scan = _scanned(text, body, _SYNTAXES[language])
    named = _plain(front.first("title"))
    above = (named,) if named and named not in (heading for _, _, heading in scan.headings[:1]) else ()
    if body:
        yield Block(0, body, overlaps=False)
    trail = [(0, heading) for heading in above]
    start, level = body, 0
    for i, (offset, depth, title) in enumerate(scan.headings):
        if i == 0:
            if offset > body:
                yield from _blocks(text, scan, body, offset, 0, above)
            start, level = offset, depth
        while trail and trail[-1][0] >= depth:
            trail.pop()
        trail.append((depth, title))
        end = scan.headings[i + 1][0] if i + 1 < len(scan.headings) else len(text)
        deeper = i + 1 < len(scan.headings) and scan.headings[i + 1][1] > depth
        if deeper and _is_bare(text, offset, end):
            continue  # a heading right above its first subheading belongs to that
        yield from _blocks(text, scan, start, end, level, tuple(title for _, title in trail))
        if i + 1 < len(scan.headings):
            start, level = end, scan.headings[i + 1][1]
    if not scan.headings and body < len(text):
        yield from _blocks(text, scan, body, len(text), 0, above)


def _blocks(
    text: str, scan: _Scan, start: int, end: int, level: int, trail: tuple[str, ...]
) -> Iterator[Block]:
    for first, last in _solids(scan.tables, start, end):
        header = _table_header(text, first, last) if last - first > _LONG_TABLE else ""
        if not header:
            continue
        if first - start > _LEAD:
            yield _block(scan, start, first, level, trail)
            start = first
        rows = [first + match.end() for match in _NEWLINE.finditer(text[first : last - 1])][2:]
        yield Block(start, last, level, (*trail, header), cuts=(rows,), overlaps=False)
        start = last
    if start < end:
        yield _block(scan, start, end, level, trail)


def _table_header(text: str, start: int, end: int) -> str:
    """The cells of a table's first row, empty where no rule stands below it."""
    lines = text[start:end].split("\n", 2)
    if len(lines) < 3 or not _TABLE_RULE.fullmatch(lines[1]):
        return ""
    return ", ".join(filter(None, (_plain(cell) for cell in _CELL_BORDER.split(lines[0]))))


def _block(scan: _Scan, start: int, end: int, level: int, trail: tuple[str, ...]) -> Block:
    return Block(
        start,
        end,
        level,
        trail,
        cuts=(_within(scan.cuts, start, end),),
        solids=_solids(scan.solids, start, end),
    )


def _within(offsets: list[int], start: int, end: int) -> list[int]:
    return offsets[bisect_left(offsets, start) : bisect_left(offsets, end)]


def _solids(solids: list[tuple[int, int]], start: int, end: int) -> tuple[tuple[int, int], ...]:
    return tuple(solids[bisect_left(solids, (start, 0)) : bisect_left(solids, (end, 0))])


def _is_bare(text: str, start: int, end: int) -> bool:
    """Whether a section is its heading alone: one line, or two to three with underlines."""
    lines = [line for line in text[start:end].split("\n", 6) if line.strip()]
    return len(lines) == 1 or all(len(set(line.strip())) == 1 for line in lines[1:])


def _scanned(text: str, body: int, syntax: _Syntax) -> _Scan:
    scan = _Scan()
    offset = body
    opener: tuple[int, str] | None = None
    table: int | None = None
    before: list[tuple[int, str]] = [(body, ""), (body, "")]  # the two lines above
    for line in text[body:].split("\n"):
        end = min(offset + len(line) + 1, len(text))
        if opener is not None:
            if syntax.closes(opener[1], line):
                scan.solids.append((opener[0], end))
                opener, before = None, [(offset, ""), (offset, "")]
        elif syntax.fence is not None and syntax.fence.match(line):
            opener = (offset, line)
            scan.cuts.append(offset)
        else:
            _note_heading(scan, syntax, offset, line, before)
            in_table = line.lstrip().startswith("|")
            if in_table and table is None:
                table = offset
            elif not in_table and table is not None:
                scan.tables.append((table, offset))
                table = None
            if line.strip() and (not before[1][1].strip() or (_ITEM.match(line) and not in_table)):
                scan.cuts.append(offset)
            before = [before[1], (offset, line)]
        offset += len(line) + 1
    if table is not None:
        scan.tables.append((table, len(text)))
    scan.headings.sort()
    scan.solids = sorted([*scan.solids, *scan.tables])
    return scan


def _note_heading(
    scan: _Scan, syntax: _Syntax, offset: int, line: str, before: list[tuple[int, str]]
) -> None:
    match = syntax.heading.match(line) if syntax.heading is not None else None
    if match is not None:
        mark = match["mark"]
        level = _LATEX_LEVELS.get(mark) or (int(mark) if mark.isdigit() else len(mark))
        scan.headings.append((offset, level, _plain(match["title"] or "")))
        return
    (above_offset, above), (title_offset, title) = before
    mark = line.strip()
    if not mark or mark[0] not in syntax.underlines or mark != mark[0] * len(mark) or not title.strip():
        return
    if syntax.fixed_levels:
        if (
            above.strip()
            or _ITEM.match(title)
            or title.lstrip().startswith(("|", ">", "#"))
            or title[:4] == "    "
        ):
            return
        scan.headings.append((title_offset, syntax.fixed_levels.index(mark[0]) + 1, _plain(title)))
        return
    overlined = above.strip() == mark
    if (above.strip() and not overlined) or len(mark) < max(3, len(title.strip()) // 2) or _is_mark(title):
        return
    level = scan.levels.setdefault(mark[0] + "o" * overlined, len(scan.levels) + 1)
    scan.headings.append((above_offset if overlined else title_offset, level, _plain(title)))


def _is_mark(line: str) -> bool:
    line = line.strip()
    return line == line[0] * len(line) and not line[0].isalnum()


def _plain(title: str) -> str:
    return _EMPHASIS.sub("", _LINK.sub(lambda match: match[1] or "", title)).strip()
