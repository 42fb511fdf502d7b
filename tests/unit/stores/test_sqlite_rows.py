"""Texts as they are stored."""

from __future__ import annotations

import pytest

from semantic_search.stores.sqlite_rows import packed, unpacked, unpacked_until

TEXTS = ["", "plain", "Ящірка 🦎 біжить. " * 400, "x" * 70_000, "字" * 999 + "end"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_comes_back_whole_or_as_far_as_wanted(text: str) -> None:
    assert unpacked(packed(text)) == text
    for end in {0, 1, len(text) // 3, max(len(text) - 1, 0), len(text)}:
        found = unpacked_until(packed(text), end)
        assert found[:end] == text[:end]
        assert text.startswith(found)


def test_no_more_than_wanted_is_unpacked_of_plain_text() -> None:
    assert len(unpacked_until(packed("x" * 70_000), 10)) == 10


def test_a_text_that_ends_early_is_given_as_far_as_it_goes() -> None:
    assert unpacked_until(packed("abc"), 10) == "abc"
    assert unpacked_until(packed("x" * 5000)[:-9], 9000).startswith("x")
