"""Lines of a file inside the folders; of a document the extracted text."""

from __future__ import annotations

from dataclasses import dataclass

from ..corpus import Corpus
from ..errors import FolderError, QueryError
from ..types import Skipped, SourceFile
from .documents import find_file, text_of


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines `first_line` to `last_line` (1-based, inclusive) of a file that has `lines` lines."""

    source: SourceFile
    text: str
    first_line: int
    last_line: int
    lines: int


def cat(corpus: Corpus, name: str, start: int = 1, end: int | None = None) -> Excerpt:
    """Lines of a file. `end` None means to the last line. Raises FolderError, QueryError."""
    source = find_file(corpus, name)
    document = text_of(corpus, source)
    if isinstance(document, Skipped):
        detail = f" ({document.detail})" if document.detail else ""
        raise FolderError(f"{name}: not shown, {document.reason.sentence}{detail}")
    lines = document.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    last = len(lines) if end is None else min(end, len(lines))
    if start < 1 or start > max(len(lines), 1) or (end is not None and end < start):
        wanted = f"{start}-{'' if end is None else end}"
        raise QueryError(f"{name} has lines 1 to {len(lines)}; {wanted} is not a range of them")
    return Excerpt(source, "\n".join(lines[start - 1 : last]), start, last, len(lines))
