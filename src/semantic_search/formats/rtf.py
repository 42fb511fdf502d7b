"""Rich Text Format (1.9): text in the code pages of its fonts, headings, lists and tables."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from ..cyrillic import code_page
from ..types import Skip
from .blocks import Block, Full, Table, heading_of, join, paragraph_of
from .outcome import CUT_NOTE, Extracted, Refused, clean

MAX_CHARACTERS = 20_000_000
MAX_DEPTH = 1_000

_TOKEN = re.compile(
    r"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,9})? ?|\\'(?P<byte>[0-9A-Fa-f]{2})|\\(?P<symbol>[^A-Za-z])"
    r"|(?P<brace>[{}])|[\r\n]+|(?P<text>[^\\{}\r\n]+)|\\"
)
_HEADING = re.compile(r"\s*(?:heading|заголовок|überschrift|titre|título)\s*([1-9])", re.IGNORECASE)

_SILENT = """
aftncn aftnsep aftnsepc annotation atnauthor atndate atnicn atnid atnparent atnref atntime atrfend atrfstart
author background bkmkend bkmkstart buptim category colorschememapping colortbl comment company creatim
datafield datastore defchp defpap docvar doccomm dptxbxtext factoidname falt fchars ffname field_type filetbl
fldinst fontemb fontfile footer footerf footerl footerr ftncn ftnsep ftnsepc g generator gridtbl header
headerf headerl headerr hlinkbase htmltag info keycode keywords latentstyles lchars leveltext levelnumbers
listname listoverridetable listpicture liststylename listtable manager mhtmltag mmath mmathpr nonshppict
objalias objclass objdata object objname objsect objtime oldcprops oldpprops oldsprops oldtprops operator
panose password passwordhash pgptbl picprop pict pnseclvl pntxta pntxtb printim private propname protend
protstart protusertbl revtbl revtim rsidtbl rxe shppict sn sp staticval stylesheet subject sv svb tc
template themedata title txe ud userprops wgrffmtfilter windowcaption writereservation xe xform xmlattrname
xmlattrvalue xmlclose xmlname xmlnstbl xmlopen
"""
_DESTINATIONS = frozenset(_SILENT.split())
_OPEN = ("shpinst", "shptxt", "shpgrp")  # marked to be skipped by old readers, with text in them
_CHARACTERS = {
    "tab": "\t",
    "line": "\n",
    "softline": "\n",
    "emdash": "—",
    "endash": "–",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "bullet": "•",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
}
_SYMBOLS = {"~": " ", "_": "-", "\\": "\\", "{": "{", "}": "}", "\t": "\t"}
_CODE_PAGES = """
77 mac_roman 128 cp932 129 cp949 130 johab 134 gbk 136 big5 161 cp1253 162 cp1254 163 cp1258 177 cp1255
178 cp1256 186 cp1257 204 cp1251 222 cp874 238 cp1250 254 cp437 255 cp850
"""
_CHARSETS = {int(number): name for number, name in zip(*[iter(_CODE_PAGES.split())] * 2, strict=True)}
_DEFAULT = "cp1252"


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The text of an RTF document as Markdown, without headers, footers and pictures.

    Refuses what does not begin as RTF (`DAMAGED`), is nested too deeply (`TOO_COMPLEX`) or has no text
    (`NO_TEXT`). Notes say what was cut.
    """
    source = data.lstrip(b"\xef\xbb\xbf \r\n\t").decode("latin-1")
    if not source.startswith("{\\rtf"):
        return Refused(Skip.DAMAGED, "not an RTF document")
    reader = _Reader(max_characters)
    notes = []
    try:
        if not reader.read(source):
            return Refused(Skip.TOO_COMPLEX, "nested too deeply")
    except Full:
        notes.append(CUT_NOTE)
    else:
        if not reader.closed:
            notes.append("the document ends in the middle")
    text = clean(join(reader.finish()))
    if not text.strip():
        return Refused(Skip.NO_TEXT, "")
    return Extracted(text, notes=tuple(notes))


@dataclass(frozen=True, slots=True)
class _State:
    """What a group inherits and gives back when it ends."""

    destination: str = ""
    font: int = -1
    hidden: bool = False
    fallback: int = 1  # characters to skip after one in Unicode


class _Reader:
    def __init__(self, room: int) -> None:
        self.closed = False
        self._room = room
        self._state = _State()
        self._fonts: dict[int, str] = {}
        self._defined_font = -1
        self._page = _DEFAULT
        self._headings: dict[int, int] = {}
        self._defined_style = 0
        self._style_name = ""
        self._bytes = bytearray()
        self._encoding = _DEFAULT
        self._pieces: list[str] = []
        self._mark = ""
        self._level = 0
        self._in_table = False
        self._blocks: list[Block] = []
        self._cell: list[Block] = []
        self._table: Table | None = None

    def read(self, source: str) -> bool:
        """Take in the document; whether its nesting is within the limit. Raises `Full`."""
        groups: list[_State] = []
        at = skip = 0
        starred = False
        while at < len(source) and not self.closed:
            token = _TOKEN.match(source, at)
            assert token is not None
            at = token.end()
            kind = token.lastgroup
            if kind == "brace":
                skip, starred = 0, False
                if not self._brace(token["brace"], groups):
                    return False
            elif kind in ("text", "byte"):
                raw = token["text"] or chr(int(token["byte"], 16))
                dropped = min(skip, len(raw))
                skip -= dropped
                self._take(raw[dropped:])
            elif kind == "symbol":
                starred = starred or token["symbol"] == "*"
                if skip and not starred:
                    skip -= 1
                else:
                    self._symbol(token["symbol"])
            elif token["word"]:
                number = int(token["number"]) if token["number"] else None
                word = token["word"]
                self._word(word, number, starred=starred)
                starred = False
                skip = self._state.fallback if word == "u" else skip
                at += max(number or 0, 0) if word == "bin" else 0
        return True

    def _brace(self, brace: str, groups: list[_State]) -> bool:
        if brace == "{":
            groups.append(self._state)
        elif groups:
            self._state = groups.pop()
            self.closed = not groups
        return len(groups) <= MAX_DEPTH

    def finish(self) -> list[Block]:
        """The blocks of the document, or of what was read of it."""
        self._end_paragraph()
        if self._table is not None and (self._cell or self._table.row):
            self._end_cell()
            self._end_row()
        self._end_table()
        return self._blocks

    # Text.

    def _take(self, raw: str) -> None:
        """Take in bytes, as characters of Latin-1."""
        destination = self._state.destination
        if destination == "stylesheet":
            self._style_name += raw
            if ";" in raw:
                self._end_style()
        elif not destination and not self._state.hidden:
            encoding = self._fonts.get(self._state.font, self._page)
            if encoding != self._encoding:
                self._end_bytes()
                self._encoding = encoding
            self._bytes += raw.encode("latin-1")
            self._count(len(raw))

    def _write(self, text: str) -> None:
        if not self._state.destination and not self._state.hidden:
            self._end_bytes()
            self._pieces.append(text)
            self._count(len(text))

    def _count(self, characters: int) -> None:
        self._room -= characters
        if self._room < 0:
            raise Full

    def _end_bytes(self) -> None:
        if self._bytes:
            raw = bytes(self._bytes)
            self._bytes.clear()
            encoding = self._encoding
            if encoding == _DEFAULT and not raw.isascii():
                # Some programs write Cyrillic and say nothing of it.
                encoding = code_page(raw) or encoding
            self._pieces.append(raw.decode(encoding, "replace"))

    def _unicode(self, number: int | None) -> None:
        code = (number or 0) + 0x10000 * ((number or 0) < 0)
        if 0 < code < 0x110000:
            self._write(chr(code))

    def _symbol(self, symbol: str) -> None:
        if symbol in "\r\n":
            self._end_paragraph()
        elif symbol in _SYMBOLS:
            self._write(_SYMBOLS[symbol])

    # Words.

    def _word(self, word: str, number: int | None, *, starred: bool) -> None:
        state = self._state
        silent = word in _DESTINATIONS or word == "fonttbl" or (starred and word not in _OPEN)
        if silent:
            self._state = replace(state, destination=word)
        elif state.destination == "fonttbl":
            self._define_font(word, number)
        elif state.destination == "stylesheet":
            self._define_style(word, number)
        elif word in _CHARACTERS:
            self._write(_CHARACTERS[word])
        elif word in ("listtext", "pntext"):
            self._state = replace(state, destination="listtext")
            self._mark = "- " if not state.destination else self._mark
        elif word in _WORDS:
            _WORDS[word](self, number)

    def _define_font(self, word: str, number: int | None) -> None:
        if word == "f" and number is not None:
            self._defined_font = number
        elif word == "fcharset" and number in _CHARSETS:
            self._fonts[self._defined_font] = _CHARSETS[number]
        elif word == "cpg" and (encoding := _known(number)):
            self._fonts[self._defined_font] = encoding

    def _define_style(self, word: str, number: int | None) -> None:
        if word == "s" and number is not None:
            self._defined_style = number
            self._style_name = ""
        elif word == "outlinelevel" and number is not None and number < 9:
            self._headings[self._defined_style] = number + 1

    def _end_style(self) -> None:
        match = _HEADING.match(self._style_name)
        if match is not None:
            self._headings.setdefault(self._defined_style, int(match[1]))
        self._style_name = ""

    def _set_page(self, number: int | None) -> None:
        self._page = _known(number) or self._page

    def _set_mac(self, _: int | None) -> None:
        self._page = "mac_roman"

    def _set_dos(self, number: int | None) -> None:
        self._page = "cp437"

    def _set_font(self, number: int | None) -> None:
        self._state = replace(self._state, font=-1 if number is None else number)

    def _set_fallback(self, number: int | None) -> None:
        self._state = replace(self._state, fallback=min(max(number or 0, 0), 100))

    def _set_hidden(self, number: int | None) -> None:
        self._state = replace(self._state, hidden=number != 0)

    def _reset_characters(self, _: int | None) -> None:
        self._state = replace(self._state, hidden=False, font=-1)

    def _reset_paragraph(self, _: int | None) -> None:
        if not self._state.destination:
            self._level = 0
            self._in_table = False

    def _set_style(self, number: int | None) -> None:
        self._level = self._headings.get(number or 0, 0)

    def _set_outline(self, number: int | None) -> None:
        if number is not None and 0 <= number < 9:
            self._level = number + 1

    def _set_in_table(self, _: int | None) -> None:
        self._in_table = True

    # Blocks.

    def _end_paragraph(self, _: int | None = None) -> None:
        if self._state.destination:
            return
        self._end_bytes()
        text = "".join(self._pieces).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        self._pieces.clear()
        mark, self._mark = self._mark, ""
        text = clean(text).strip()
        if not text:
            return
        if self._in_table:
            self._cell.append(paragraph_of(text))
            return
        self._end_table()
        if self._level:
            self._blocks.append(heading_of(self._level, text))
        elif mark:
            self._blocks.append(Block("item", mark, text))
        else:
            self._blocks.append(paragraph_of(text))

    def _end_cell(self, _: int | None = None) -> None:
        if self._state.destination:
            return
        self._in_table = True
        self._end_paragraph()
        if self._table is None:
            self._table = Table(nested=False)
        self._table.span = 1
        self._table.end_cell(self._cell)
        self._cell = []

    def _end_row(self, _: int | None = None) -> None:
        if self._table is not None and not self._state.destination:
            self._blocks += self._table.end_row()
            self._table.row = []

    def _end_table(self) -> None:
        if self._table is not None:
            self._blocks += self._table.end()
            self._table = None


def _known(number: int | None) -> str:
    """The codec of a code page by its number, empty where there is none."""
    name = {10000: "mac_roman", 10007: "mac_cyrillic", 65001: "utf-8"}.get(number or 0, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""


_WORDS: dict[str, Callable[[_Reader, int | None], None]] = {
    "u": _Reader._unicode,
    "ansicpg": _Reader._set_page,
    "mac": _Reader._set_mac,
    "pc": _Reader._set_dos,
    "f": _Reader._set_font,
    "uc": _Reader._set_fallback,
    "v": _Reader._set_hidden,
    "plain": _Reader._reset_characters,
    "pard": _Reader._reset_paragraph,
    "s": _Reader._set_style,
    "outlinelevel": _Reader._set_outline,
    "intbl": _Reader._set_in_table,
    **dict.fromkeys(("par", "sect", "page", "column"), _Reader._end_paragraph),
    **dict.fromkeys(("cell", "nestcell"), _Reader._end_cell),
    **dict.fromkeys(("row", "nestrow"), _Reader._end_row),
}
