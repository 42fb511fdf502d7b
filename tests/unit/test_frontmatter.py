from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_search.frontmatter import front_matter


def fields(block: str, mark: str = "---") -> dict[str, tuple[str, ...]]:
    return dict(front_matter(f"{mark}\n{block}\n{mark}\nbody\n").fields)


def test_scalars_and_lists() -> None:
    assert fields("Title: A: b # comment\ndate: 2026-01-05\nurl: http://x/#y\nempty:\nzero: ''") == {
        "title": ("A: b",),
        "date": ("2026-01-05",),
        "url": ("http://x/#y",),
        "empty": (),
        "zero": (),
    }
    for written in (
        "tags: [a, 'b, c', \"d\"]",
        "tags:\n  - a\n  - 'b, c' \n  - d  # x",
        "tags: [a,\n  'b, c',\n  d]",
    ):
        assert fields(written) == {"tags": ("a", "b, c", "d")}
    assert fields("quoted: \"say \\\"yes\\\" # no\"\nother: 'it''s'") == {
        "quoted": ('say "yes" # no',),
        "other": ("it's",),
    }
    assert fields("text: >\n  one\n  two\nnext: x") == {"text": ("one two",), "next": ("x",)}


def test_nothing_is_constructed_and_no_alias_followed() -> None:
    for value in ("!!python/object:os.system x", "&a [x]", "*a", "{a: b}", "null", "~"):
        assert fields(f"key: {value}") == {"key": ()}


def test_toml() -> None:
    assert fields('title = "T"\ntags = ["a", 1]\nok = true\n[x]\ny = 1', "+++") == {
        "title": ("T",),
        "tags": ("a", "1"),
        "ok": (),
        "x": (),
    }
    assert fields("not toml at all", "+++") == {}


@pytest.mark.parametrize(
    "text", ["", "body", "\n---\na: b\n---\n", "---\na: b\n", "----\na: b\n----\n", "--- x\n---\n"]
)
def test_texts_without(text: str) -> None:
    assert front_matter(text).end == 0


def test_the_body_begins_behind_the_fields() -> None:
    text = "---\na: b\n...\nbody"
    assert text[front_matter(text).end :] == "body"


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.sampled_from(["a:", " - x", "[", "]", '"', "'", "\\", "#", "{", "key: v", ": ", "- ", "|", "\n"])
    )
)
def test_whatever_stands_there(parts: list[str]) -> None:
    found = front_matter("---\n" + "".join(parts) + "\n---\nbody")
    assert all(isinstance(value, str) for values in found.fields.values() for value in values)
