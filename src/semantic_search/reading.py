"""A listed file becomes a document: opened inside its folder only, read once, decoded or extracted.

The bytes of one bounded read give hash and text alike, and the document's stamp is that of the open file:
text, hash and stamp cannot disagree, whatever happens to the path meanwhile.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

from .errors import place_of, unforeseen
from .types import Document, Skip, Skipped, SourceFile

if TYPE_CHECKING:
    from .listing import ListingRules

_BLOCK = 1 << 20
_CONFINED = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY")
_COMMON = getattr(os, "O_CLOEXEC", 0)
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)


class CannotOpen(Exception):
    """A file that must not or cannot be opened. `reason` says why, `detail` what in particular."""

    def __init__(self, reason: Skip, detail: str = "") -> None:
        super().__init__(f"{reason.sentence}: {detail}" if detail else reason.sentence)
        self.reason = reason
        self.detail = detail


def confined_open(folder: str, path: str) -> io.FileIO:
    """The regular file at `path` (relative, `/` between parts) in `folder`, open for reading, unbuffered.

    No part of `path` may be a link, now or at the moment of opening, and FIFOs and devices are never waited
    for. The caller closes the file. Raises CannotOpen.
    """
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise CannotOpen(Skip.VANISHED)
    try:
        descriptor = _open_below(folder, parts) if _CONFINED else _open_resolved(folder, parts)
    except OSError as error:
        raise _cannot(error) from error
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise CannotOpen(Skip.VANISHED if stat.S_ISDIR(mode) else Skip.SPECIAL)
    return io.FileIO(descriptor, "rb")


def _open_below(folder: str, parts: list[str]) -> int:
    """Open part by part, each relative to the directory opened before it (openat(2))."""
    directory = os.open(folder, _DIRECTORY | _COMMON)
    try:
        for part in parts[:-1]:
            _refuse_link(part, directory)
            deeper = os.open(part, _DIRECTORY | os.O_NOFOLLOW | _COMMON, dir_fd=directory)
            os.close(directory)
            directory = deeper
        _refuse_special(_refuse_link(parts[-1], directory))
        return os.open(parts[-1], _FILE | _COMMON, dir_fd=directory)
    finally:
        os.close(directory)


def _refuse_link(part: str, directory: int) -> os.stat_result:
    # For the reason only: that nothing is followed is O_NOFOLLOW's work, whose errors differ by system.
    status = os.stat(part, dir_fd=directory, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        raise CannotOpen(Skip.SYMLINK)
    return status


def _refuse_special(status: os.stat_result) -> None:
    # Opening some devices has effects; the check after opening is for what was swapped in meanwhile.
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        raise CannotOpen(Skip.SPECIAL)


def _open_resolved(folder: str, parts: list[str]) -> int:
    """Open where openat is missing (Windows): by path, then compare with where the path really leads."""
    if any("\\" in part or ":" in part for part in parts) and os.name == "nt":
        raise CannotOpen(Skip.VANISHED)
    absolute = os.path.join(os.path.realpath(folder), *parts)
    _refuse_special(os.stat(absolute))
    descriptor = os.open(absolute, _FILE | _COMMON)
    try:
        real = os.path.realpath(absolute, strict=True)
        confined = os.path.normcase(real) == os.path.normcase(absolute)
        if not confined or not os.path.samestat(os.fstat(descriptor), os.lstat(real)):
            raise CannotOpen(Skip.SYMLINK)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _cannot(error: OSError) -> CannotOpen:
    if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR):
        return CannotOpen(Skip.VANISHED)
    if error.errno == errno.ELOOP:
        return CannotOpen(Skip.SYMLINK)
    if error.errno in (errno.ENXIO, errno.ENODEV):
        return CannotOpen(Skip.SPECIAL)
    return CannotOpen(Skip.UNREADABLE, error.strerror or str(error))


def read_bytes(source: SourceFile, limit: int) -> tuple[SourceFile, bytes] | Skipped:
    """The content of a file of at most `limit` bytes, and the file with the stamp of what was opened."""
    try:
        with confined_open(source.folder, source.path) as file:
            status = os.fstat(file.fileno())
            data = _read_at_most(file, limit + 1)
    except CannotOpen as refusal:
        return Skipped(source, refusal.reason, refusal.detail)
    except OSError as error:
        return Skipped(source, Skip.UNREADABLE, error.strerror or str(error))
    opened = replace(
        source,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        inode=status.st_ino,
    )
    if len(data) > limit:
        return Skipped(opened, Skip.TOO_LARGE)
    return opened, data


def _read_at_most(file: io.FileIO, count: int) -> bytes:
    # One call would set aside the whole limit for a file of a few bytes.
    blocks: list[bytes] = []
    while count > 0 and (block := file.read(min(count, _BLOCK))):
        blocks.append(block)
        count -= len(block)
    return b"".join(blocks)


def read(source: SourceFile, rules: ListingRules) -> Document | Skipped:
    """The text of a file, or why there is none. Both carry the stamp of the file that was opened.

    A format that has an extractor is extracted; everything else is text in one of the encodings that
    `encodings.decode` knows. Safe to call from several threads. Never raises because of what the file holds.
    """
    try:
        return _read(source, rules)
    except unforeseen() as error:
        return fault_of(source, error)


def fault_of(source: SourceFile, error: BaseException) -> Skipped:
    """What an error that nobody foresaw says of the file that it came from: it must cost that file alone."""
    if isinstance(error, MemoryError):
        return Skipped(source, Skip.UNREADABLE, "there is not enough memory for it")
    if isinstance(error, RecursionError):
        return Skipped(source, Skip.TOO_COMPLEX, "nested too deeply")
    return Skipped(source, Skip.FAULT, place_of(error))


def _read(source: SourceFile, rules: ListingRules) -> Document | Skipped:
    from .languages import language_of, language_of_script, language_of_source
    from .listing.credentials import holds_secret
    from .notes import tags_of

    suffix = os.path.splitext(source.path)[1].lower()
    content = read_bytes(source, rules.limit(suffix))
    if isinstance(content, Skipped):
        return content
    opened, data = content
    if not data:
        return Skipped(opened, Skip.EMPTY)
    found, extracted = _text_of(suffix, data, rules)
    if not extracted and len(data) > rules.max_file_bytes:
        return Skipped(opened, Skip.TOO_LARGE)
    if isinstance(found, tuple):
        text, pages, notes = found
    else:
        return Skipped(opened, found.reason, found.detail)
    if not text.strip():
        return Skipped(opened, Skip.NO_TEXT if extracted else Skip.EMPTY)
    if not rules.index_secrets and holds_secret(text.encode() if extracted else data):
        return Skipped(opened, Skip.SECRET)
    language = language_of(source.path)
    if language == "text":
        language = language_of_script(text)
    elif not extracted:
        language = language_of_source(language)
    digest = hashlib.sha256(data).hexdigest()
    return Document(opened, digest, text, language, pages, notes, tags_of(text, language))


_Found = tuple[str, tuple[int, ...], tuple[str, ...]]


def _text_of(suffix: str, data: bytes, rules: ListingRules) -> tuple[_Found | CannotOpen, bool]:
    """What was found, and whether it was extracted rather than taken as it is."""
    from .formats import VERBATIM, is_document

    if not is_document(suffix, data):
        return _decoded(data), False
    found = _extracted(suffix, data, rules)
    if suffix in VERBATIM and isinstance(found, CannotOpen) and found.reason is Skip.NO_TEXT:
        return _decoded(data), False  # a page that a script fills
    return found, True


def _extracted(suffix: str, data: bytes, rules: ListingRules) -> _Found | CannotOpen:
    from .formats import TIME_LIMIT, Refused, extract

    if suffix == ".pdf" and rules.ocr_languages:
        options = {"ocr_languages": list(rules.ocr_languages), "ocr_seconds": rules.ocr_seconds}
        outcome = extract(suffix, data, seconds=TIME_LIMIT + rules.ocr_seconds, options=options)
    else:
        outcome = extract(suffix, data)
    if isinstance(outcome, Refused):
        return CannotOpen(outcome.reason, outcome.detail)
    return outcome.text, tuple(outcome.pages), tuple(outcome.notes)


def _decoded(data: bytes) -> _Found | CannotOpen:
    from .encodings import decode, is_binary

    if is_binary(data):
        return CannotOpen(Skip.BINARY)
    decoded = decode(data)
    if decoded is None:
        return CannotOpen(Skip.UNDECODABLE)
    if not decoded.replaced:
        return decoded.text, (), ()
    return decoded.text, (), (f"{decoded.replaced} bytes are not valid {decoded.encoding} and were replaced",)
