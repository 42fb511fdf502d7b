"""A table of a TOML file, edited in place."""

from __future__ import annotations

import tomllib

import pytest

from semantic_search.clients.toml import Malformed, loads, remove_table, set_table

OUTER, NAME = "mcp_servers", "semantic-search"
ENTRY = {"command": "/opt/semantic search", "args": ["mcp", "--root", 'a"b\\c']}

TEXTS = [
    "",
    '# mine\nmodel = "x"\n',
    'model = "x"\n\n[mcp_servers.other]\ncommand = "o" # keep\n\n[profiles.a]\nx = 1\n',
    '[mcp_servers.other]\nargs = [\n  "[mcp_servers.semantic-search]",\n]\nnote = """\n[not.a.table]\n"""\n',
    "[mcp_servers]\n",
    "# only a comment\n",
    "[[items]]\na = 1\n[[items]]\na = 2\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_added_can_be_read_and_taken_out_again_to_the_byte(text: str) -> None:
    changed = set_table(text, OUTER, NAME, ENTRY)
    assert changed.startswith(text)
    assert tomllib.loads(changed)[OUTER][NAME] == ENTRY
    assert set_table(changed, OUTER, NAME, ENTRY) == changed
    assert remove_table(changed, OUTER, NAME) == text


@pytest.mark.parametrize(
    "header",
    [
        "[mcp_servers.semantic-search]",
        '[mcp_servers."semantic-search"]',
        "  [ mcp_servers . 'semantic-search' ]",
    ],
)
def test_a_server_that_is_there_is_renewed_where_it_stands(header: str) -> None:
    text = (
        f"a = 1\n\n{header}\n# why\ncommand = 'old'\nenv = {{ KEY = \"kept\" }}\n"
        f"\n# of the next\n[profiles.x]\nb = 2\n"
    )
    changed = set_table(text, OUTER, NAME, ENTRY)
    assert tomllib.loads(changed)[OUTER][NAME] == {**ENTRY, "env": {"KEY": "kept"}}
    assert "# why" in changed and "\n# of the next\n[profiles.x]\nb = 2\n" in changed
    gone = remove_table(changed, OUTER, NAME)
    assert tomllib.loads(gone) == {"a": 1, "profiles": {"x": {"b": 2}}}
    assert "# of the next\n[profiles.x]" in gone


def test_tables_of_the_server_go_with_it() -> None:
    text = (
        "[mcp_servers.semantic-search]\ncommand = 'x'\n\n[mcp_servers.semantic-search.env]\nA = 'b'\n\n"
        "[mcp_servers.semantic-search-two]\ncommand = 'y'\n"
    )
    gone = remove_table(text, OUTER, NAME)
    assert tomllib.loads(gone) == {"mcp_servers": {"semantic-search-two": {"command": "y"}}}


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { other = { command = 'x' } }\n",
        "mcp_servers = { semantic-search = { command = 'x' } }\n",
        "[mcp_servers]\nsemantic-search = { command = 'x' }\n",
        "[mcp_servers.semantic-search]\nargs = [\n  'a',\n]\n",
    ],
)
def test_a_form_that_cannot_be_edited_line_by_line_is_left_alone(text: str) -> None:
    with pytest.raises(Malformed, match="in place"):
        set_table(text, OUTER, NAME, ENTRY)


@pytest.mark.parametrize("text", ["[", "a = ", "a = 1\na = 2\n", "= 1"])
def test_what_is_no_toml_is_refused(text: str) -> None:
    for edit in (lambda: loads(text), lambda: set_table(text, OUTER, NAME, ENTRY)):
        with pytest.raises(Malformed):
            edit()
