"""The definitions of a source file, nested, from its syntax tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .grammars import ATTACHED, CONTAINERS, CONTINUED, KINDS, MINOR, SINGLE_WRAPPERS, UNNAMED_SCOPES, WRAPPERS
from .naming import named

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_DEPTH = 24
_MAX_NAME = 100
_METHOD_SCOPES = CONTAINERS - {"module", "namespace", "test"}


@dataclass(slots=True)
class Item:
    """A definition: its span in bytes (comments above it included), qualified name, kind and members."""

    start: int
    end: int
    name: str
    kind: str
    members: list[Item]

    def names(self, minor: bool) -> Iterator[str]:
        """Its own name and those of its members, in order: of constants and the like, or of all others."""
        if (self.kind in MINOR) == minor:
            yield self.name
        for member in self.members:
            yield from member.names(minor)


class _Scope(NamedTuple):
    """What encloses a definition: its qualified name and kind, and how deep the tree is there."""

    name: str = ""
    kind: str = ""
    depth: int = 0

    def deeper(self) -> _Scope:
        return self._replace(depth=self.depth + 1)


def outline(root: Node, grammar: str) -> list[Item]:
    """The definitions below `root` in order, outermost first; only members lie inside another."""
    return _items(root, KINDS[grammar], grammar, _Scope())


def _items(parent: Node, kinds: dict[str, str], grammar: str, scope: _Scope) -> list[Item]:
    """The definitions among the children of `parent`, with the comments and attributes right above."""
    found: list[Item] = []
    attached: tuple[int, int] | None = None  # first byte and last row of the run above
    last_row = -1
    for node in parent.named_children:
        row = node.start_point.row
        end_row = node.end_point.row - (node.end_point.column == 0 and node.end_point.row > row)
        touches = attached is not None and row - attached[1] <= 1
        if node.type in ATTACHED and node.type not in kinds:
            if attached is not None and touches:
                attached = (attached[0], end_row)
            else:
                attached = (node.start_byte, end_row) if row > last_row else None
        else:
            start = attached[0] if attached is not None and touches else node.start_byte
            _add(found, node, start, kinds, grammar, scope)
            attached = None
        last_row = end_row
    return found


def _add(
    found: list[Item], node: Node, start: int, kinds: dict[str, str], grammar: str, scope: _Scope
) -> None:
    item = _item(node, kinds, grammar, scope)
    if item is not None:
        item.start, item.end = start, max(item.end, node.end_byte)
        before = found[-1] if found else None
        if before is not None and before.name == item.name and before.kind == item.kind == "function":
            before.end = item.end  # another clause of the same function
        else:
            found.append(item)
    elif node.type in CONTINUED and found:
        found[-1].end = node.end_byte
    elif node.type in WRAPPERS and scope.depth < _MAX_DEPTH:
        inner = _items(node, kinds, grammar, scope.deeper())
        if inner:
            inner[0].start = min(inner[0].start, start) if start < node.start_byte else inner[0].start
        found.extend(inner)


def _item(node: Node, kinds: dict[str, str], grammar: str, scope: _Scope) -> Item | None:
    """The definition that `node` is or just wraps."""
    kind = kinds.get(node.type)
    if kind is None:
        if node.type in SINGLE_WRAPPERS and scope.depth < _MAX_DEPTH:
            for child in node.named_children:
                if (item := _item(child, kinds, grammar, scope.deeper())) is not None:
                    return item
        return None
    name, kind = named(node, kind, grammar)
    if not name:
        return None
    qualified = f"{scope.name}.{name}" if scope.name else name
    if kind == "function" and scope.kind in _METHOD_SCOPES:
        kind = "method"
    members: list[Item] = []
    if kind in CONTAINERS and scope.depth < _MAX_DEPTH:
        inner = _Scope(scope.name if kind in UNNAMED_SCOPES else qualified, kind, scope.depth + 1)
        members = _items(node, kinds, grammar, inner)
    return Item(node.start_byte, node.end_byte, qualified[:_MAX_NAME], kind, members)
