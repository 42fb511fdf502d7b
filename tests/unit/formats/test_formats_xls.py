"""Excel 97 to 2003: what is not in the sample."""

from __future__ import annotations

import random

import pytest
from document_samples import SAMPLES

from semantic_search.formats import Extracted, Refused, xls
from semantic_search.types import Skip

OLD = SAMPLES[".xls"].data()


@pytest.mark.parametrize("suffix", [".xlsx", ".html"])
def test_another_format_under_the_old_name_is_read_as_what_it_is(suffix: str) -> None:
    outcome = xls.extract(SAMPLES[suffix].data())
    assert isinstance(outcome, Extracted)
    assert all(needle in outcome.text for needle in SAMPLES[suffix].needles)


@pytest.mark.parametrize("data", [b"just text", b"\0" * 3000, OLD[:3000], b"", b"\x09\x08\x10\x00\x00\x06"])
def test_what_is_none_has_a_reason(data: bytes) -> None:
    outcome = xls.extract(data)
    assert isinstance(outcome, Refused) and outcome.reason is Skip.DAMAGED
    assert outcome.detail.startswith("not an Excel workbook")


def test_no_more_than_the_limit_is_read_and_that_is_told() -> None:
    outcome = xls.extract(OLD, max_characters=20)
    assert isinstance(outcome, Extracted)
    assert "Honey" not in outcome.text
    assert outcome.notes == ("only the beginning was kept: more text than the limit",)


def test_bytes_changed_anywhere_end_in_text_or_a_reason() -> None:
    draw = random.Random(12)
    for _ in range(200):
        data = bytearray(OLD)
        for _ in range(draw.choice([1, 4, 40])):
            data[draw.randrange(len(data))] = draw.choice([0, 1, 0x7F, 0xFF, draw.randrange(256)])
        outcome = xls.extract(bytes(data))
        assert isinstance(outcome, Extracted) or outcome.reason in (
            Skip.DAMAGED,
            Skip.NO_TEXT,
            Skip.ENCRYPTED,
        )
