"""Documents made to exhaust or to fool a reader: each ends with text or with a reason, and soon."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping

import pytest
from document_samples import (
    SAMPLES,
    book,
    message,
    notebook,
    opendocument,
    package,
    presentation,
    row,
    shape,
    workbook,
)

from semantic_search.formats import FORMATS, Extracted, Pool, Refused, epub, odf, pptx, xlsx
from semantic_search.types import Skip

# The part of each package that holds its text.
MAIN = {
    ".docx": "word/document.xml",
    ".pptx": "ppt/presentation.xml",
    ".xlsx": "xl/workbook.xml",
    ".odt": "content.xml",
    ".epub": "OEBPS/book.opf",
}


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(FORMATS) as pool:
        yield pool


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_part(suffix: str, part: str, change: Callable[[bytes], bytes]) -> bytes:
    files = members(SAMPLES[suffix].data())
    return package({name: change(data) if name == part else data for name, data in files.items()})


def refusal(outcome: Extracted | Refused) -> Refused:
    assert isinstance(outcome, Refused), outcome
    return outcome


def text_of(outcome: Extracted | Refused) -> str:
    assert isinstance(outcome, Extracted), outcome
    return outcome.text


@pytest.mark.parametrize("suffix", MAIN)
def test_declared_entities_are_refused(pool: Pool, suffix: str) -> None:
    for declaration in (
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        b'<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    ):
        files = members(SAMPLES[suffix].data())
        xml = files[MAIN[suffix]]
        data = package(files | {MAIN[suffix]: declaration + (xml.partition(b"?>")[2] or xml)})
        assert refusal(pool.extract(suffix, data)).reason is Skip.DAMAGED


@pytest.mark.parametrize("suffix", MAIN)
def test_a_part_that_expands_out_of_proportion_is_refused(pool: Pool, suffix: str) -> None:
    data = with_part(suffix, MAIN[suffix], lambda xml: xml + b" " * 60_000_000)
    assert len(data) < 200_000
    assert refusal(pool.extract(suffix, data)).reason is Skip.TOO_COMPLEX


@pytest.mark.parametrize("suffix", MAIN)
def test_elements_nested_without_end_are_refused(pool: Pool, suffix: str) -> None:
    data = with_part(suffix, MAIN[suffix], lambda _: b"<a>" * 100_000)
    assert refusal(pool.extract(suffix, data)).reason is Skip.TOO_COMPLEX


@pytest.mark.parametrize("suffix", MAIN)
def test_parts_that_are_missing_or_empty(pool: Pool, suffix: str) -> None:
    files = members(SAMPLES[suffix].data())
    for name in files:
        for changed in ({k: v for k, v in files.items() if k != name}, files | {name: b""}):
            outcome = pool.extract(suffix, package(changed))
            assert isinstance(outcome, Extracted) or outcome.reason in (Skip.DAMAGED, Skip.NO_TEXT)


@pytest.mark.parametrize("suffix", MAIN)
def test_an_encrypted_member_is_said_to_be(pool: Pool, suffix: str) -> None:
    data = bytearray(SAMPLES[suffix].data())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + flags] |= 1
            at = data.find(mark, at + 4)
    assert refusal(pool.extract(suffix, bytes(data))).reason is Skip.ENCRYPTED


def test_an_old_office_file_says_what_to_do(pool: Pool) -> None:
    old = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(1000)
    for suffix in (".xlsx", ".pptx", ".docx"):
        assert suffix in refusal(pool.extract(suffix, old)).detail
        locked = old + "EncryptedPackage".encode("utf-16-le")
        assert refusal(pool.extract(suffix, locked)).reason is Skip.ENCRYPTED


def test_an_encrypted_opendocument_file_is_said_to_be() -> None:
    manifest = (
        '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry>'
        "<m:encryption-data/></m:file-entry></m:manifest>"
    )
    files: Mapping[str, str | bytes] = {"content.xml": b"\x93\x11", "META-INF/manifest.xml": manifest}
    assert refusal(odf.extract(package(files))).reason is Skip.ENCRYPTED


def test_a_book_with_encrypted_chapters_is_said_to_be_and_one_with_encrypted_fonts_is_read() -> None:
    def encryption(uri: str) -> dict[str, str]:
        return {
            "META-INF/encryption.xml": '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
            f'<e:CipherData><e:CipherReference URI="{uri}"/></e:CipherData></e:EncryptedData></encryption>'
        }

    chapters = {"a.xhtml": "<p>Words</p>"}
    assert refusal(epub.extract(book(chapters, encryption("OEBPS/a.xhtml")))).reason is Skip.ENCRYPTED
    assert "Words" in text_of(epub.extract(book(chapters, encryption("OEBPS/font.ttf"))))


def test_one_string_in_every_cell_fills_no_more_than_the_limit() -> None:
    cells = "".join(f'<c t="s" r="A{n}"><v>0</v></c>' for n in range(1, 2))
    rows = "".join(f'<row r="{n}">{cells}</row>' for n in range(1, 3000))
    data = workbook({"a": rows}, strings=f"<si><t>{'x' * 50_000}</t></si>")
    outcome = xlsx.extract(data, max_characters=200_000)
    assert len(text_of(outcome)) < 400_000
    assert isinstance(outcome, Extracted) and "only the beginning" in outcome.notes[0]


def test_a_cell_far_to_the_right_makes_no_giant_rows() -> None:
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>1</v></c><c r="XFD{n}"><v>2</v></c></row>' for n in range(1, 500)
    )
    assert len(text_of(xlsx.extract(workbook({"a": rows})))) < 50_000


def test_cells_that_repeat_without_end_do_not() -> None:
    cell = '<table:table-cell table:number-columns-repeated="99999999"><text:p>x</text:p></table:table-cell>'
    rows = f'<table:table-row table:number-rows-repeated="99999999">{cell}</table:table-row>'
    outcome = odf.extract(opendocument("spreadsheet", f"<table:table>{rows * 3}</table:table>"))
    assert len(text_of(outcome)) < 2_000_000
    assert isinstance(outcome, Extracted) and len(outcome.notes) == 2


@pytest.mark.parametrize("letters", ["ZZZ", "A"])
def test_nonsense_references_and_numbers(letters: str) -> None:
    rows = (
        f'<row r="99999999999"><c r="{letters}99999999" s="99999999999"><v>1e400</v></c></row>'
        f'<row r="-1"><c r="{letters}0" t="s"><v>-5</v></c></row>'
        '<row><c s="1"><v>1e300</v></c><c s="1"><v>-1e300</v></c><c s="1"><v>nan</v></c><c><v>x</v></c></row>'
        '<row><c t="d"><v>2026-05-01</v></c><c t="b"><v>1</v></c></row>'
    )
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    assert "2026-05-01 | TRUE" in text_of(xlsx.extract(workbook({"a": rows}, styles=styles)))


def test_a_presentation_is_read_without_the_slides_it_lost() -> None:
    files = members(presentation([shape("title", "One"), shape("title", "Two"), shape("title", "Three")]))
    files["ppt/slides/slide2.xml"] = b"<broken"
    outcome = pptx.extract(package(files))
    assert text_of(outcome) == "# One\n\n# Three"
    assert isinstance(outcome, Extracted)
    assert outcome.notes == ("slide 2 could not be read",)
    assert outcome.pages == (0, 7, 7)


NESTED = {
    ".html": b"<div>" * 20_000 + b"deep",
    ".rtf": rb"{\rtf1 " + b"{" * 500_000,
    ".ipynb": b"[" * 500_000,
    ".eml": b"".join(
        b"Subject: s\nContent-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(2000)
    ),
    ".mbox": (b"From a@b\nSubject: s\n\n" + b"x\n\n") * 20_000,
    ".xhtml": b"<table><tr><td>" * 3_000 + b"deep",
}


@pytest.mark.parametrize("suffix", NESTED)
def test_what_nests_without_end_ends(pool: Pool, suffix: str) -> None:
    outcome = pool.extract(suffix, NESTED[suffix])
    if isinstance(outcome, Refused):
        assert outcome.reason in (Skip.TOO_COMPLEX, Skip.DAMAGED, Skip.NO_TEXT)
    else:
        assert len(outcome.text) < 500_000


def test_only_so_many_messages_of_a_mailbox_are_read(pool: Pool) -> None:
    one = b"From a@example.org now\n" + message("s", "words\n") + b"\n"
    outcome = pool.extract(".mbox", one * 5_050)
    assert isinstance(outcome, Extracted)
    assert len(outcome.pages) == 5_000
    assert outcome.notes == ("only the first 5000 of 5050 messages were read",)


@pytest.mark.parametrize(
    "cells",
    [
        None,
        {},
        [None, 3, "x", [], {"cell_type": 5, "source": {"a": 1}}],
        [{"cell_type": "code", "source": ["a", 1, None], "outputs": [None, {"data": 3}, {"text": 7}]}],
        [{"cell_type": "heading", "level": "9", "source": "x"}],
    ],
)
def test_notebooks_with_other_shapes(pool: Pool, cells: object) -> None:
    data = json.dumps({"cells": cells, "metadata": 3}).encode()
    outcome = pool.extract(".ipynb", data)
    assert isinstance(outcome, Extracted) or outcome.reason in (Skip.DAMAGED, Skip.NO_TEXT)
    assert "Exception" not in str(outcome) and "Error" not in str(outcome)


def test_a_long_output_is_cut_and_an_image_left_out(pool: Pool) -> None:
    printed = {"output_type": "stream", "text": "line\n" * 5_000}
    image = {"output_type": "display_data", "data": {"image/png": "iVBOR" * 10_000, "text/plain": "<Figure>"}}
    failed = {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["x" * 9_000]}
    cell: dict[str, object] = {"cell_type": "code", "source": "run()", "outputs": [printed, image, failed]}
    text = text_of(pool.extract(".ipynb", notebook([cell])))
    assert len(text) < 300
    assert "…" in text and "<Figure>" in text and "ValueError: bad" in text


def test_a_sheet_that_is_empty_is_no_page_of_text() -> None:
    outcome = xlsx.extract(workbook({"empty": "", "full": row(1, "x")}))
    assert text_of(outcome) == "# full\n\nx"
    assert isinstance(outcome, Extracted)
    assert outcome.pages == (0, 0)
    assert refusal(xlsx.extract(workbook({"empty": ""}))).reason is Skip.NO_TEXT
