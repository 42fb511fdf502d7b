"""E-mail messages (RFC 5322, MIME): who wrote what to whom, and when."""

from __future__ import annotations

import email
import re
from collections.abc import Iterator
from email.errors import HeaderParseError, MessageError
from email.header import decode_header
from email.message import Message

from ..encodings import decode
from ..types import Skip
from .blocks import Block, heading_of, join, paragraph_of
from .html_text import page_of
from .outcome import CUT_NOTE, Extracted, Refused, clean

MAX_CHARACTERS = 20_000_000

_HEADERS = ("From", "To", "Cc", "Date")
_LONGEST_HEADER = 2_000
_MOST_PARTS = 500
_DEEPEST = 10
_BLANK_LINES = re.compile(r"\n{3,}")


def extract(data: bytes, *, max_characters: int = MAX_CHARACTERS) -> Extracted | Refused:
    """The text of a message as Markdown: its subject as heading, sender, receivers, date, body.

    Of alternatives the plain one; HTML where there is no other. Attachments are named, attached messages
    are read. Refuses what has none of a message's headers (`DAMAGED`) and messages without text (`NO_TEXT`).
    """
    text, cut = message_text(data, max_characters)
    if text is None:
        return Refused(Skip.DAMAGED, "not a message")
    if not text.strip():
        return Refused(Skip.NO_TEXT, "")
    return Extracted(text, notes=(CUT_NOTE,) if cut else ())


def message_text(data: bytes, room: int) -> tuple[str | None, bool]:
    """The text of a message, None where it is none; and whether the room ended before the text."""
    message = email.message_from_bytes(data)
    if not any(_header(message, name) for name in ("Subject", *_HEADERS, "Message-ID", "Received")):
        return None, False
    reader = _Reader(room)
    blocks = reader.message(message, 0)
    return clean(join(blocks)), reader.cut


class _Reader:
    def __init__(self, room: int) -> None:
        self.cut = False
        self._room = room
        self._parts = 0

    def message(self, message: Message, depth: int) -> list[Block]:
        """A message's headers, body and the names of its attachments."""
        subject = _header(message, "Subject")
        lines = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
        attached: list[str] = []
        body = list(self._body(message, depth, attached))
        if not body and not subject and not attached:
            return []
        blocks = [heading_of(2 if depth else 1, subject or "(no subject)")]
        if lines:
            blocks.append(Block("paragraph", "", "\n".join(lines)))
        blocks += body
        if attached:
            blocks.append(Block("paragraph", "", "Attachments: " + ", ".join(attached)))
        return blocks

    def _body(self, part: Message, depth: int, attached: list[str]) -> Iterator[Block]:
        self._parts += 1
        if depth > _DEEPEST or self._parts > _MOST_PARTS or self._room <= 0:
            self.cut = True
            return
        kind = part.get_content_type()
        if part.is_multipart():
            children = _children(part)
            if kind == "message/rfc822":
                for child in children:
                    yield from self.message(child, depth + 1)
            elif kind == "multipart/alternative":
                yield from self._best(children, depth, attached)
            else:
                for child in children:
                    yield from self._body(child, depth + 1, attached)
        elif (name := _file_name(part)) or part.get_content_disposition() == "attachment":
            attached.append(name or "unnamed")
        else:
            for block in self._text(part, kind):
                self._room -= len(block.text)
                yield block

    def _text(self, part: Message, kind: str) -> list[Block]:
        if kind == "text/html":
            page = page_of(_decoded(part), self._room)
            self.cut = self.cut or page.cut
            return page.blocks
        if not kind.startswith("text/") or kind == "text/calendar":
            return []
        lines = (line.rstrip() for line in clean(_decoded(part)).split("\n"))
        text = _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")
        self.cut = self.cut or len(text) > self._room
        return [paragraph_of(text[: self._room])] if text else []

    def _best(self, parts: list[Message], depth: int, attached: list[str]) -> Iterator[Block]:
        """The plain alternative, else the first with text."""
        for part in sorted(parts, key=lambda part: part.get_content_type() != "text/plain"):
            blocks = list(self._body(part, depth + 1, attached))
            if blocks:
                yield from blocks
                return


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _header(message: Message, name: str) -> str:
    """A header on one line, with its encoded words decoded; empty where there is none."""
    # As it stands: `get` replaces bytes that no header may have, which many programs write.
    raw = (str(value) for key, value in message.raw_items() if key.lower() == name.lower())
    text = next(raw, "")[:_LONGEST_HEADER]
    try:
        pieces = decode_header(text)
    except (HeaderParseError, ValueError):
        pieces = [(text, None)]
    return " ".join(clean("".join(_piece(*piece) for piece in pieces)).split())


def _piece(value: bytes | str, charset: str | None) -> str:
    if isinstance(value, str):
        # Bytes that no header may have, as the parser keeps them.
        raw = value.encode("ascii", "surrogateescape") if _is_escaped(value) else b""
        return _in(raw, None) if raw else value
    return _in(value, charset)


def _is_escaped(value: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in value) and all(
        character < "\x80" or "\udc80" <= character <= "\udcff" for character in value
    )


def _in(data: bytes, charset: str | None) -> str:
    """Bytes in the encoding they are said to be in, else in the one they seem to be in."""
    if charset and charset.lower() not in ("unknown-8bit", "us-ascii", "ascii"):
        try:
            return data.decode(charset)
        except (UnicodeDecodeError, LookupError, ValueError):
            pass
    found = decode(data)
    return found.text if found is not None else data.decode("latin-1")


def _decoded(part: Message) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    return _in(payload, part.get_content_charset())


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename()
    except (MessageError, ValueError, LookupError):
        return "unnamed"
    if not name:
        return ""
    try:
        pieces = decode_header(name)
    except (HeaderParseError, ValueError):
        pieces = [(name, None)]
    return " ".join(clean("".join(_piece(*piece) for piece in pieces)).split())[:200]
