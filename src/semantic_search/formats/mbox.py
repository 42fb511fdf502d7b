"""Mailboxes in the mbox format (RFC 4155): messages one after the other."""

from __future__ import annotations

import re

from ..types import Skip
from .mail import message_text
from .outcome import CUT_NOTE, Extracted, Refused, of_parts

MAX_CHARACTERS = 20_000_000
MAX_MESSAGES = 5_000

# Who sent it and when; a sentence that begins with "From" is none.
_START = re.compile(
    rb"(?:\A|(?<=\n)\r?\n)From (?:-|MAILER-DAEMON|[^\s@]{0,200}@\S{0,200}"
    rb"|\S{1,200}(?= [A-Z][a-z]{2} [A-Z][a-z]{2} ))(?:[ \t][^\n]{0,500})?\r?\n"
)
_ESCAPED = re.compile(rb"^>(?=>*From )", re.MULTILINE)


def extract(
    data: bytes, *, max_messages: int = MAX_MESSAGES, max_characters: int = MAX_CHARACTERS
) -> Extracted | Refused:
    """The text of every message as `mail.extract` gives it; the messages are the pages.

    Refuses what does not begin with a message (`DAMAGED`). Notes say how many messages were left out.
    """
    starts = list(_START.finditer(data))
    if not starts or data[: starts[0].start()].strip():
        return Refused(Skip.DAMAGED, "not a mailbox")
    texts: list[str] = []
    notes: list[str] = []
    room, unread = max_characters, 0
    for n, start in enumerate(starts[:max_messages]):
        end = starts[n + 1].start() if n + 1 < len(starts) else len(data)
        text, cut = message_text(_ESCAPED.sub(b"", data[start.end() : end]), room)
        unread += text is None
        texts.append(text or "")
        room -= len(text or "")
        if cut or room <= 0:
            notes.append(CUT_NOTE)
            break
    if len(texts) < len(starts):
        notes.append(f"only the first {len(texts)} of {len(starts)} messages were read")
    if unread == len(texts):
        return Refused(Skip.DAMAGED, "no message could be read")
    if unread:
        notes.append(f"{unread} messages could not be read")
    return of_parts(texts, notes)
