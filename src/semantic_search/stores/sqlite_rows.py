"""Rows of the SQLite store turned into values."""

from __future__ import annotations

import codecs
import os
import zlib
from typing import Any

from ..types import Chunk
from .rows import Passage

PASSAGE_COLUMNS = (
    'p.id, p.file_id, d.path, f.path, f.language, f.size, f.mtime_ns, f.ctime_ns, f.inode, p.start, p."end", '
    "p.first_line, p.last_line, p.heading, p.symbol, p.kind, p.page, p.script "
    "FROM passages p JOIN files f ON f.id = p.file_id JOIN folders d ON d.id = f.folder_id"
)

END_COLUMN = 10  # the place of "end" in it


def packed(text: str) -> bytes:
    """Text as it is stored."""
    return zlib.compress(text.encode(), 3)


def unpacked(blob: bytes) -> str:
    """Text as it was before `packed`."""
    return zlib.decompress(blob).decode()


def unpacked_until(blob: bytes, end: int) -> str:
    """At least the first `end` characters of a text as it was before `packed`; not the rest of a long one."""
    stream = zlib.decompressobj()
    decoder = codecs.getincrementaldecoder("utf-8")()
    text = ""
    while len(text) < end and not stream.eof:
        # A character takes a byte or more, so this many never bring much more than is wanted.
        more = stream.decompress(blob, end - len(text))
        text += decoder.decode(more)
        blob = stream.unconsumed_tail
        if not more and not blob:
            break
    return text


def passage_of(row: tuple[Any, ...], text: str) -> Passage:
    """The passage of a row of PASSAGE_COLUMNS, sliced from its document's text."""
    id_, _, folder, path, language, size, mtime, ctime, inode, start, end, *rest = row
    first_line, last_line, heading, symbol, kind, page, script = rest
    chunk = Chunk(
        start,
        end,
        first_line,
        last_line,
        text[start:end],
        str(heading),
        str(symbol),
        str(kind),
        page,
    )
    stamp = (int(size), int(mtime), int(ctime), int(inode))
    return Passage(
        int(id_),
        os.fsdecode(folder),
        os.fsdecode(path),
        str(language),
        stamp,
        str(script),
        chunk,
    )
