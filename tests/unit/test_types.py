"""The values that modules exchange."""

from __future__ import annotations

import dataclasses
import os

import pytest
from builders import source

from semantic_search import types
from semantic_search.types import Chunk, Hit, Skip

CHUNK = Chunk(0, 4, 1, 1, "text")


def test_every_value_is_frozen_and_slotted() -> None:
    found = [value for value in vars(types).values() if dataclasses.is_dataclass(value)]
    assert len(found) >= 5
    for kind in found:
        assert vars(kind)["__dataclass_params__"].frozen, kind
        assert "__slots__" in vars(kind), kind


def test_every_reason_has_a_sentence() -> None:
    sentences = [reason.sentence for reason in Skip]
    assert all(sentences)
    assert len(set(sentences)) == len(sentences)


def test_reasons_are_plain_words_in_json() -> None:
    assert all(reason.value == reason.value.lower() and " " not in reason.value for reason in Skip)


def test_only_trouble_that_may_pass_is_transient() -> None:
    assert {reason for reason in Skip if reason.transient} == {
        Skip.UNREADABLE,
        Skip.VANISHED,
        Skip.TIMED_OUT,
        Skip.FAULT,
    }


def test_absolute_paths_are_of_this_machine() -> None:
    file = source("docs/a.md", folder=os.sep + "somewhere")
    assert file.absolute == os.path.join(os.sep + "somewhere", "docs", "a.md")
    hit = Hit(os.sep + "somewhere", "somewhere", "docs/a.md", "markdown", CHUNK, 1.0)
    assert hit.absolute == file.absolute


def test_a_stamp_is_size_times_and_inode() -> None:
    assert source(size=3, mtime_ns=5).stamp == (3, 5, 5, 7)


@pytest.mark.parametrize(
    ("heading", "symbol", "expected"),
    [
        ("", "", "text"),
        ("A > B", "", "A > B\ntext"),
        ("", "Ledger.close", "Ledger.close\ntext"),
        ("A", "close", "A\ntext"),
    ],
)
def test_the_model_sees_a_header(heading: str, symbol: str, expected: str) -> None:
    assert dataclasses.replace(CHUNK, heading=heading, symbol=symbol).embedded_text == expected
