"""Which known name a mistyped one is taken for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantic_search.suggestions import closest, did_you_mean

KNOWN = ["search", "status", "defaultTopK", "Нотатки", "my-api"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("serach", "search"),
        ("SEARCH", "search"),
        ("defaulttopk", "defaultTopK"),
        ("defaultTopk", "defaultTopK"),
        ("нотаткі", "Нотатки"),
        ("my_api", "my-api"),
        ("stats", "status"),
        ("xyzzy", ""),
        ("", ""),
    ],
)
def test_the_closest_is_meant_and_nothing_where_none_is_close(typed: str, meant: str) -> None:
    assert closest(typed, KNOWN) == meant
    assert did_you_mean(typed, KNOWN) == (f" (did you mean {meant}?)" if meant else "")


def test_nothing_is_meant_where_nothing_is_known() -> None:
    assert did_you_mean("search", []) == ""


@given(st.text(min_size=1), st.lists(st.text(min_size=1), max_size=5))
def test_what_is_meant_is_known_and_a_known_name_means_itself(typed: str, known: list[str]) -> None:
    assert closest(typed, known) in ("", *known)
    assert closest(typed, [typed]) == typed
