"""Lines of gitignore syntax, compiled to match one directory entry at a time.

The walk asks about an entry only when every directory above it was kept, so a pattern here matches the
entry itself and never "everything below". That is git's own rule (gitignore(5): a file cannot be included
again when a parent directory is excluded) and the reason why the patterns are translated here: ready-made
matchers answer for whole paths, where a negated directory pattern would bring back the files in it.

Stars become atomic groups: the leftmost match of each literal part is as good as any other, so that no
pattern, however hostile, takes more than time linear in the number of its stars.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby

_STAR, _DOUBLE_STAR, _SLASH = "*", "**", "/"
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t-\\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class BadPattern(ValueError):
    """A line that can match nothing: an unclosed bracket, a backslash at its end."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line. `literal` is the name a pattern without wildcards and slashes stands for."""

    negated: bool
    directories_only: bool
    whole_path: bool
    regex: str
    literal: str | None


def parse(line: str) -> Pattern | None:
    """The pattern of a line (without its line end); None for a blank line or a comment.

    Raises BadPattern for a line that git, too, lets match nothing.
    """
    text = _trim(line)
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[negated:]
    directories_only = text.endswith("/")
    if directories_only:
        text = text[:-1]
    whole_path = "/" in text
    text = text[1:] if text.startswith("/") else text
    if not text:
        raise BadPattern("it names nothing")
    tokens = _tokens(text)
    literal = None if whole_path or re.search(r"[*?\[\\]", text) else text
    regex = _path(tokens) if whole_path else _component(tokens)
    return Pattern(negated, directories_only, whole_path, regex, literal)


def _trim(line: str) -> str:
    """The line without trailing spaces, except one that a backslash keeps."""
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if backslashes % 2 and len(kept) < len(line) else kept


def _tokens(text: str) -> list[str]:
    """Regular expressions for single characters, between star and slash marks."""
    tokens: list[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if character == "*":
            while text.startswith("*", position):
                position += 1
                character = _DOUBLE_STAR
            tokens.append(character)
        elif character == "/":
            tokens.append(_SLASH)
        elif character == "?":
            tokens.append("[^/]")
        elif character == "[":
            token, position = _bracket(text, position)
            tokens.append(token)
        elif character == "\\":
            if position == len(text):
                raise BadPattern("it ends with a backslash")
            tokens.append(_literal(text[position]))
            position += 1
        else:
            tokens.append(_literal(character))
    return tokens


def _literal(character: str) -> str:
    if character == "/":
        return _SLASH
    return f"\\{character}" if character in "*?+.()[]{}|^$\\" else character


def _bracket(text: str, position: int) -> tuple[str, int]:
    """The expression for a bracket whose `[` stands before `position`, and where it ends."""
    negated = text[position : position + 1] in ("!", "^")
    position += negated
    parts: list[str] = []
    first = True
    while True:
        if position >= len(text):
            raise BadPattern("a bracket is not closed")
        if text[position] == "]" and not first:
            break
        first = False
        if text.startswith("[:", position) and (end := text.find(":]", position)) > 0:
            name = text[position + 2 : end]
            if name not in _POSIX:
                raise BadPattern(f"there is no character class {name!r}")
            parts.append(_POSIX[name])
            position = end + 2
            continue
        low, position = _bracket_character(text, position)
        high = low
        if text.startswith("-", position) and text[position + 1 : position + 2] not in ("", "]"):
            high, position = _bracket_character(text, position + 1)
        if low <= high:
            parts.append(f"{re.escape(low)}-{re.escape(high)}")
    inside = "".join(parts)
    if negated:
        return f"[^/{inside}]", position + 1
    return (f"(?!/)[{inside}]" if inside else "(?!)"), position + 1


def _bracket_character(text: str, position: int) -> tuple[str, int]:
    if text[position] == "\\":
        position += 1
    if position >= len(text):
        raise BadPattern("a bracket is not closed")
    return text[position], position + 1


def _component(tokens: Iterable[str]) -> str:
    """The expression for one name: every star but the last takes as little as it can."""
    parts = [
        "".join(run)
        for star, run in groupby(tokens, lambda token: token in (_STAR, _DOUBLE_STAR))
        if not star
    ]
    marks = [token in (_STAR, _DOUBLE_STAR) for token in tokens]
    if not any(marks):
        return "".join(parts)
    head = "" if marks[0] else parts.pop(0)
    tail = "" if marks[-1] else parts.pop()
    middle = "".join(f"(?>[^/]*?{part})" for part in parts)
    return f"{head}{middle}[^/]*{tail}"


def _path(tokens: list[str]) -> str:
    """The expression for a path relative to the place of the ignore file."""
    components = [list(run) for slash, run in groupby(tokens, _SLASH.__eq__) if not slash]
    if tokens[0] == _SLASH or tokens[-1] == _SLASH or tokens.count(_SLASH) != len(components) - 1:
        raise BadPattern("it has an empty part between slashes")
    blocks: list[list[str]] = [[]]
    for component in components:
        if component == [_DOUBLE_STAR]:
            blocks.append([])
        else:
            blocks[-1].append(_component(component))
    first, *rest = ("/".join(block) for block in blocks)
    if not rest:
        return first
    last = rest.pop()
    middle = "".join(f"(?>(?:[^/]+/)*?{block}/)" for block in rest if block)
    return f"{first}{'/' if first else ''}{middle}{f'(?:[^/]+/)*{last}' if last else '.+'}"


@dataclass(frozen=True, slots=True)
class _Matcher:
    names: frozenset[str]
    name: Callable[[str], re.Match[str] | None] | None
    path: Callable[[str], re.Match[str] | None] | None

    @classmethod
    def of(cls, patterns: list[Pattern]) -> _Matcher:
        return cls(
            frozenset(pattern.literal for pattern in patterns if pattern.literal is not None),
            _any_of([p.regex for p in patterns if not p.whole_path and p.literal is None]),
            _any_of([p.regex for p in patterns if p.whole_path]),
        )

    def matches(self, path: str, name: str) -> bool:
        return (
            name in self.names
            or (self.name is not None and self.name(name) is not None)
            or (self.path is not None and self.path(path) is not None)
        )


def _any_of(regexes: list[str]) -> Callable[[str], re.Match[str] | None] | None:
    if not regexes:
        return None
    return re.compile("|".join(f"(?:{regex})" for regex in regexes), re.DOTALL).fullmatch


class PatternSet:
    """The patterns of one ignore file: the last one that matches decides."""

    __slots__ = ("_groups",)

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._groups = tuple(
            (not negated, _Matcher.of([p for p in run if not p.directories_only]), _Matcher.of(run))
            for negated, run in reversed(
                [(negated, list(run)) for negated, run in groupby(patterns, lambda pattern: pattern.negated)]
            )
        )

    def verdict(self, path: str, name: str, is_directory: bool) -> bool | None:
        """True: ignored; False: kept by a negated pattern; None: no pattern matches.

        `path` is relative to the directory of the ignore file, `name` its last part.
        """
        for ignored, for_files, for_directories in self._groups:
            if (for_directories if is_directory else for_files).matches(path, name):
                return ignored
        return None
