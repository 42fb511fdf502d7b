"""The text of HTML as Markdown blocks: what a reader of the page sees, without what leads to other pages.

The tree is that of the HTML standard (lexbor): end tags may be missing, nesting may be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..encodings import decode
from .blocks import Block, Full, flat, heading_of, paragraph_of, row_of, rule_of
from .outcome import clean

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_WITHOUT_TEXT = """
head script style noscript template svg nav iframe object embed canvas audio video button select
datalist input textarea menu map noframes
"""
_SKIPPED = frozenset(_WITHOUT_TEXT.split())
_SKIPPED_ROLES = frozenset(("navigation", "search", "menu", "menubar", "toolbar", "dialog", "alertdialog"))
_AROUND = frozenset(("header", "footer", "aside"))
_BLOCKS = """
address article aside blockquote body caption center dd details dialog dir div dl dt fieldset
figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li main ol p pre section summary
table tbody tfoot thead td th tr ul
"""
_BREAKING = frozenset(_BLOCKS.split())
_SPACE = re.compile(r"\s+")
_AROUND_BREAK = re.compile(r" *\n *")
_BLANK_LINES = re.compile(r"\n{3,}")
_FENCE = re.compile(r"`{3,}")
_LEAST_MAIN = 0.3  # of the page's text: with less, what calls itself the main part is not
_LONG_CELL = 600
_ANCHORS = "§¶🔗 \n"
_MOST_LEVELS = 6
_MOST_COLUMNS = 256

# A declaration counts for what people meant by it: Latin-1 means Windows-1252 (WHATWG Encoding).
_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]{2,20})|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.-]{2,20})""",
    re.IGNORECASE,
)
_KNOWN = re.compile(
    r"(?:windows-?|cp)(?:125[0-8]|866|874|932|949)|iso-?8859-?\d{1,2}|koi8-?[ru]|ibm866|gb2312|gbk|gb18030|big5"
    r"|(?:shift[_-]jis|sjis|euc-(?:jp|kr)|iso-2022-jp|tis-620|macintosh|us-ascii|latin-?1|utf-?8)"
)
_MEANT = {"iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252"}


def decoded(data: bytes) -> str | None:
    """The text of an HTML file in the encoding it declares, else in the one it seems to be in; None if none.

    UTF-8 goes first: files are converted and their declarations forgotten.
    """
    match = _DECLARED.search(data[:4096])
    if match is not None:
        name = (match[1] or match[2]).decode("ascii").lower()
        if _KNOWN.fullmatch(name) and (name == "iso-2022-jp" or not _is_utf8(data)):
            try:
                return data.decode(_MEANT.get(name, name))
            except (UnicodeDecodeError, LookupError):
                pass
    found = decode(data)
    return found.text if found is not None else None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@dataclass(slots=True)
class Page:
    """What was read: the title (may be empty), the blocks, and whether the room ended before the text."""

    title: str
    blocks: list[Block]
    cut: bool


def page_of(markup: str, room: int) -> Page:
    """The text of a page, of at most about `room` characters. Parts around the main part are left out."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(markup)
    title = tree.css_first("head title")
    root, whole = _main_part(tree)
    reader = _Reader(room, around=whole)
    cut = False
    if root is not None:
        try:
            reader.read(root)
        except Full:
            cut = True
    return Page(
        " ".join(clean(title.text() or "").split()) if title is not None else "", reader.finish(), cut
    )


def _main_part(tree: LexborHTMLParser) -> tuple[LexborNode | None, bool]:
    """What to read, and whether that is the whole page with nothing in it said to be the main part."""
    body = tree.body or tree.root
    if body is None:
        return None, True
    for selector in ("main, [role=main]", "article"):
        found = tree.css(selector)
        if len(found) == 1:
            if len(found[0].text()) >= _LEAST_MAIN * len(body.text()):
                return found[0], False
            return body, True
    return body, True


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int = 0


@dataclass(slots=True)
class _Table:
    rows: list[list[list[Block]]] = field(default_factory=list)
    caption: list[Block] = field(default_factory=list)


class _Reader:
    """Walks a tree with a stack of its own: pages nest deeper than Python may recurse."""

    def __init__(self, room: int, *, around: bool) -> None:
        self._room = room
        self._around = around
        self._pieces: list[str] = []
        self._containers: list[list[Block]] = [[]]
        self._lists: list[_List] = []
        self._mark = ""
        self._quotes = 0
        self._verbatim = 0
        self._tables: list[_Table] = []

    def read(self, root: LexborNode) -> None:
        """Take in all that is below `root`. Raises `Full`."""
        waiting: list[tuple[str, Iterator[LexborNode]]] = [("", root.iter(include_text=True))]
        while waiting:
            tag, children = waiting[-1]
            node = next(children, None)
            if node is None:
                waiting.pop()
                self._leave(tag)
            elif node.is_text_node:
                self._write(node.text_content or "")
            elif node.is_element_node and not self._is_skipped(node, len(waiting)):
                self._enter(node.tag or "")
                waiting.append((node.tag or "", node.iter(include_text=True)))

    def finish(self) -> list[Block]:
        """The blocks, of what was open too."""
        self._flush()
        while self._tables:
            self._end_table()
        return [block for container in self._containers for block in container]

    def _is_skipped(self, node: LexborNode, depth: int) -> bool:
        tag = node.tag or ""
        if tag in _SKIPPED:
            return True
        if tag in _AROUND and self._around and depth <= 2 and tag != "header":
            return True
        attributes = node.attributes
        return bool(attributes) and (
            "hidden" in attributes
            or attributes.get("aria-hidden") == "true"
            or (attributes.get("role") or "").lower() in _SKIPPED_ROLES
        )

    def _break(self, tag: str) -> None:
        if tag in _BREAKING and self._verbatim and tag != "pre":
            if self._pieces and not self._pieces[-1].endswith("\n"):
                self._write_raw("\n")
        elif tag in _BREAKING:
            self._flush()

    def _enter(self, tag: str) -> None:
        self._break(tag)
        if tag == "br":
            self._write_raw("\n")
        elif tag in ("ul", "ol", "dir"):
            self._lists.append(_List(tag == "ol"))
        elif tag == "li" and self._lists:
            inner = self._lists[-1]
            inner.number += 1
            indent = "    " * (min(len(self._lists), _MOST_LEVELS) - 1)
            self._mark = indent + (f"{inner.number}. " if inner.ordered else "- ")
        elif tag == "blockquote":
            self._quotes += 1
        elif tag == "pre":
            self._verbatim += 1
        elif tag == "table":
            self._tables.append(_Table())
        elif tag == "tr" and self._tables:
            self._tables[-1].rows.append([])
        elif tag in ("td", "th", "caption"):
            self._containers.append([])

    def _leave(self, tag: str) -> None:
        if tag in _HEADINGS:
            text = self._taken().strip(_ANCHORS)
            if text:
                self._add(heading_of(_HEADINGS[tag], text))
        else:
            self._break(tag)
        if tag in _LEAVES:
            _LEAVES[tag](self)
        elif tag in ("td", "th"):
            self._end_cell()
        elif tag == "caption":
            blocks = self._containers.pop()
            (self._tables[-1].caption if self._tables else self._containers[-1]).extend(blocks)

    def _end_list(self) -> None:
        self._lists.pop()

    def _end_item(self) -> None:
        self._mark = ""

    def _end_quote(self) -> None:
        self._quotes -= 1

    def _end_verbatim(self) -> None:
        self._verbatim -= 1

    def _end_cell(self) -> None:
        blocks = self._containers.pop()
        if self._tables and self._tables[-1].rows:
            self._tables[-1].rows[-1].append(blocks)
        else:
            self._containers[-1] += blocks

    def _end_table(self) -> None:
        table = self._tables.pop()
        self._containers[-1] += table.caption
        rows = [row for row in table.rows if any(row)]
        if _is_layout(rows):
            self._containers[-1] += [block for row in rows for cell in row for block in cell]
            return
        columns = min(max(map(len, rows)), _MOST_COLUMNS)
        for n, row in enumerate(rows):
            cells = [flat(cell) for cell in row[:columns]]
            cells += [""] * (min(columns, len(rows[0])) - len(cells))
            self._containers[-1].append(row_of(cells, first=n == 0))
            if n == 0:
                self._containers[-1].append(rule_of(len(cells)))

    def _write(self, text: str) -> None:
        if not self._verbatim:
            text = _SPACE.sub(" ", text)
            if text == " " and (not self._pieces or self._pieces[-1].endswith((" ", "\n"))):
                return
        self._write_raw(text)

    def _write_raw(self, text: str) -> None:
        self._room -= len(text)
        self._pieces.append(text)
        if self._room < 0:
            raise Full

    def _taken(self) -> str:
        text = "".join(self._pieces)
        self._pieces.clear()
        text = clean(text)
        if self._verbatim:
            return text.strip("\n")
        return _BLANK_LINES.sub("\n\n", _AROUND_BREAK.sub("\n", _SPACE_RUN.sub(" ", text))).strip()

    def _flush(self) -> None:
        """End the paragraph at hand."""
        if not self._pieces:
            return
        text = self._taken()
        if not text.strip():
            return
        if self._verbatim:
            longest = max((len(run) for run in _FENCE.findall(text)), default=2)
            fence = "`" * max(3, longest + 1)
            self._add(Block("code", "", f"{fence}\n{text}\n{fence}"))
        elif self._mark:
            self._add(Block("item", self._mark, text))
            self._mark = ""
        elif self._quotes:
            self._add(Block("paragraph", "> ", text.replace("\n", "\n> ")))
        else:
            self._add(paragraph_of(text))

    def _add(self, block: Block) -> None:
        self._containers[-1].append(block)


_SPACE_RUN = re.compile(r"[^\S\n]+")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LEAVES: dict[str, Callable[[_Reader], None]] = {
    **dict.fromkeys(("ul", "ol", "dir"), _Reader._end_list),
    "li": _Reader._end_item,
    "blockquote": _Reader._end_quote,
    "pre": _Reader._end_verbatim,
    "table": _Reader._end_table,
}


def _is_layout(rows: list[list[list[Block]]]) -> bool:
    """Whether a table only places things: it has one row or one column, or cells as long as a page."""
    if len(rows) < 2 or max(map(len, rows)) < 2:
        return True
    cells = [cell for row in rows for cell in row]
    return any(map(_is_page, cells))


def _is_page(cell: list[Block]) -> bool:
    """Whether a cell holds a part of the page rather than a value."""
    if len(cell) > 3 and any(block.kind in ("heading", "table", "code") for block in cell):
        return True
    return len(cell) > 1 and sum(len(block.text) for block in cell) > _LONG_CELL
