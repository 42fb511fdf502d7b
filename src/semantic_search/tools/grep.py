"""Lines that match a pattern, in exactly the files that the index lists.

Patterns are RE2's regular expressions (https://github.com/google/re2/wiki/Syntax): time is linear in the
text whatever the pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ..corpus import Corpus
from ..errors import FolderError, QueryError
from ..folders import Folder
from ..stores import Filter
from ..stores.selection import files_wanted
from ..types import Document, Skip, Skipped, SourceFile
from .documents import text_of
from .scope import folders_in, resolve_filter

WIDEST_LINE = 300
_PATTERN_MEMORY = 64 << 20
_EXPECTED = (Skip.BINARY, Skip.EMPTY, Skip.SECRET, Skip.NO_TEXT, Skip.VANISHED)


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for and where. `literal` takes the pattern as it is, not as an expression."""

    pattern: str
    folders: tuple[str, ...] | None = None
    globs: tuple[str, ...] = ()
    case_sensitive: bool = False
    literal: bool = False
    most: int = 50


@dataclass(frozen=True, slots=True)
class Line:
    """A matching line: 1-based number, and its text cut to `WIDEST_LINE` characters around the match."""

    folder_name: str
    source: SourceFile
    number: int
    text: str


@dataclass(slots=True)
class Matches:
    """Matching lines by folder, path and number; `more` says that there are others."""

    lines: list[Line]
    more: bool = False
    notes: list[str] = field(default_factory=list)


def grep(corpus: Corpus, search: Search, stop: Callable[[], bool] = lambda: False) -> Matches:
    """The first `most` lines that match; fewer, with a note, once `stop` says so (it is asked now and then).

    Raises QueryError for a pattern that cannot be used, FolderError.
    """
    find = compile_pattern(search.pattern, literal=search.literal, case_sensitive=search.case_sensitive)
    if search.most < 1:
        raise QueryError("the number of results must be at least 1")
    wanted = resolve_filter(corpus, search.folders, search.globs, ())
    found = Matches([])
    for folder in folders_in(corpus, wanted):
        try:
            files = _listed(corpus, folder, wanted)
        except FolderError as error:
            found.notes.append(str(error))
            continue
        room = search.most - len(found.lines) + 1
        found.lines += islice(_matches(corpus, folder, files, find, found.notes, stop), room)
        if len(found.lines) > search.most:
            del found.lines[search.most :]
            found.more = True
            break
        if stop():
            found.notes.append("stopped before every file was looked at; narrow the folder or the glob")
            found.more = True
            break
    return found


def compile_pattern(pattern: str, *, literal: bool, case_sensitive: bool) -> Callable[[bytes], Any]:
    """A function from UTF-8 text to an iterator of matches within lines. Raises QueryError."""
    import re2

    if not pattern:
        raise QueryError("the pattern is empty")
    options = re2.Options()
    options.case_sensitive = case_sensitive
    options.never_nl = True
    options.log_errors = False
    options.max_mem = _PATTERN_MEMORY
    try:
        data = pattern.encode()
        source = re2.escape(data) if literal else b"(?m)" + data
        return re2.compile(source, options).finditer  # type: ignore[no-any-return]
    except (re2.error, UnicodeEncodeError) as error:
        cause = error.args[0]
        text = cause.decode(errors="replace") if isinstance(cause, bytes) else str(cause)
        raise QueryError(
            f"the pattern is not a regular expression (RE2): {text}. "
            "To look for it as it is, make it literal (--literal; literal=true for an agent)"
        ) from error


def _listed(corpus: Corpus, folder: Folder, wanted: Filter) -> list[SourceFile]:
    from ..listing import list_files

    files = list_files(folder.path, corpus.listing_rules(folder.path)).files
    keep = files_wanted(((n, file.folder, file.path, "", "") for n, file in enumerate(files)), wanted)
    return [files[n] for n in keep]


def _matches(
    corpus: Corpus,
    folder: Folder,
    files: Sequence[SourceFile],
    find: Callable[[bytes], Any],
    notes: list[str],
    stop: Callable[[], bool],
) -> Iterator[Line]:
    with ThreadPoolExecutor(corpus.settings.threads, thread_name_prefix="grep") as pool:
        for start in range(0, len(files), 32):
            if stop():
                return
            part = files[start : start + 32]
            for document in pool.map(lambda file: text_of(corpus, file), part):
                if isinstance(document, Skipped):
                    if document.reason not in _EXPECTED:
                        notes.append(f"{document.source.path}: {document.reason.sentence}")
                    continue
                yield from _lines(folder, document, find)


def _lines(folder: Folder, document: Document, find: Callable[[bytes], Any]) -> Iterator[Line]:
    data = document.text.encode()
    number, counted, after = 1, 0, -1
    for match in find(data):
        start = match.start()
        if start < after:
            continue  # another match of a line that has been given
        number += data.count(b"\n", counted, start)
        counted = start
        line_start = data.rfind(b"\n", 0, start) + 1
        line_end = data.find(b"\n", start)
        after = line_end + 1 if line_end >= 0 else len(data)
        line_end = len(data) if line_end < 0 else line_end
        if line_start == len(data) and data:
            continue  # the empty end after the last line end is no line
        text = data[line_start:line_end].decode(errors="replace")
        at = len(data[line_start:start].decode(errors="replace"))
        yield Line(folder.name, document.source, number, cut_around(text, at))
        if line_end == len(data):
            return


def cut_around(text: str, at: int) -> str:
    """A line cut to `WIDEST_LINE` characters around a place in it, with … where something was left out."""
    if len(text) <= WIDEST_LINE:
        return text
    start = max(0, min(at - WIDEST_LINE // 3, len(text) - WIDEST_LINE))
    end = start + WIDEST_LINE
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
