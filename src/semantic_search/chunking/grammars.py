"""What counts as a definition in each language's syntax tree: node types of the bundled tree-sitter grammars.

A row maps kinds to node types; a new language is a new row. Names are found by the rules in `outline`.
"""

from __future__ import annotations

import re


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


CONTAINERS = _words(
    """class struct interface trait impl module namespace enum object protocol extension contract library
    union service record test"""
)
"""Kinds whose members are definitions of their own."""

MINOR = _words("constant variable field property")
"""Kinds whose names come after those of functions and types in the symbol of a chunk."""

UNNAMED_SCOPES = frozenset({"namespace"})
"""Kinds that do not appear in the qualified names of their members."""

_ROWS: dict[str, dict[str, str]] = {
    "python": {
        "function": "function_definition",
        "class": "class_definition",
        "type": "type_alias_statement",
        "constant": "expression_statement",
    },
    "javascript": {
        "function": "function_declaration generator_function_declaration",
        "class": "class_declaration",
        "method": "method_definition",
        "constant": "lexical_declaration variable_declaration",
        "test": "expression_statement",
        "field": "field_definition",
    },
    "go": {
        "function": "function_declaration",
        "method": "method_declaration",
        "type": "type_declaration",
        "constant": "const_declaration",
        "variable": "var_declaration",
    },
    "rust": {
        "function": "function_item function_signature_item",
        "struct": "struct_item",
        "union": "union_item",
        "enum": "enum_item",
        "trait": "trait_item",
        "impl": "impl_item",
        "module": "mod_item",
        "type": "type_item associated_type",
        "constant": "const_item static_item",
        "macro": "macro_definition",
    },
    "java": {
        "class": "class_declaration",
        "record": "record_declaration",
        "interface": "interface_declaration annotation_type_declaration",
        "enum": "enum_declaration",
        "method": "method_declaration constructor_declaration compact_constructor_declaration",
    },
    "kotlin": {
        "class": "class_declaration",
        "object": "object_declaration companion_object",
        "function": "function_declaration secondary_constructor",
        "constant": "property_declaration",
        "type": "type_alias",
    },
    "c": {
        "function": "function_definition",
        "struct": "struct_specifier",
        "union": "union_specifier",
        "enum": "enum_specifier",
        "type": "type_definition",
        "macro": "preproc_function_def",
        "constant": "preproc_def",
    },
    "csharp": {
        "class": "class_declaration",
        "record": "record_declaration",
        "struct": "struct_declaration",
        "interface": "interface_declaration",
        "enum": "enum_declaration",
        "namespace": "namespace_declaration",
        "method": "method_declaration constructor_declaration destructor_declaration operator_declaration "
        "local_function_statement",
        "property": "property_declaration indexer_declaration event_declaration",
        "type": "delegate_declaration",
    },
    "ruby": {
        "class": "class",
        "module": "module",
        "method": "method singleton_method",
    },
    "php": {
        "function": "function_definition",
        "class": "class_declaration",
        "interface": "interface_declaration",
        "trait": "trait_declaration",
        "enum": "enum_declaration",
        "namespace": "namespace_definition",
        "method": "method_declaration",
        "constant": "const_declaration",
    },
    "swift": {
        "class": "class_declaration",
        "protocol": "protocol_declaration",
        "function": "function_declaration protocol_function_declaration init_declaration deinit_declaration "
        "subscript_declaration",
        "constant": "property_declaration",
        "type": "typealias_declaration associatedtype_declaration",
        "macro": "macro_declaration",
    },
    "scala": {
        "class": "class_definition",
        "object": "object_definition package_object",
        "trait": "trait_definition",
        "enum": "enum_definition",
        "extension": "extension_definition",
        "function": "function_definition function_declaration given_definition",
        "constant": "val_definition",
        "type": "type_definition",
    },
    "haskell": {
        "function": "function bind",
        "class": "class",
        "impl": "instance",
        "type": "data_type newtype type_synomym type_family",
    },
    "elixir": {"module": "call"},
    "erlang": {"function": "fun_decl", "record": "record_decl", "type": "type_alias", "macro": "pp_define"},
    "lua": {
        "function": "function_declaration",
        "constant": "variable_declaration assignment_statement",
    },
    "zig": {
        "function": "function_declaration",
        "constant": "variable_declaration",
        "test": "test_declaration",
    },
    "bash": {"function": "function_definition", "constant": "variable_assignment"},
    "powershell": {
        "function": "function_statement",
        "class": "class_statement",
        "enum": "enum_statement",
        "method": "class_method_definition",
    },
    "sql": {
        "table": "create_table",
        "view": "create_view create_materialized_view",
        "function": "create_function",
        "index": "create_index",
        "trigger": "create_trigger",
        "type": "create_type",
    },
    "dart": {
        "class": "class_definition mixin_declaration",
        "enum": "enum_declaration",
        "extension": "extension_declaration extension_type_declaration",
        "function": "function_signature getter_signature setter_signature",
        "method": "method_signature",
        "type": "type_alias",
    },
    "ocaml": {
        "function": "value_definition external",
        "type": "type_definition",
        "module": "module_definition module_type_definition",
        "class": "class_definition",
        "exception": "exception_definition",
    },
    "clojure": {"function": "list_lit"},
    "julia": {
        "function": "function_definition",
        "struct": "struct_definition",
        "module": "module_definition",
        "macro": "macro_definition",
        "type": "abstract_definition",
    },
    "r": {"function": "binary_operator"},
    "perl": {"function": "function_definition"},
    "groovy": {"class": "class_definition", "function": "function_definition"},
    "solidity": {
        "contract": "contract_declaration",
        "interface": "interface_declaration",
        "library": "library_declaration",
        "function": "function_definition constructor_definition modifier_definition",
        "struct": "struct_declaration",
        "enum": "enum_declaration",
        "event": "event_definition error_declaration",
    },
    "proto": {"message": "message", "enum": "enum", "service": "service", "method": "rpc"},
    "graphql": {
        "type": "object_type_definition input_object_type_definition scalar_type_definition "
        "union_type_definition object_type_extension",
        "interface": "interface_type_definition",
        "enum": "enum_type_definition",
        "function": "operation_definition fragment_definition directive_definition",
    },
    "hcl": {"resource": "block"},
}
_ROWS["typescript"] = _ROWS["tsx"] = _ROWS["javascript"] | {
    "function": "function_declaration generator_function_declaration function_signature",
    "class": "class_declaration abstract_class_declaration",
    "method": "method_definition method_signature abstract_method_signature",
    "field": "public_field_definition",
    "interface": "interface_declaration",
    "type": "type_alias_declaration",
    "enum": "enum_declaration",
    "namespace": "internal_module module",
}
_ROWS["cpp"] = _ROWS["c"] | {
    "class": "class_specifier",
    "namespace": "namespace_definition",
    "type": "type_definition alias_declaration concept_definition",
}
_ROWS["objc"] = _ROWS["c"] | {
    "class": "class_interface class_implementation",
    "protocol": "protocol_declaration",
    "method": "method_declaration method_definition",
}

KINDS: dict[str, dict[str, str]] = {
    grammar: {node: kind for kind, nodes in row.items() for node in nodes.split()}
    for grammar, row in _ROWS.items()
}
"""For each grammar: node type → kind of definition."""

WRAPPERS = _words(
    """export_statement decorated_definition ambient_declaration template_declaration linkage_specification
    declaration_list class_body interface_body enum_body enum_class_body enum_body_declarations
    field_declaration_list body_statement block template_body declarations class_declarations
    instance_declarations protocol_body statement_block preproc_ifdef preproc_if preproc_else
    preproc_elif extension_body contract_body annotation_type_body enum_declaration_list structure
    module_binding do_block implementation_definition statement program source_file object_type body
    message_body document type_system_definition type_definition definition executable_definition
    expression_statement declaration enum_variant_list statement_list compound_statement singleton_class
    struct_declaration enum_declaration union_declaration call_expression arguments arrow_function
    function_expression function parenthesized_expression"""
)
"""Node types that stand between a definition and the definitions in it, or around one."""

SINGLE_WRAPPERS = _words(
    """export_statement decorated_definition ambient_declaration template_declaration declaration statement
    expression_statement definition type_system_definition type_definition executable_definition"""
)
"""Wrappers that belong to the one definition inside them."""

ATTACHED = _words(
    """comment line_comment block_comment multiline_comment doc_comment documentation_comment html_comment
    comments attribute_item inner_attribute_item attribute_list attribute annotation decorator
    marker_annotation signature pragma haddock module_attribute unary_operator spec type_spec
    attribute_declaration description"""
)
"""Node types that belong to the definition right below: comments, attributes, decorators, signatures."""

CONTINUED = frozenset({"function_body", "block_body"})
"""Node types that belong to the definition right above them (a Dart signature's body)."""

DEADLY = {"perl": ("<<", re.compile(".{200}"))}
"""What a grammar must not see: after a text, a match of the pattern.

That of Perl keeps the first line of a here-document in a buffer and writes past its end: 2 100 letters are a
crash of the process, some hundred may do other harm.
"""
