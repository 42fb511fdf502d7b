"""What every document format must do, on the sample documents: whole, cut short, mutilated, and foreign."""

from __future__ import annotations

import random
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest
from document_samples import SAMPLES

from semantic_search.formats import FORMATS, Extracted, Pool, Refused
from semantic_search.types import Skip

CORPUS = Path(__file__).parents[2] / "samples"
DOCUMENTS = sorted((CORPUS / "corpus").rglob("*.*"))
REASONS = (Skip.DAMAGED, Skip.NO_TEXT, Skip.ENCRYPTED, Skip.TOO_COMPLEX, Skip.UNDECODABLE)
# Suffixes that share a module say the same; one of them stands for all where much is tried.
MODULES = sorted({module: suffix for suffix, module in FORMATS.items()}.values())
# Formats in which any text at all says something, and old ones under whose name programs write newer ones.
LENIENT = frozenset((".xhtml", ".doc", ".xls", ".ppt"))


def sample(suffix: str) -> bytes:
    return SAMPLES[suffix].data()


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(FORMATS) as pool:
        yield pool


def check(outcome: Extracted | Refused) -> None:
    """What holds of any outcome, whatever the document."""
    if isinstance(outcome, Refused):
        assert outcome.reason in REASONS, outcome
        assert "\n" not in outcome.detail
        return
    assert outcome.text.strip()
    assert outcome.text.encode("utf-8").decode("utf-8") == outcome.text
    assert not any(character in outcome.text for character in "\r\0\x0b\x0c")
    assert list(outcome.pages) == sorted(outcome.pages)
    assert all(0 <= page <= len(outcome.text) for page in outcome.pages)
    assert not outcome.pages or outcome.pages[0] == 0


def test_every_format_has_a_sample_and_needles() -> None:
    assert set(SAMPLES) == set(FORMATS)
    assert all(sample.needles for sample in SAMPLES.values())


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_text_is_found_in_order(pool: Pool, suffix: str) -> None:
    outcome = pool.extract(suffix, sample(suffix))
    assert isinstance(outcome, Extracted)
    check(outcome)
    assert outcome.notes == ()
    places = [outcome.text.index(needle) for needle in SAMPLES[suffix].needles]
    assert places == sorted(places)


@pytest.mark.parametrize("suffix", [suffix for suffix in SAMPLES if SAMPLES[suffix].page])
def test_a_page_begins_where_its_text_does(pool: Pool, suffix: str) -> None:
    outcome = pool.extract(suffix, sample(suffix))
    assert isinstance(outcome, Extracted)
    found = SAMPLES[suffix]
    place = outcome.text.index(found.on_page)
    assert sum(page <= place for page in outcome.pages) == found.page


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_damaged_one_has_a_reason(pool: Pool, suffix: str) -> None:
    outcome = pool.extract(suffix, SAMPLES[suffix].damaged(sample(suffix)))
    assert isinstance(outcome, Refused)
    assert outcome.reason in (Skip.DAMAGED, Skip.UNDECODABLE)


@pytest.mark.parametrize("suffix", FORMATS)
def test_lines_are_lines_for_everybody(pool: Pool, suffix: str) -> None:
    outcome = pool.extract(suffix, sample(suffix))
    assert isinstance(outcome, Extracted)
    assert outcome.text.split("\n") == outcome.text.splitlines()
    assert max(map(len, outcome.text.split("\n"))) < 400
    assert outcome.text.count("\n") > 2


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_bytes_give_the_same_text(pool: Pool, suffix: str) -> None:
    assert pool.extract(suffix, sample(suffix)) == pool.extract(suffix.upper(), sample(suffix))


@pytest.mark.parametrize("suffix", MODULES)
def test_truncated_anywhere(pool: Pool, suffix: str) -> None:
    data = sample(suffix)
    for part in range(1, 20):
        check(pool.extract(suffix, data[: len(data) * part // 20]))


@pytest.mark.parametrize("suffix", MODULES)
def test_with_a_hole_anywhere(pool: Pool, suffix: str) -> None:
    data = sample(suffix)
    size = len(data) // 20
    for part in range(20):
        check(pool.extract(suffix, data[: part * size] + bytes(size) + data[(part + 1) * size :]))


@pytest.mark.parametrize("suffix", MODULES)
def test_mutated(pool: Pool, suffix: str) -> None:
    data = sample(suffix)
    source = random.Random(suffix)
    for _ in range(100):
        mutated = bytearray(data)
        for _ in range(source.randint(1, 30)):
            mutated[source.randrange(len(mutated))] = source.randrange(256)
        check(pool.extract(suffix, bytes(mutated)))


@pytest.mark.parametrize("suffix", [suffix for suffix in MODULES if suffix not in LENIENT])
def test_what_is_another_format_is_damaged(pool: Pool, suffix: str) -> None:
    files = [path for path in DOCUMENTS if path.is_file()]
    others = [path.read_bytes() for path in files if FORMATS.get(path.suffix) != FORMATS[suffix]]
    assert len(others) > 20
    others += [sample(other) for other in MODULES if other != suffix and {suffix, other} != {".eml", ".mbox"}]
    noise = random.Random(3).randbytes(50_000)
    for data in [*others, noise, b"\0", bytes(100_000), b"%PDF-", b"PK\x03\x04", b"{\\rt", b"[]", b"{}"]:
        outcome = pool.extract(suffix, data)
        assert isinstance(outcome, Refused) and outcome.reason is Skip.DAMAGED, outcome


def test_the_samples_are_what_their_builder_writes() -> None:
    builder = runpy.run_path(str(CORPUS / "build.py"))
    assert builder["manual"]() == sample(".pdf")
    assert builder["policy"]() == sample(".docx")


def test_the_sample_queries_name_files_that_exist_and_are_not_hidden() -> None:
    rows = [line.split("\t") for line in (CORPUS / "queries.tsv").read_text("utf-8").splitlines()]
    assert len(rows) >= 12
    for query, path, note in rows:
        assert query and note and (CORPUS / "corpus" / path).is_file()
        assert not path.startswith("drafts/")
    everything = "\n".join(
        path.read_text("utf-8") for path in DOCUMENTS if path.is_file() and path.suffix not in FORMATS
    )
    assert "зберіган" not in everything.lower()
