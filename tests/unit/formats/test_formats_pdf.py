"""PDFs written by hand: sound ones, in two alphabets, and the shapes that make readers fail."""

from __future__ import annotations

import bisect
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from semantic_search.formats import FORMATS, Extracted, Pool, Refused, pdf
from semantic_search.types import Skip

ALPHABET = "абвгґдеєжзиіїйклмнопрстуфхцчшщьюяАБВГҐДЕЄЖЗИІЇЙКЛМНОПРСТУФХЦЧШЩЮЯы"
CODES = {letter: 128 + index for index, letter in enumerate(ALPHABET)}


def unicode_map() -> bytes:
    """A ToUnicode CMap that gives the codes from 128 the letters of `ALPHABET`."""
    rows = "".join(f"<{code:02x}> <{ord(letter):04x}>\n" for letter, code in CODES.items())
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Letters def\n"
        f"1 begincodespacerange <00> <ff> endcodespacerange {len(CODES)} beginbfchar\n{rows}"
        "endbfchar endcmap end end"
    ).encode()


def shown(*lines: str) -> bytes:
    """The content stream of a page with these lines."""
    strings = (bytes(CODES.get(letter, ord(letter)) for letter in line) for line in lines)
    return (
        b"BT /F1 12 Tf 14 TL 50 700 Td "
        + b" ".join(b"<%s> Tj T*" % s.hex().encode() for s in strings)
        + b" ET"
    )


IMAGE = b"q 200 0 0 200 50 400 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x7f EI Q"


def stream(data: bytes, more: bytes = b"") -> bytes:
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(data), more, data)


def objects_of(contents: Sequence[bytes]) -> list[bytes]:
    """The objects 1, 2, … of a document whose pages have these content streams (or whole stream objects)."""
    kids = b" ".join(b"%d 0 R" % (5 + 2 * page) for page in range(len(contents)))
    widths = b" ".join([b"500"] * (128 + len(CODES) - 32))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(contents), kids),
        b"<</Type/Font/Subtype/TrueType/BaseFont/Arial/FirstChar 32/LastChar %d/Widths[%s]/ToUnicode 4 0 R>>"
        % (127 + len(CODES), widths),
        stream(unicode_map()),
    ]
    for page, content in enumerate(contents):
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
            b"/Resources<</Font<</F1 3 0 R>>>>>>" % (6 + 2 * page)
        )
        objects.append(content if content.startswith(b"<<") else stream(content))
    return objects


def file_of(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """A PDF of these objects, with a cross-reference table."""
    out = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
    offsets = []
    for index, content in enumerate(objects):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (index + 1, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<</Size %d/Root 1 0 R%s>>\nstartxref\n%d\n%%%%EOF\n"
        % (
            len(objects) + 1,
            table,
            len(objects) + 1,
            trailer,
            len(out),
        )
    )


def document(*contents: bytes) -> bytes:
    return file_of(objects_of(contents))


def text_of(data: bytes) -> str:
    outcome = pdf.extract(data)
    assert isinstance(outcome, Extracted), outcome
    return outcome.text


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(FORMATS) as pool:
        yield pool


def test_pages_and_alphabets() -> None:
    outcome = pdf.extract(document(shown("First page", "second line"), shown("Їжак і ґава", "щодня")))
    assert isinstance(outcome, Extracted)
    assert outcome.text == "First page\nsecond line\n\nЇжак і ґава\nщодня"
    assert outcome.pages == (0, outcome.text.index("Їжак"))
    assert outcome.notes == ()


def test_pages_without_text_are_counted_and_start_where_the_next_one_does() -> None:
    outcome = pdf.extract(document(b"", shown("a"), IMAGE, b"", shown("b"), b""))
    assert outcome == Extracted("a\n\nb", (0, 0, 3, 3, 3, 4), ("4 of 6 pages without text",))


def test_pdf_06_a_mostly_scanned_document_says_so() -> None:
    pages = [IMAGE] * 23
    for number in (0, 9, 22):
        pages[number] = shown(f"Text of page {number + 1}")
    outcome = pdf.extract(document(*pages))
    assert isinstance(outcome, Extracted)
    assert outcome.text == "Text of page 1\n\nText of page 10\n\nText of page 23"
    assert outcome.notes == ("20 of 23 pages without text",)


def test_pdf_07_a_place_in_the_text_has_a_page() -> None:
    outcome = pdf.extract(document(*(shown("needle" if page == 36 else "hay", "more") for page in range(50))))
    assert isinstance(outcome, Extracted)
    assert bisect.bisect_right(outcome.pages, outcome.text.index("needle")) == 37


def test_images_alone_are_no_text() -> None:
    assert pdf.extract(document(IMAGE, IMAGE)) == Refused(Skip.NO_TEXT)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (("a re-", "written page"), "a rewritten page"),
        (("an append-", "only log, append-only"), "an append-only log, append-only"),
        (("a co-", "operation, cooperation"), "a cooperation, cooperation"),
        (("the Post-", "GIS year"), "the Post-GIS year"),
        (("переписа-", "ний текст"), "переписаний текст"),
        (("dash -", "here"), "dash -\nhere"),
        (("plain", "line"), "plain\nline"),
    ],
)
def test_words_broken_at_a_line_end(lines: tuple[str, str], text: str) -> None:
    assert text_of(document(shown(*lines))) == text


def test_limits_cut_with_a_note() -> None:
    data = document(*(shown(f"page {number}") for number in range(10)))
    assert pdf.extract(data, max_pages=2) == Extracted(
        "page 0\n\npage 1", (0, 8), ("only the first 2 of 10 pages were read",)
    )
    assert pdf.extract(data, max_characters=9) == Extracted(
        "page 0\n\np",
        (0, 8),
        ("only the first 2 of 10 pages were read", "only the first 9 characters were kept"),
    )


def test_text_outside_of_a_page_is_left_out_unless_the_page_box_is_wrong() -> None:
    outside = b"BT /F1 12 Tf 50 700 Td (inside) Tj 5000 0 Td (outside) Tj ET"
    assert text_of(document(outside)).strip() == "inside"
    assert text_of(document(b"BT /F1 12 Tf 5000 700 Td (outside) Tj ET")) == "outside"


def test_no_surrogates_and_no_control_characters() -> None:
    objects = objects_of([shown("АБВ tail")])
    letters = (b"<%02x> <%04x>" % (CODES[letter], ord(letter)) for letter in "АБВ")
    for entry, instead in zip(letters, (b"d83dde00", b"d800", b"0000"), strict=True):
        objects[3] = objects[3].replace(entry, entry[:5] + b"<%s>" % instead)
    objects[3] = stream(objects[3].partition(b"stream\n")[2].rpartition(b"\nendstream")[0])
    text = text_of(file_of(objects))
    assert text.startswith("😀") and text.endswith("tail")
    assert text.encode("utf-8").decode() == text and "\0" not in text


def test_encrypted() -> None:
    hidden = b"<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>" % (b"41" * 32, b"42" * 32)
    data = file_of([*objects_of([shown("secret")]), hidden], b"/Encrypt 7 0 R/ID[<41><41>]")
    assert pdf.extract(data) == Refused(Skip.ENCRYPTED)


SOUND = document(shown("Sound text"), shown("on two pages"))


@pytest.mark.parametrize(
    "data",
    [
        SOUND[: SOUND.rindex(b"startxref")],
        SOUND[: SOUND.rindex(b"%%EOF")],
        SOUND.replace(b"startxref\n", b"startxref\n9"),
        b"\r\njunk before\r\n" * 20 + SOUND,
        SOUND + b"\0junk after" * 200,
        SOUND.replace(b"/Count 2", b"/Count 2147483647"),
        SOUND.replace(b"/Count 2", b"/Count -1"),
        SOUND.replace(b"/Size 9", b"/Size 2147483647"),
        SOUND.replace(b"trailer\n<<", b"trailer\n<</Prev %d" % SOUND.rindex(b"xref\n0")),
    ],
    ids=["no-end", "no-eof", "bad-start", "junk-before", "junk-after", "count", "minus", "size", "circular"],
)
def test_pdf_04_repairable_shapes_give_their_text(data: bytes) -> None:
    assert text_of(data).startswith("Sound text")


@pytest.mark.parametrize(
    "data",
    [
        b"x",
        bytes(5000),
        b"<!DOCTYPE html><html><body>a page</body></html>",
        b"%PDF-1.7\n",
        SOUND[:200],
        file_of([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Count 0/Kids[]>>"]),
        file_of([b"<</Type/Catalog>>"]),
        random.Random(1).randbytes(20_000),
    ],
    ids=["byte", "zeros", "html", "header", "cut", "no-pages", "no-tree", "noise"],
)
def test_pdf_04_hopeless_shapes_give_a_reason(data: bytes) -> None:
    outcome = pdf.extract(data)
    assert isinstance(outcome, Refused)
    assert outcome.reason in (Skip.DAMAGED, Skip.NO_TEXT)


def cyclic_kids() -> bytes:
    objects = objects_of([shown("text")])
    objects[1] = b"<</Type/Pages/Count 1000000/Kids[2 0 R 5 0 R 2 0 R]>>"
    return file_of(objects)


def self_containing_form() -> bytes:
    form = stream(
        b"/X Do " * 50, b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 7 0 R>>>>"
    )
    page = objects_of([b"/X Do"])
    page[4] = page[4].replace(b"/Resources<<", b"/Resources<</XObject<</X 7 0 R>>")
    return file_of([*page, form])


def squeezed(data: bytes, times: int, layers: int = 1) -> bytes:
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(data) for _ in range(times)) + packer.flush()
    for _ in range(layers - 1):
        packed = zlib.compress(packed, 9)
    return document(stream(packed, b"/Filter[%s]" % (b"/FlateDecode" * layers)))


@pytest.mark.parametrize(
    "make",
    [
        cyclic_kids,
        self_containing_form,
        lambda: document(b"BI /W 9 /H 9 /BPC 8 /CS /G ID " + b"\x00E" * 50_000),
        lambda: document(b"q " * 200_000 + b"[" * 100_000 + shown("text")),
        lambda: document(b"<<" * 100_000),
        lambda: squeezed(b" " * (1 << 20), 1000, layers=2),
        lambda: document(stream(b"\x80\x0b" * 100_000, b"/Filter[" + b"/LZWDecode" * 20 + b"]")),
    ],
    ids=["kids", "form", "inline-image", "nesting", "dictionaries", "flate", "lzw"],
)
def test_pdf_01_hostile_shapes_end(make: Callable[[], bytes], pool: Pool) -> None:
    outcome = pool.extract(".pdf", make(), seconds=3)
    assert isinstance(outcome, Extracted) or outcome.reason in (
        Skip.DAMAGED,
        Skip.NO_TEXT,
        Skip.TOO_COMPLEX,
        Skip.TIMED_OUT,
    )
    assert text_of_pool(pool) == "Sound text\n\non two pages"


def text_of_pool(pool: Pool) -> str:
    outcome = pool.extract(".pdf", SOUND)
    assert isinstance(outcome, Extracted), outcome
    return outcome.text


def test_pdf_02_many_threads_get_their_own_texts(pool: Pool) -> None:
    names = [f"document {number}" for number in range(40)] * 10
    data = {name: document(shown(name), shown("text of " + name)) for name in set(names)}
    with ThreadPoolExecutor(4) as threads:
        outcomes = list(threads.map(lambda name: pool.extract(".pdf", data[name]), names))
    assert [outcome.text if isinstance(outcome, Extracted) else outcome for outcome in outcomes] == [
        f"{name}\n\ntext of {name}" for name in names
    ]


def test_mutated_documents_give_text_or_a_reason(pool: Pool) -> None:
    source = random.Random(11)
    seeds = (SOUND, squeezed(shown("squeezed"), 3), document(IMAGE, shown("text")))
    for seed in seeds:
        for _ in range(100):
            mutated = bytearray(seed)
            for _ in range(source.randint(1, 10)):
                mutated[source.randrange(len(mutated))] = source.randrange(256)
            outcome = pool.extract(".pdf", bytes(mutated), seconds=20)
            assert isinstance(outcome, Extracted | Refused)
            assert not isinstance(outcome, Refused) or outcome.reason is not Skip.UNREADABLE
