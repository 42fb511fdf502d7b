"""The values that modules exchange: frozen, without I/O."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum


class Skip(StrEnum):
    """Why a listed file has no passages. The value is the reason's name in JSON."""

    BINARY = "binary"
    TOO_LARGE = "too-large"
    EMPTY = "empty"
    SECRET = "secret"  # noqa: S105 - a reason, not a credential
    SYMLINK = "symlink"
    SPECIAL = "special-file"
    UNREADABLE = "unreadable"
    VANISHED = "vanished"
    UNDECODABLE = "undecodable"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    NO_TEXT = "no-text"
    TOO_COMPLEX = "too-complex"
    TIMED_OUT = "timed-out"
    FAULT = "fault"

    @property
    def sentence(self) -> str:
        """What the reason means, for a person."""
        return _SENTENCES[self]

    @property
    def transient(self) -> bool:
        """Whether the cause may be gone at the next look although the file's stamp is the same."""
        return self in (Skip.UNREADABLE, Skip.VANISHED, Skip.TIMED_OUT, Skip.FAULT)


_SENTENCES = {
    Skip.BINARY: "not text",
    Skip.TOO_LARGE: "larger than the size limit",
    Skip.EMPTY: "no text in it",
    Skip.SECRET: "looks like a credential or private key",
    Skip.SYMLINK: "a symbolic link",
    Skip.SPECIAL: "not a regular file",
    Skip.UNREADABLE: "could not be read",
    Skip.VANISHED: "gone before it was read",
    Skip.UNDECODABLE: "text in an encoding that could not be recognised",
    Skip.ENCRYPTED: "protected by a password",
    Skip.DAMAGED: "damaged, or not what its name says",
    Skip.NO_TEXT: "no text layer (a scan?)",
    Skip.TOO_COMPLEX: "expands beyond the extraction limits",
    Skip.TIMED_OUT: "extraction took too long",
    Skip.FAULT: "a fault of ours",
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that a folder lists.

    `folder` is the folder's absolute, resolved path; `path` is relative to it, with `/` between parts.
    Names that are not UTF-8 carry surrogate escapes, as `os.fsdecode` gives them. Sizes are bytes, times
    nanoseconds since the epoch.
    """

    folder: str
    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def absolute(self) -> str:
        """The absolute path on this machine."""
        return os.path.join(self.folder, *self.path.split("/"))

    @property
    def stamp(self) -> tuple[int, int, int, int]:
        """What must be equal for the file to count as unchanged: size, mtime, ctime, inode."""
        return (self.size, self.mtime_ns, self.ctime_ns, self.inode)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A listed file without passages, the reason, and what in particular (may be empty)."""

    source: SourceFile
    reason: Skip
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds.

    `files` are to be read, in path order. `skipped` are known without reading. `unread` are paths of
    subtrees (relative, `/`) that could not be listed: nothing below them may be pruned. `notes` are
    sentences for the user.
    """

    files: tuple[SourceFile, ...]
    skipped: tuple[Skipped, ...] = ()
    unread: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a file: valid Unicode, lines ended by `\\n` alone, no BOM.

    `sha256` is the hex digest of the bytes the text came from. `language` names the kind of text
    (`python`, `markdown`, `pdf`, `text` …). `pages` are the character offsets at which pages start
    (empty where the format has none). `notes` are sentences for the user ("20 of 23 pages without text").
    `tags` are those of a note, folded, without `#`.
    """

    source: SourceFile
    sha256: str
    text: str
    language: str
    pages: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


_CUE_TIMES = re.compile(r"^(?:\d+\n)?[\d:.,]+[ \t]+-->[^\n]*\n|^WEBVTT[^\n]*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A verbatim slice of a document: `chunk.text == document.text[chunk.start:chunk.end]`.

    Offsets are characters; lines are 1-based and inclusive. `heading` is the trail of headings above the
    passage joined by ` > `; `symbol` the qualified name of the definition it holds or lies in, `kind` that
    definition's kind (`function`, `class` …; `cues` for subtitles). `page` is 1-based. What does not apply
    is empty or None.
    """

    start: int
    end: int
    first_line: int
    last_line: int
    text: str
    heading: str = ""
    symbol: str = ""
    kind: str = ""
    page: int | None = None

    @property
    def embedded_text(self) -> str:
        """What the model sees: a header line of heading or symbol, then the text; of subtitles what is said.

        No path in it, so that moving a file changes no vector.
        """
        if self.kind == "cues":
            # Times are half of a subtitle's tokens and say nothing.
            return _CUE_TIMES.sub("", self.text).strip() or self.text
        header = self.heading or self.symbol
        return f"{header}\n{self.text}" if header else self.text


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that answers a query. `score` is comparable within one result list only.

    `duplicates` are the files, as (folder, path), of passages that say the same and were left out. `links`
    are paths in the folder that a note's passage points at, with `:line` where it means a heading.
    """

    folder: str
    folder_name: str
    path: str
    language: str
    chunk: Chunk
    score: float
    stale: bool = False
    explain: dict[str, float] | None = None
    duplicates: tuple[tuple[str, str], ...] = ()
    links: tuple[str, ...] = ()

    @property
    def absolute(self) -> str:
        """The absolute path on this machine."""
        return os.path.join(self.folder, *self.path.split("/"))
