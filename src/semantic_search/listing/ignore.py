"""Ignore files and the rules in force in a directory."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterable

from .patterns import BadPattern, PatternSet, parse

INDEXIGNORE = ".indexignore"
GITIGNORE = ".gitignore"
MAX_BYTES = 1_000_000

Chain = tuple[tuple[int, PatternSet], ...]
"""The ignore files in force, nearest first: how many characters of a path lead to each one's directory."""


def ignored(chain: Chain, path: str, name: str, is_directory: bool) -> bool:
    """Whether the nearest file with an opinion about this entry ignores it."""
    for start, patterns in chain:
        verdict = patterns.verdict(path[start:], name, is_directory)
        if verdict is not None:
            return verdict
    return False


def compile_lines(lines: Iterable[str], origin: str, notes: list[str]) -> PatternSet | None:
    """The patterns of `lines`; a line that cannot be used becomes a note. None when there is none at all."""
    patterns = []
    for number, line in enumerate(lines, 1):
        try:
            pattern = parse(line)
        except BadPattern as error:
            notes.append(f"{origin}: line {number} ({line!r}) matches nothing: {error}")
            continue
        if pattern is not None:
            patterns.append(pattern)
    return PatternSet(patterns) if patterns else None


def extend(chain: Chain, directory: str, depth: int, name: str, notes: list[str]) -> Chain:
    """`chain` with the ignore file `name` of `directory`, if it has one, in front.

    `depth` is how many characters of a path lead into that directory. A file that cannot be read or is no
    text becomes a note. Links are not followed: the patterns of a folder come from the folder.
    """
    path = f"{directory}/{name}"
    data = _read(path, notes)
    if not data:
        return chain
    text = _text(data)
    if text is None:
        notes.append(f"{path} is not text and was not used: save it as UTF-8")
        return chain
    patterns = compile_lines((line.removesuffix("\r") for line in text.split("\n")), path, notes)
    return chain if patterns is None else ((depth, patterns), *chain)


def _read(path: str, notes: list[str]) -> bytes | None:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        notes.append(f"{path} was not used: {_cause(path, error)}")
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            notes.append(f"{path} was not used: it is not a regular file")
            return None
        try:
            data = file.read(MAX_BYTES + 1)
        except OSError as error:
            notes.append(f"{path} was not used: {error.strerror}")
            return None
    if len(data) > MAX_BYTES:
        notes.append(f"{path} was not used: it is larger than {MAX_BYTES} bytes")
        return None
    return data


def _cause(path: str, error: OSError) -> str:
    return "it is a symbolic link" if os.path.islink(path) else str(error.strerror)


def _text(data: bytes) -> str | None:
    """The text, names that are not UTF-8 kept as `os.fsdecode` keeps them; None for binary data."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            return None
    if b"\0" in data:
        return None
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
