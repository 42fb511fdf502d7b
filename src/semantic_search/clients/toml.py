"""A server's table in a TOML file, edited in place: other tables and every comment stay as they are.

Only what can be understood line by line is edited, and the result is read back by the standard library: a
file in which that does not give what was meant is left alone.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

_HEADER = re.compile(r"^\s*\[")


class Malformed(ValueError):
    """A file that is no TOML, or one that has to be edited by hand."""


def loads(text: str) -> dict[str, Any]:
    """The value of a text. Raises Malformed."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Malformed(str(error)) from error


def set_table(text: str, outer: str, name: str, entry: dict[str, Any]) -> str:
    """The text with the keys of an entry set in the table `outer.name`. Raises Malformed."""
    expected = loads(text)
    expected.setdefault(outer, {}).setdefault(name, {}).update(entry)
    lines = text.split("\n")
    place = _block(lines, outer, name)
    written = [f"{key} = {_literal(value)}" for key, value in entry.items()]
    if place is None:
        gap = [] if not text.strip() else ["", ""] if not text.endswith("\n") else [""]
        head = "" if not text.strip() else text
        changed = head + "\n".join([*gap, f"[{outer}.{_key(name)}]", *written, ""])
    else:
        start, end = place
        kept = [line for line in lines[start + 1 : end] if not re.match(rf"\s*({'|'.join(entry)})\s*=", line)]
        changed = "\n".join([*lines[: start + 1], *written, *kept, *lines[end:]])
    return _checked(changed, expected)


def remove_table(text: str, outer: str, name: str) -> str:
    """The text without the table `outer.name` and its own tables. Raises Malformed."""
    expected = loads(text)
    if name not in expected.get(outer, {}):
        return text
    del expected[outer][name]
    if not expected[outer]:
        del expected[outer]
    lines = text.split("\n")
    while (place := _block(lines, outer, name)) is not None:
        start, end = place
        if start and not lines[start - 1].strip() and (end >= len(lines) or not lines[end].strip()):
            start -= 1
        del lines[start:end]
    return _checked("\n".join(lines), expected)


def _checked(text: str, expected: dict[str, Any]) -> str:
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Malformed(f"its form does not allow an edit in place ({error})") from error
    if found != expected and {key: value for key, value in found.items() if value != {}} != expected:
        raise Malformed("its form does not allow an edit in place")
    return text


def _block(lines: list[str], outer: str, name: str) -> tuple[int, int] | None:
    """First line and end of the first table `outer.name…`: its header and what belongs to it."""
    wanted = re.compile(
        rf"""^\s*\[\s*["']?{re.escape(outer)}["']?\s*\.\s*(["']?){re.escape(name)}\1\s*[.\]]"""
    )
    start = next((number for number, line in enumerate(lines) if wanted.match(line)), None)
    if start is None:
        return None
    end = start + 1
    for number in range(start + 1, len(lines)):
        if _HEADER.match(lines[number]) and not _inside_value(lines[start + 1 : number]):
            break
        if lines[number].strip() and not lines[number].lstrip().startswith("#"):
            end = number + 1
    return start, end


def _inside_value(lines: list[str]) -> bool:
    """Whether a value that began in these lines has not ended with them."""
    try:
        tomllib.loads("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return True
    return False


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    # A JSON string is a TOML basic string, but for DEL, which JSON leaves as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
