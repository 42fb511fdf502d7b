from __future__ import annotations

from semantic_search.spelling import one_edit_away


def test_each_kind_of_slip_is_one_edit() -> None:
    edits = set(one_edit_away("retrieve"))
    assert {"retreive", "retrive", "retrievee", "retrieva"} <= edits
    assert "retrieve" not in edits
    assert "retrxxve" not in edits


def test_letters_are_of_the_word_s_own_alphabet() -> None:
    edits = list(one_edit_away("сховище"))
    assert "схвище" in edits
    assert "сховища" in edits
    assert not any(letter in "abcdefghijklmnopqrstuvwxyz" for edit in edits for letter in edit)


def test_each_comes_once_and_there_are_not_too_many() -> None:
    edits = list(one_edit_away("connection"))
    assert len(edits) == len(set(edits)) < 60 * len("connection")


def test_an_unknown_alphabet_gives_omissions_and_swaps() -> None:
    assert set(one_edit_away("東京都")) == {"京都", "東都", "東京", "京東都", "東都京"}
    assert list(one_edit_away("")) == []
