"""PowerPoint 97 to 2003: what is not in the sample."""

from __future__ import annotations

import random

import pytest
from document_samples import SAMPLES

from semantic_search.formats import Extracted, Refused, ppt
from semantic_search.types import Skip

OLD = SAMPLES[".ppt"].data()


def test_a_newer_presentation_under_the_old_name_is_read() -> None:
    outcome = ppt.extract(SAMPLES[".pptx"].data())
    assert isinstance(outcome, Extracted)
    assert all(needle in outcome.text for needle in SAMPLES[".pptx"].needles)


@pytest.mark.parametrize("data", [b"", b"text", OLD[:40_000], SAMPLES[".doc"].data()])
def test_what_is_none_has_a_reason(data: bytes) -> None:
    outcome = ppt.extract(data)
    assert isinstance(outcome, Refused) and outcome.reason is Skip.DAMAGED
    assert outcome.detail.startswith("not a PowerPoint presentation")


def test_the_token_of_an_encrypted_one() -> None:
    token = (0xE391C05F).to_bytes(4, "little")
    assert OLD.count(token) == 1
    assert ppt.extract(OLD.replace(token, (0xF3D1C4DF).to_bytes(4, "little"))) == Refused(Skip.ENCRYPTED)


def test_slides_after_the_limit_are_not_read_and_that_is_told() -> None:
    outcome = ppt.extract(OLD, max_characters=30)
    assert isinstance(outcome, Extracted)
    assert "Harvest" not in outcome.text
    assert outcome.notes == ("only the beginning was kept: more text than the limit",)


def test_bytes_changed_anywhere_end_in_text_or_a_reason() -> None:
    draw = random.Random(13)
    # Most of the file is pictures of the layout; what tells of the text lies in its first part.
    for _ in range(150):
        data = bytearray(OLD)
        for _ in range(draw.choice([1, 10, 200])):
            data[draw.randrange(60_000)] = draw.choice([0, 1, 0x7F, 0xFF, draw.randrange(256)])
        outcome = ppt.extract(bytes(data))
        if isinstance(outcome, Refused):
            assert outcome.reason in (Skip.DAMAGED, Skip.NO_TEXT, Skip.ENCRYPTED)
