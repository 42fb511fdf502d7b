"""The name and kind of a definition node, for each grammar's way of writing them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_IDENTIFIER = re.compile(
    r"(?:identifier|name|constant|word|atom|sym_lit|variable|operator_name|operator|string)$"
)
_GENERIC_ARGUMENTS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]")
_NOT_IN_NAME = re.compile(r"[\s'\"`]+")
_SEPARATOR = re.compile(r"::|->|[:#\\/]")
_ELIXIR = {
    "defmodule": "module", "defprotocol": "protocol", "defimpl": "impl",
    "def": "function", "defp": "function",
    "defmacro": "macro", "defmacrop": "macro", "defguard": "macro", "defdelegate": "function",
    "test": "test", "describe": "test",
}  # fmt: skip
_CLOJURE = {
    "def": "constant", "defn": "function", "defn-": "function", "defmacro": "macro", "defmulti": "function",
    "defmethod": "method", "defprotocol": "protocol", "defrecord": "record", "deftype": "class",
    "deftest": "test",
    "defonce": "constant", "ns": "module",
}  # fmt: skip
_FUNCTION_VALUES = frozenset(
    (
        "arrow_function",
        "function_expression",
        "function",
        "generator_function",
        "function_definition",
        "class",
        "lambda",
    )
)
_JAVASCRIPT_TESTS = frozenset({"describe", "context", "suite", "it", "test", "specify"})
_GO_TYPES = {"struct_type": "struct", "interface_type": "interface"}
_ZIG_TYPES = {"struct_declaration": "struct", "enum_declaration": "enum", "union_declaration": "union"}

Named = tuple[str, str]
"""A name, empty where the node defines nothing, and a kind."""


def named(node: Node, kind: str, grammar: str) -> Named:
    """The name that `node` defines, without its scope, and its kind in particular; no name if it has none."""
    special = _SPECIAL.get(grammar)
    name, kind = special(node, kind) if special is not None else (_name(node), kind)
    return _clean(name), kind


def _text(node: Node | None) -> str:
    if node is None or node.text is None or node.end_byte - node.start_byte > 400:
        return ""
    return node.text.decode("utf-8", "replace")


def _clean(name: str) -> str:
    name = _GENERIC_ARGUMENTS.sub("", name) if name[:1] not in "[<" else name
    return _SEPARATOR.sub(".", _NOT_IN_NAME.sub(" ", name).strip()).strip(".")[:100]


def _name(node: Node) -> str:
    """The `name` field, else the first identifier at most three levels down."""
    return _text(node.child_by_field_name("name") or _first_identifier(node))


def _first_identifier(node: Node, depth: int = 3) -> Node | None:
    level = [node]
    for _ in range(depth):
        level = [child for parent in level[:20] for child in parent.named_children[:20]]
        for child in level:
            if _IDENTIFIER.search(child.type):
                return child
    return None


def _children(node: Node, *types: str) -> Iterator[Node]:
    return (child for child in node.named_children if child.type in types)


def _python(node: Node, kind: str) -> Named:
    if node.type != "expression_statement":
        return _name(node), kind
    assignment = next(_children(node, "assignment"), None)
    left = assignment.child_by_field_name("left") if assignment is not None else None
    return (_text(left), kind) if left is not None and left.type == "identifier" else ("", kind)


def _javascript(node: Node, kind: str) -> Named:
    if node.type in ("lexical_declaration", "variable_declaration"):
        declarator = next(_children(node, "variable_declarator"), None)
        if declarator is None:
            return "", kind
        target, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
        name = _text(target) if target is not None and target.type == "identifier" else ""
        return name, "function" if value is not None and value.type in _FUNCTION_VALUES else kind
    if node.type == "expression_statement":
        return _javascript_test(node), kind
    if kind == "field":
        value = node.child_by_field_name("value")
        name = _text(node.child_by_field_name("name") or node.child_by_field_name("property"))
        return (name, "method") if value is not None and value.type in _FUNCTION_VALUES else ("", kind)
    return _name(node), kind


def _javascript_test(node: Node) -> str:
    """The title of `describe("…", …)` and its kin; empty for other statements."""
    call = next(_children(node, "call_expression"), None)
    arguments = call.child_by_field_name("arguments") if call is not None else None
    if (
        call is None
        or arguments is None
        or _text(call.child_by_field_name("function")) not in _JAVASCRIPT_TESTS
    ):
        return ""
    return _text(next(_children(arguments, "string", "template_string"), None))[:80]


def _go(node: Node, kind: str) -> Named:
    if node.type == "method_declaration":
        receiver = _text(node.child_by_field_name("receiver"))
        match = re.search(r"([\w.]+)(?:\[[^\]]*\])?\s*\)$", receiver)
        return f"{match[1]}.{_name(node)}" if match else _name(node), kind
    if node.type == "type_declaration":
        spec = next(_children(node, "type_spec", "type_alias"), None)
        if spec is None:
            return "", kind
        type_node = spec.child_by_field_name("type")
        return _name(spec), _GO_TYPES.get(type_node.type, kind) if type_node is not None else kind
    return _name(node), kind


def _rust(node: Node, kind: str) -> Named:
    return (_text(node.child_by_field_name("type")) if kind == "impl" else _name(node)), kind


def _c(node: Node, kind: str) -> Named:
    if node.type in ("struct_specifier", "union_specifier", "enum_specifier", "class_specifier"):
        # `struct x y;` uses a type, only a body defines one.
        return (_name(node) if node.child_by_field_name("body") is not None else ""), kind
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and (inner := declarator.child_by_field_name("declarator")) is not None:
        declarator = inner
    if declarator is not None:
        if declarator.type in ("reference_declarator", "parenthesized_declarator"):
            return _text(_first_identifier(declarator)), kind
        return _text(declarator), kind
    return _name(node), kind


def _swift(node: Node, kind: str) -> Named:
    if node.type == "init_declaration":
        return "init", "method"
    if node.type == "deinit_declaration":
        return "deinit", "method"
    if node.type == "subscript_declaration":
        return "subscript", "method"
    declared = _text(node.child_by_field_name("declaration_kind"))
    return _name(node), declared if declared in ("struct", "enum", "extension") else kind


def _kotlin(node: Node, kind: str) -> Named:
    if node.type == "companion_object":
        return _text(node.child_by_field_name("name")) or "Companion", kind
    if node.type == "secondary_constructor":
        return "constructor", "method"
    keywords = {child.type for child in node.children[:4]}
    name = node.child_by_field_name("name")
    if name is None:
        target = next(_children(node, "variable_declaration"), node)
        name = next(_children(target, "simple_identifier", "identifier", "type_identifier"), None)
    return _text(name), "interface" if "interface" in keywords else kind


def _csharp(node: Node, kind: str) -> Named:
    if node.type == "indexer_declaration":
        return "this", kind
    if node.type == "operator_declaration":
        return "operator " + _text(node.child_by_field_name("operator")), kind
    return _name(node), kind


def _haskell(node: Node, kind: str) -> Named:
    if kind == "impl":
        head = _text(node).split(" where")[0].split("=>")[-1].removeprefix("instance")
        return " ".join(re.findall(r"[\w.']+", head)[:2]), kind
    return _name(node), kind


def _elixir(node: Node, kind: str) -> Named:
    keyword = _text(node.child_by_field_name("target"))
    arguments = next(_children(node, "arguments"), None)
    if keyword not in _ELIXIR or arguments is None or not arguments.named_children:
        return "", kind
    head = arguments.named_children[0]
    while head.type in ("binary_operator", "call") and head.named_children:
        head = head.named_children[0]
    return _text(head), _ELIXIR[keyword]


def _erlang(node: Node, kind: str) -> Named:
    clause = next(_children(node, "function_clause"), node)
    return _name(clause), kind


def _lua(node: Node, kind: str) -> Named:
    if node.type == "function_declaration":
        return _name(node), kind
    if _first_of(node, "function_definition", "table_constructor") is None:
        return "", kind
    value_kind = "function" if _first_of(node, "function_definition") is not None else kind
    return _text(_first_of(node, "dot_index_expression", "identifier")), value_kind


def _first_of(node: Node, *types: str, depth: int = 3) -> Node | None:
    level = [node]
    for _ in range(depth):
        level = [child for parent in level[:20] for child in parent.named_children[:20]]
        for child in level:
            if child.type in types:
                return child
    return None


def _zig(node: Node, kind: str) -> Named:
    if node.type == "test_declaration":
        return "test " + _text(next(iter(node.named_children), None)), kind
    if kind == "constant":
        return _name(node), next((_ZIG_TYPES[child.type] for child in _children(node, *_ZIG_TYPES)), kind)
    return _name(node), kind


def _julia(node: Node, kind: str) -> Named:
    return _name(next(_children(node, "signature", "type_head"), node)), kind


def _dart(node: Node, kind: str) -> Named:
    inner = node
    while (
        signature := next((child for child in inner.named_children if "signature" in child.type), None)
    ) is not None:
        inner = signature
    return _name(inner), kind


def _clojure(node: Node, kind: str) -> Named:
    symbols = list(node.named_children[:3])
    if len(symbols) < 2 or (kind := _CLOJURE.get(_text(symbols[0]), "")) == "":
        return "", kind
    return _text(symbols[1]).split()[-1] if _text(symbols[1]).split() else "", kind


def _r(node: Node, kind: str) -> Named:
    children = node.named_children
    if len(children) == 2 and children[1].type == "function_definition" and children[0].type == "identifier":
        return _text(children[0]), kind
    return "", kind


def _hcl(node: Node, kind: str) -> Named:
    words = [_text(child) for child in _children(node, "identifier", "string_lit")]
    return ".".join(word.strip('"') for word in words), kind


def _ocaml(node: Node, kind: str) -> Named:
    if node.type == "value_definition":
        return _text(_first_of(node, "value_name", "parenthesized_operator", depth=2)), kind
    return _name(node), kind


def _scala(node: Node, kind: str) -> Named:
    if node.type == "extension_definition":
        return "extension", kind
    return _text(node.child_by_field_name("name") or node.child_by_field_name("pattern")), kind


_SPECIAL: dict[str, Callable[[Node, str], Named]] = {
    "python": _python,
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    "go": _go,
    "rust": _rust,
    "c": _c,
    "cpp": _c,
    "objc": _c,
    "swift": _swift,
    "kotlin": _kotlin,
    "csharp": _csharp,
    "haskell": _haskell,
    "elixir": _elixir,
    "erlang": _erlang,
    "lua": _lua,
    "zig": _zig,
    "clojure": _clojure,
    "julia": _julia,
    "dart": _dart,
    "r": _r,
    "hcl": _hcl,
    "ocaml": _ocaml,
    "scala": _scala,
}
