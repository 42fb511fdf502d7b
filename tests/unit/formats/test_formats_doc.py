"""Word 97 to 2003: what is not in the sample, and what is not there at all."""

from __future__ import annotations

import io
import random
import struct

import olefile
import pytest
from document_samples import SAMPLES

from semantic_search.formats import Extracted, Refused, doc
from semantic_search.types import Skip

OLD = SAMPLES[".doc"].data()


def streams() -> dict[str, tuple[int, bytes]]:
    """The sample's streams: where each begins in the file (they lie in one run there), and its bytes."""
    with olefile.OleFileIO(io.BytesIO(OLD)) as container:
        found = {name: container.openstream(name).read() for name in ("WordDocument", "1Table")}
    return {name: (OLD.index(data), data) for name, data in found.items()}


def changed(stream: str, offset: int, new: bytes) -> bytes:
    start = streams()[stream][0] + offset
    return OLD[:start] + new + OLD[start + len(new) :]


def test_what_is_deleted_or_hidden_is_not_there() -> None:
    outcome = doc.extract(OLD)
    assert isinstance(outcome, Extracted)
    assert "wasps" not in outcome.text and "secret" not in outcome.text
    assert "wasps".encode("utf-16-le") in OLD or b"wasps" in OLD


def test_of_a_link_the_text_is_there_and_not_the_field() -> None:
    outcome = doc.extract(OLD)
    assert isinstance(outcome, Extracted)
    assert "See the bee page." in outcome.text and "HYPERLINK" not in outcome.text


@pytest.mark.parametrize("suffix", [".rtf", ".html", ".docx"])
def test_another_format_under_the_old_name_is_read_as_what_it_is(suffix: str) -> None:
    outcome = doc.extract(SAMPLES[suffix].data())
    assert isinstance(outcome, Extracted)
    assert all(needle in outcome.text for needle in SAMPLES[suffix].needles)


def test_plain_text_under_the_old_name() -> None:
    outcome = doc.extract("Просто текст.\r\nДругий рядок.".encode("cp1251"))
    assert outcome == Extracted("Просто текст.\nДругий рядок.")
    assert doc.extract(b" \n") == Refused(Skip.NO_TEXT)


def test_an_encrypted_one_and_an_older_one_are_told_apart() -> None:
    _, document = streams()["WordDocument"]
    (flags,) = struct.unpack_from("<H", document, 0x0A)
    encrypted = doc.extract(changed("WordDocument", 0x0A, struct.pack("<H", flags | 0x0100)))
    assert encrypted == Refused(Skip.ENCRYPTED)
    older = doc.extract(changed("WordDocument", 0, struct.pack("<H", 0xA5DC)))
    assert older == Refused(Skip.DAMAGED, "of Word 95 or before; save it as .docx")


def test_no_more_than_the_limit_is_read_and_that_is_told() -> None:
    whole, cut = doc.extract(OLD), doc.extract(OLD, max_characters=60)
    assert isinstance(whole, Extracted) and isinstance(cut, Extracted)
    assert len(cut.text) < 80 < len(whole.text)
    assert cut.notes == ("only the beginning was kept: more text than the limit",)


def test_bytes_changed_anywhere_end_in_text_or_a_reason() -> None:
    draw = random.Random(11)
    reasons = set()
    for _ in range(300):
        data = bytearray(OLD)
        for _ in range(draw.choice([1, 4, 40])):
            data[draw.randrange(len(data))] = draw.choice([0, 1, 0x7F, 0xFF, draw.randrange(256)])
        outcome = doc.extract(bytes(data))
        reasons.add(outcome.reason if isinstance(outcome, Refused) else None)
    assert reasons <= {None, Skip.DAMAGED, Skip.ENCRYPTED, Skip.NO_TEXT}
