"""What goes into a store and what comes out of it: frozen values, the same for every store."""

from __future__ import annotations

from dataclasses import dataclass

from ..types import Chunk, Document, Skip, Skipped, SourceFile


@dataclass(frozen=True, slots=True)
class Known:
    """What the store remembers of a file: its stamp, when it was last looked at, and what came of it.

    `stamp` is (size, mtime, ctime, inode); `seen_ns` the time of the look that took it, in nanoseconds.
    """

    stamp: tuple[int, int, int, int]
    seen_ns: int
    sha256: str
    reason: Skip | None
    chunks: int


@dataclass(frozen=True, slots=True)
class Indexed:
    """A document cut into chunks, with the terms and the embedding key of each, ready to be written.

    `terms` and `context` are the lexical terms of a chunk's text and of its surroundings (path, heading,
    symbol), joined by single spaces; `scripts` name the script most of a chunk is written in; `keys` identify
    what the model would see. All are as long as `chunks`. `path_terms` are those of the path alone.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    terms: tuple[str, ...]
    context: tuple[str, ...]
    scripts: tuple[str, ...]
    keys: tuple[bytes, ...]
    path_terms: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A file with all that a store keeps of it: as it was written, and why it was skipped (or None).

    A file may have both, when it could not be read again for a cause that is thought to pass. `source` is how
    it looked at `seen_ns`.
    """

    source: SourceFile
    seen_ns: int
    indexed: Indexed | None
    skipped: Skipped | None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which passages an arm may return; applied inside the arm, before its top k is taken.

    `scopes` are (folder path, prefix) pairs, a prefix being a relative path of a file or directory, or
    empty for the whole folder; None means every folder. `globs` have gitignore syntax relative to the
    folder, those that start with `!` exclude. `languages` are names of `languages.py`. Of `tags` a file
    needs one, or one below it.
    """

    scopes: tuple[tuple[str, str], ...] | None = None
    globs: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether everything passes."""
        return self.scopes is None and not (self.globs or self.languages or self.tags)


EVERYTHING = Filter()


@dataclass(frozen=True, slots=True)
class Passage:
    """A stored chunk with the file it belongs to and the script most of it is written in."""

    id: int
    folder: str
    path: str
    language: str
    stamp: tuple[int, int, int, int]
    script: str
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored document: its text, where pages start, and the file's stamp when it was read."""

    text: str
    pages: tuple[int, ...]
    language: str
    sha256: str
    stamp: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file without passages, for a report."""

    folder: str
    path: str
    reason: Skip
    detail: str


@dataclass(frozen=True, slots=True)
class FolderCounts:
    """What the store holds of a folder. `last_run` is an ISO 8601 time in UTC, empty if no run ended."""

    path: str
    files: int
    chunks: int
    pending: int
    skipped: dict[str, int]
    last_run: str


def tags_to_text(tags: tuple[str, ...]) -> str:
    """Tags as stores keep them: one a line."""
    return "\n".join(tags)


def text_to_tags(text: str) -> tuple[str, ...]:
    """The tags that `tags_to_text` made a text of."""
    return tuple(text.split("\n")) if text else ()
