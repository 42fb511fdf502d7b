"""JSON with comments and trailing commas, edited in place: what is not touched stays as it is, byte for byte.

The grammar is RFC 8259 with `//` and `/* */` comments wherever white space may be, and a comma after the last
item of an object or array.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_TRIVIA = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null')
_DEEPEST = 200


class Malformed(ValueError):
    """Text that is no JSON, with the line where it ceases to be."""

    def __init__(self, text: str, at: int, what: str) -> None:
        super().__init__(f"line {text.count(chr(10), 0, at) + 1}: {what}")


@dataclass(slots=True)
class Node:
    """A value with its place in the text; the members of an object, the last of each key."""

    start: int
    end: int = 0
    value: Any = None
    members: dict[str, Member] = field(default_factory=dict)
    comma_at_end: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: where its key starts, its value, and where its comma ends (-1 without one)."""

    start: int
    node: Node
    comma_end: int


def loads(text: str) -> Any:
    """The value of a text. Raises Malformed."""
    return _parse(text).value


def _parse(text: str) -> Node:
    node, at = _value(text, _skip(text, 0), 0)
    at = _skip(text, at)
    if at != len(text):
        raise Malformed(text, at, "something after the end")
    return node


def _skip(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    assert found is not None
    return found.end()


def _value(text: str, at: int, depth: int) -> tuple[Node, int]:
    if depth > _DEEPEST:
        raise Malformed(text, at, "nested too deeply")
    if text[at : at + 1] == "{":
        return _object(text, at, depth)
    if text[at : at + 1] == "[":
        return _array(text, at, depth)
    found = _SCALAR.match(text, at)
    if not found:
        raise Malformed(text, at, "a value is missing")
    try:
        value = json.loads(found[0])
    except ValueError as error:
        raise Malformed(text, at, "not a value") from error
    return Node(at, found.end(), value), found.end()


def _object(text: str, at: int, depth: int) -> tuple[Node, int]:
    node = Node(at, value={})
    at = _skip(text, at + 1)
    while text[at : at + 1] != "}":
        start = at
        key, at = _value(text, at, depth + 1)
        if not isinstance(key.value, str):
            raise Malformed(text, start, "a name in quotes is missing")
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise Malformed(text, at, "a colon is missing")
        item, at = _value(text, _skip(text, at + 1), depth + 1)
        at, comma = _comma(text, at, "}")
        node.value[key.value] = item.value
        node.members.pop(key.value, None)
        node.members[key.value] = Member(start, item, comma)
        node.comma_at_end = comma >= 0
    node.end = at + 1
    return node, node.end


def _array(text: str, at: int, depth: int) -> tuple[Node, int]:
    node = Node(at, value=[])
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        item, at = _value(text, at, depth + 1)
        node.value.append(item.value)
        at, _ = _comma(text, at, "]")
    node.end = at + 1
    return node, node.end


def _comma(text: str, at: int, closing: str) -> tuple[int, int]:
    """Where the next item starts, and where the comma before it ends."""
    at = _skip(text, at)
    if text[at : at + 1] == ",":
        return _skip(text, at + 1), at + 1
    if text[at : at + 1] != closing:
        raise Malformed(text, at, f"a comma or {closing} is missing")
    return at, -1


def set_member(text: str, path: Sequence[str], value: Any) -> str:
    """The text with a member set, the objects on the way to it made where they are missing.

    Raises Malformed, also where something on the way is no object.
    """
    node = _parse(text) if text.strip() else None
    if node is None:
        nested = value
        for key in reversed(path):
            nested = {key: nested}
        return _written(nested, "  ", "") + "\n"
    unit = _indent_unit(text, node)
    inside = node
    for depth, key in enumerate(path):
        if not isinstance(inside.value, dict):
            raise Malformed(text, inside.start, "an object is expected here")
        member = inside.members.get(key)
        if member is None:
            nested = value
            for name in reversed(path[depth + 1 :]):
                nested = {name: nested}
            return _inserted(text, inside, key, nested, unit)
        inside = member.node
    base = _indent_at(text, inside.start)
    return text[: inside.start] + _written(value, unit, base) + text[inside.end :]


def remove_member(text: str, path: Sequence[str]) -> str:
    """The text without a member, and without the objects that are empty then. Raises Malformed."""
    nodes = [_parse(text)]
    for key in path:
        member = nodes[-1].members.get(key)
        if member is None:
            return text
        nodes.append(member.node)
    for depth in range(len(path) - 1, -1, -1):
        if depth == 0 or len(nodes[depth].members) > 1:
            return _removed(text, nodes[depth], path[depth])
    return text


def _inserted(text: str, inside: Node, key: str, value: Any, unit: str) -> str:
    base = _indent_at(text, inside.start)
    members = list(inside.members.values())
    one_line = "\n" not in text[inside.start : inside.end] and bool(members)
    inner = _indent_at(text, members[-1].start) if members and not one_line else base + unit
    written = f"{json.dumps(key, ensure_ascii=False)}: {_written(value, unit, inner)}"
    if not members:
        before = text[inside.start + 1 : inside.end - 1].rstrip()
        return f"{text[: inside.start + 1]}{before}\n{inner}{written}\n{base}{text[inside.end - 1 :]}"
    last = members[-1]
    after = last.comma_end if last.comma_end >= 0 else last.node.end
    # A comment beside the last member stays beside it.
    at = _end_of_line(text, after, inside.end - 1)
    comma = "" if last.comma_end >= 0 else ","
    trailing = "," if inside.comma_at_end else ""
    gap = "\n" + inner
    closing = text[at:]
    if "\n" not in text[at : inside.end - 1]:
        closing = "\n" + base + text[inside.end - 1 :]
        kept = text[after:at].rstrip() + text[at : inside.end - 1].rstrip()
        return f"{text[:after]}{comma}{kept}{gap}{written}{trailing}{closing}"
    return f"{text[:after]}{comma}{text[after:at]}{gap}{written}{trailing}{closing}"


def _end_of_line(text: str, at: int, limit: int) -> int:
    """The end of the comments that follow on the same line."""
    while at < limit:
        found = re.compile(r"[ \t]*(?:/\*[^\n]*?\*/|//[^\n]*)").match(text, at, limit)
        if not found or found.end() == at:
            return at
        at = found.end()
    return at


def _removed(text: str, inside: Node, key: str) -> str:
    members = list(inside.members.values())
    member = inside.members[key]
    place = members.index(member)
    start, end = member.start, member.comma_end if member.comma_end >= 0 else member.node.end
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():
        # The whole lines of the member go, with the line end before them.
        start = max(line - 1, inside.start + 1)
        start -= text[start - 1 : start] == "\r"
    if member.comma_end < 0 and place:
        before = members[place - 1]
        text = text[: before.comma_end - 1] + text[before.comma_end :]
        start, end = start - 1, end - 1
    rest = text[inside.start + 1 : start] + text[end : inside.end - 1]
    if len(members) == 1 and not rest.strip():
        return text[: inside.start] + "{}" + text[inside.end :]
    return text[:start] + text[end:]


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _indent_unit(text: str, node: Node) -> str:
    for member in node.members.values():
        indent = _indent_at(text, member.start)
        if indent:
            return indent
    return "  "


def _written(value: Any, unit: str, base: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return ("\n" + base).join(lines)
