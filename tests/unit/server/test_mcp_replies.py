"""Budgets, cuts, globs and sentences."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_search.errors import QueryError
from semantic_search.server.app import plain
from semantic_search.server.replies import (
    budget,
    globs,
    hits_that_fit,
    lines_that_fit,
    listed,
    prefix_that_fits,
    sentence,
    wire_size,
)
from semantic_search.wire import dumps

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=300)


@settings(deadline=None)
@given(TEXT, st.integers(2, 400))
def test_a_prefix_fits_and_is_no_shorter_than_need_be(text: str, room: int) -> None:
    found = prefix_that_fits(text, room)
    assert text.startswith(found) and wire_size(found) <= room
    if found != text:
        longer = text[: len(found) + 1]
        at_line_end = text[len(found)] == "\n"
        assert at_line_end or wire_size(longer) > room


def test_a_cut_is_at_a_line_end_where_one_is_near() -> None:
    text = "first line\nsecond line\nthird line"
    assert prefix_that_fits(text, 30) == "first line\nsecond line"
    assert prefix_that_fits("x" * 100, 30) == "x" * 28


@settings(deadline=None)
@given(st.lists(TEXT, max_size=6), st.integers(2, 2000))
def test_hits_fit_best_first_and_the_first_always_does(texts: list[str], room: int) -> None:
    hits = [{"filePath": "/a", "text": text, "score": 1.0} for text in texts]
    found, left_out = hits_that_fit(hits, room, dumps)
    kept = json.loads(found)
    assert len(kept) + left_out == len(hits)
    assert len(kept) >= min(1, len(hits))
    assert [hit["text"] for hit in kept[1:]] == texts[1 : len(kept)]
    if kept and room > 400:
        assert texts[0].startswith(kept[0]["text"])
        assert wire_size(found) <= room + 50


def test_lines_fit_up_to_the_budget() -> None:
    assert lines_that_fit(["a" * 8] * 5, 35) == 3
    assert lines_that_fit([], 0) == 0
    assert lines_that_fit(["a"], 2) == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        (" , ,", ()),
        ("*.py", ("*.py",)),
        ("*.{ts,tsx}", ("*.ts", "*.tsx")),
        ("src/{a,b}/*.{x,y}", ("src/a/*.x", "src/a/*.y", "src/b/*.x", "src/b/*.y")),
        ("*.py, !tests/**", ("*.py", "!tests/**")),
        ("{a,{b,c}}", ("a", "b", "c")),
        ("{a", ("{a",)),
        ("a},b", ("a}", "b")),
        ("*.py,*.py", ("*.py",)),
    ],
)
def test_globs_are_split_and_their_braces_opened(text: str, found: tuple[str, ...]) -> None:
    assert globs(text) == found


def test_too_many_globs_are_refused() -> None:
    with pytest.raises(QueryError):
        globs("{1,2}" * 30)


def test_lists_are_separated_by_commas() -> None:
    assert listed("python, md") == ("python", "md")


@pytest.mark.parametrize("tokens", [-1, 10**9])
def test_a_budget_has_bounds(tokens: int) -> None:
    with pytest.raises(QueryError):
        budget(tokens)


def test_the_default_budget_is_within_what_clients_take() -> None:
    assert 30_000 < budget(0) < 36_000
    assert budget(100) == 400


def test_an_error_is_one_line_of_valid_text() -> None:
    assert sentence(ValueError("a\n  b\udcff")) == "a b\ufffd"


def test_titles_that_say_nothing_are_left_out_of_schemas() -> None:
    schema = {"title": "T", "type": "object", "properties": {"title": {"title": "Title", "type": "string"}}}
    assert plain(schema) == {"type": "object", "properties": {"title": {"type": "string"}}}
