"""JSON with comments, edited in place."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_search.clients.jsonc import Malformed, loads, remove_member, set_member

PATH = ("mcpServers", "semantic-search")
ENTRY = {"command": "semantic-search", "args": ["mcp", "--root", "."]}

TEXTS = [
    "{}",
    '{\n  "a": 1 // x\n}\n',
    '{\n\t"a": 1,\n\t// end\n}\n',
    "{\n  // only a comment\n}",
    '{\n  "mcpServers": {\n    "o": {"x": 1}, /* q */ // r\n  },\n  "z": [1, 2,],\n}\n',
    '{\n    "mcpServers": {\n        "a": {"c": 1}\n    }\n}',
    '// top\n{\n  /* a */ "a" /* b */ : /* c */ {"b": 2} /* d */ // e\n  // f\n}\n// tail',
    '{\n  "a": "// no comment, /* nor this",\n  "b": "\\"}"\n}\n',
    '{\n  "a": [\n    {"b": {}},\n    []\n  ]\n}\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_added_can_be_read_and_taken_out_again_to_the_byte(text: str) -> None:
    changed = set_member(text, PATH, ENTRY)
    expected = loads(text)
    expected.setdefault("mcpServers", {})["semantic-search"] = ENTRY
    assert loads(changed) == expected
    assert remove_member(changed, PATH) == text


@pytest.mark.parametrize("text", [*TEXTS, '{"a": 1}', '{"mcpServers": {}}', '{ "mcpServers" : { } , }'])
def test_every_comment_and_every_other_byte_stays(text: str) -> None:
    changed = set_member(text, PATH, ENTRY)
    kept = iter(re.sub(r"\s", "", changed))
    assert all(character in kept for character in re.sub(r"[\s,]", "", text))
    assert loads(remove_member(changed, PATH)) == {k: v for k, v in loads(text).items() if v != {}}


def test_a_server_that_is_there_is_replaced_where_it_stands() -> None:
    text = '{\n  "mcpServers": {\n    "semantic-search": {"command": "old"}, // ours\n    "b": {}\n  }\n}\n'
    changed = set_member(text, PATH, ENTRY)
    assert loads(changed)["mcpServers"] == {"semantic-search": ENTRY, "b": {}}
    assert "// ours" in changed and changed.index("semantic-search") < changed.index('"b"')


def test_indentation_is_that_of_the_file() -> None:
    changed = set_member('{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n', PATH, ENTRY)
    assert '\n\t\t"semantic-search": {\n\t\t\t"command"' in changed


def test_an_empty_file_gets_an_object() -> None:
    assert loads(set_member("", PATH, ENTRY)) == {"mcpServers": {"semantic-search": ENTRY}}
    assert loads(set_member(" \n", PATH, ENTRY)) == {"mcpServers": {"semantic-search": ENTRY}}


def test_removing_what_is_not_there_changes_nothing() -> None:
    for text in TEXTS:
        assert remove_member(text, PATH) == text


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "}",
        "[",
        '{"a"}',
        '{"a": }',
        '{"a": 1 "b": 2}',
        "{a: 1}",
        '{"a": 1}}',
        '{"a": tru}',
        '{"a": "b}',
        '{"a": 01x}',
        "/* open",
        '{"a": 1} x',
        "{,}",
        '{"a": 1,,}',
        "[" * 1000,
        '{"mcpServers": []}',
        '{"mcpServers": "x"}',
        '{"mcpServers": null}',
        "[]",
        "1",
    ],
)
def test_what_is_malformed_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(Malformed, match="line 1"):
        set_member(text, PATH, ENTRY)


def test_the_line_of_a_fault_is_counted() -> None:
    with pytest.raises(Malformed, match="line 3"):
        loads('{\n  "a": 1,\n  oops\n}')


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), VALUES, max_size=4)


@settings(deadline=None)
@given(OBJECTS, st.sampled_from([None, 1, 4, "\t"]))
def test_any_object_is_read_as_json_reads_it_and_survives(value: dict[str, object], indent: object) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)  # type: ignore[arg-type]
    assert loads(text) == value
    if isinstance(value.get("mcpServers", {}), dict):
        changed = set_member(text, PATH, ENTRY)
        assert json.loads(changed)["mcpServers"]["semantic-search"] == ENTRY
        assert json.loads(remove_member(changed, PATH)) == {
            key: item for key, item in value.items() if key != "mcpServers" or item
        }
