"""Word documents written by hand as the XML that Word, and attackers, write."""

from __future__ import annotations

import io
import random
import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from semantic_search.formats import Extracted, Refused, docx
from semantic_search.types import Skip

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"
NAMESPACES = (
    f'xmlns:w="{W}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PARTS = {
    "styles": "styles.xml",
    "numbering": "numbering.xml",
    "header": "header1.xml",
    "footer": "footer1.xml",
    "footnotes": "footnotes.xml",
    "endnotes": "endnotes.xml",
    "comments": "comments.xml",
}


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def p(content: str, properties: str = "") -> str:
    inner = content if content.startswith("<") else run(content)
    return f"<w:p><w:pPr>{properties}</w:pPr>{inner}</w:p>" if properties else f"<w:p>{inner}</w:p>"


def styled(style: str, text: str) -> str:
    return p(text, f'<w:pStyle w:val="{style}"/>')


def item(text: str, number_id: int, level: int = 0) -> str:
    return p(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number_id}"/></w:numPr>')


def table(*rows: list[str]) -> str:
    cells = ("".join(f"<w:tc><w:tcPr/>{cell}</w:tc>" for cell in row) for row in rows)
    return "<w:tbl><w:tblPr/>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"


def relations(targets: Mapping[str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="r{index}" Type="{RELATION}/{kind}" Target="{target}"/>'
        for index, (kind, target) in enumerate(targets.items())
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'


def members(body: str, parts: Mapping[str, str] | None = None) -> dict[str, bytes]:
    """The members of a document with this body; `parts` are the XML of other parts by kind."""
    parts = parts or {}
    texts = {
        "_rels/.rels": relations({"officeDocument": "word/document.xml"}),
        "word/document.xml": f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relations({kind: PARTS[kind] for kind in parts}),
    }
    texts |= {f"word/{PARTS[kind]}": xml for kind, xml in parts.items()}
    return {name: text.encode() for name, text in texts.items()}


def archive(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in files.items():
            package.writestr(name, data)
    return buffer.getvalue()


def document(body: str, parts: Mapping[str, str] | None = None) -> bytes:
    return archive(members(body, parts))


def text_of(body: str, parts: Mapping[str, str] | None = None) -> str:
    outcome = docx.extract(document(body, parts))
    assert isinstance(outcome, Extracted), outcome
    assert outcome.notes == ()
    return outcome.text


def refusal_of(data: bytes) -> Refused:
    outcome = docx.extract(data)
    assert isinstance(outcome, Refused), outcome
    return outcome


STYLES = f"""<w:styles {NAMESPACES}>
<w:style w:type="paragraph" w:default="1" w:styleId="a"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/><w:basedOn w:val="a"/></w:style>
<w:style w:type="paragraph" w:styleId="Big"><w:name w:val="Company big"/><w:basedOn w:val="1"/></w:style>
<w:style w:type="paragraph" w:styleId="Deep"><w:name w:val="x"/>
  <w:pPr><w:outlineLvl w:val="7"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Plain"><w:name w:val="y"/><w:basedOn w:val="1"/>
  <w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="L"><w:name w:val="List Bullet"/>
  <w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="p"/><w:basedOn w:val="Pool"/></w:style>
<w:style w:type="paragraph" w:styleId="Pool"><w:name w:val="q"/><w:basedOn w:val="Loop"/></w:style>
<w:style w:type="character" w:styleId="c1"><w:name w:val="heading 2"/></w:style>
</w:styles>"""

NUMBERING = f"""<w:numbering {NAMESPACES}>
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/></w:lvl>
  <w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="5"><w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/></w:lvl>
  <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="5"/></w:num>
</w:numbering>"""


def test_paragraphs_stand_apart_and_keep_their_breaks() -> None:
    body = (
        p("Перший абзац")
        + p("")
        + p(run("tab") + "<w:r><w:tab/></w:r>" + run("a") + "<w:r><w:br/></w:r>" + run("b"))
    )
    assert text_of(body) == "Перший абзац\n\ntab\ta\nb"


def test_tab_stops_are_not_tabs_and_hyphens_are_text() -> None:
    tabs = '<w:tabs><w:tab w:val="left" w:pos="720"/></w:tabs>'
    content = "<w:r><w:t>co</w:t><w:noBreakHyphen/><w:t>op</w:t><w:softHyphen/><w:t>ted</w:t></w:r>"
    assert text_of(p(content, tabs)) == "co-opted"


def test_headings_by_level_style_base_and_localised_id() -> None:
    body = (
        styled("T", "Title")
        + styled("1", "Заголовок")
        + styled("Big", "By its base")
        + styled("Deep", "Eighth level")
        + styled("Plain", "Level nine is body text")
        + styled("Heading3", "Undescribed style")
        + p("Own level", '<w:outlineLvl w:val="1"/>')
        + styled("Loop", "A loop of bases")
        + styled("c1", "A character style's id")
    )
    assert text_of(body, {"styles": STYLES}).split("\n\n") == [
        "# Title",
        "# Заголовок",
        "# By its base",
        "###### Eighth level",
        "Level nine is body text",
        "### Undescribed style",
        "## Own level",
        "A loop of bases",
        "A character style's id",
    ]


def test_a_heading_is_one_line() -> None:
    assert (
        text_of(p("<w:r><w:t>Two</w:t><w:br/><w:t>lines</w:t></w:r>", '<w:outlineLvl w:val="0"/>'))
        == "# Two lines"
    )


def test_lists_nest_and_count() -> None:
    body = (
        item("one", 1)
        + item("nested", 1, 1)
        + item("third", 2)
        + item("a", 2, 1)
        + item("b", 2, 1)
        + item("fourth", 2)
        + item("a again", 2, 1)
        + styled("L", "by style")
        + p("none", '<w:pStyle w:val="L"/><w:numPr><w:numId w:val="0"/></w:numPr>')
        + item("unknown list", 77)
    )
    assert text_of(body, {"styles": STYLES, "numbering": NUMBERING}) == (
        "- one\n    - nested\n3. third\n    1. a\n    2. b\n4. fourth\n    1. a again\n- by style\n\n"
        "none\n\n- unknown list"
    )


def test_tables_are_markdown_rows() -> None:
    wide = '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>' + p("Both") + "</w:tc></w:tr>"
    wide += "<w:tr><w:tc>" + p("x") + "</w:tc><w:tc>" + p("y") + "</w:tc></w:tr></w:tbl>"
    body = p("before") + table([p("Назва"), p("a|b")], [p("one") + p("two"), p("")]) + wide + p("after")
    assert text_of(body) == (
        "before\n\n| Назва | a\\|b |\n| --- | --- |\n| one two |  |\n\n"
        "| Both |  |\n| --- | --- |\n| x | y |\n\nafter"
    )


def test_a_table_in_a_table_is_text_of_its_cell() -> None:
    inner = table([p("i1"), p("i2")], [p("i3"), p("i4")])
    assert text_of(table([p("a"), p("b")], [p("c") + inner, p("d")])) == (
        "| a | b |\n| --- | --- |\n| c i1; i2 i3; i4 | d |"
    )


def test_one_cell_is_a_frame_around_text() -> None:
    body = table([styled("1", "Framed") + p("text")])
    assert text_of(body, {"styles": STYLES}) == "# Framed\n\ntext"


def test_content_controls_around_rows_cells_and_runs() -> None:
    def control(inner: str) -> str:
        return f'<w:sdt><w:sdtPr><w:alias w:val="no"/></w:sdtPr><w:sdtContent>{inner}</w:sdtContent></w:sdt>'

    row = "<w:tr><w:tc>" + p("r1") + "</w:tc>" + control("<w:tc>" + p("r2") + "</w:tc>") + "</w:tr>"
    body = control(p("block")) + p(run("in") + control(run("line"))) + f"<w:tbl>{control(row)}{row}</w:tbl>"
    assert text_of(body) == "block\n\ninline\n\n| r1 | r2 |\n| --- | --- |\n| r1 | r2 |"


def test_tracked_changes_read_as_if_accepted() -> None:
    body = p(
        run("a ")
        + f"<w:ins>{run('inserted ')}</w:ins>"
        + "<w:del><w:r><w:delText>deleted</w:delText></w:r></w:del>"
        + f"<w:moveFrom>{run('from')}</w:moveFrom><w:moveTo>{run('to')}</w:moveTo>",
        '<w:pStyle w:val="1"/><w:pPrChange><w:pPr><w:pStyle w:val="a"/><w:outlineLvl w:val="4"/></w:pPr>'
        "</w:pPrChange>",
    )
    assert text_of(body, {"styles": STYLES}) == "# a inserted to"


def test_a_text_box_is_read_once_after_its_paragraph() -> None:
    box = "<w:txbxContent>" + p("boxed") + p("second") + "</w:txbxContent>"
    both = (
        f'<mc:AlternateContent><mc:Choice Requires="wps"><wps:txbx>{box}</wps:txbx></mc:Choice>'
        f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent>"
    )
    old = f"<w:pict><v:textbox>{box.replace('boxed', 'older')}</v:textbox></w:pict>"
    body = p(f"<w:r>{both}</w:r>" + run("anchor")) + p(f"<w:r>{old}</w:r>")
    assert text_of(body) == "anchor\n\nboxed\n\nsecond\n\nolder\n\nsecond"


def test_the_fallback_is_read_where_the_choice_has_no_text() -> None:
    alternatives = (
        "<mc:AlternateContent><mc:Choice><wps:new/></mc:Choice>"
        f"<mc:Choice>{run('taken')}</mc:Choice><mc:Choice>{run('late')}</mc:Choice>"
        f"<mc:Fallback>{run('old')}</mc:Fallback></mc:AlternateContent>"
        f"<mc:AlternateContent><mc:Choice><wps:new/></mc:Choice><mc:Fallback>{run(' fallback')}</mc:Fallback>"
        "</mc:AlternateContent>"
    )
    assert text_of(p(alternatives)) == "taken fallback"


def test_fields_give_their_result_and_links_their_text() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGEREF secret</w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("12")}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    simple = f'<w:fldSimple w:instr="DATE">{run(" today")}</w:fldSimple>'
    link = f'<w:hyperlink r:id="r1">{run(" link")}</w:hyperlink>'
    assert text_of(p(field + simple + link)) == "12 today link"


def test_formulas_symbols_and_ruby() -> None:
    ruby = f"<w:r><w:ruby><w:rt>{run('kana')}</w:rt><w:rubyBase>{run('漢')}</w:rubyBase></w:ruby></w:r>"
    symbols = '<w:r><w:sym w:char="F0B7"/><w:sym w:char="2192"/><w:sym w:char="zz"/><w:sym/></w:r>'
    assert text_of(p(f"<m:oMath><m:r><m:t>x=1</m:t></m:r></m:oMath>{symbols}{ruby}")) == "x=1→漢"


def test_text_that_looks_like_markup_does_not_become_markup() -> None:
    assert text_of(p("# no heading") + p("```") + p("#hash")) == "\\# no heading\n\n\\```\n\n#hash"


NOTES = {
    "header": f"<w:hdr {NAMESPACES}>{p('needle-header')}</w:hdr>",
    "footer": f"<w:ftr {NAMESPACES}>{p('needle-footer')}{p('7')}</w:ftr>",
    "footnotes": f"<w:footnotes {NAMESPACES}>"
    f'<w:footnote w:type="separator" w:id="-1">{p("rule")}</w:footnote>'
    f'<w:footnote w:id="2">{p("needle-footnote")}{p("more")}</w:footnote></w:footnotes>',
    "endnotes": f"<w:endnotes {NAMESPACES}>"
    f'<w:endnote w:id="1">{p("needle-endnote")}</w:endnote></w:endnotes>',
    "comments": f"<w:comments {NAMESPACES}>"
    f'<w:comment w:id="0" w:author="Олена">{p("needle-comment")}</w:comment></w:comments>',
}


def test_docx_03_every_place_that_holds_text_in_order() -> None:
    box = (
        f"<w:r><w:pict><v:textbox><w:txbxContent>{p('needle-box')}</w:txbxContent></v:textbox></w:pict></w:r>"
    )
    body = (
        table([p("needle-cell"), p("other")])
        + f"<w:sdt><w:sdtContent>{p('needle-control')}</w:sdtContent></w:sdt>"
        + p(f"<w:ins>{run('needle-inserted')}</w:ins><w:del>{run('needle-deleted')}</w:del>")
        + p(box)
        + p(
            run("refers")
            + '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="1"/></w:r>'
            + '<w:r><w:commentReference w:id="0"/></w:r>'
        )
    )
    assert text_of(body, NOTES).split("\n\n") == [
        "needle-header",
        "| needle-cell | other |\n| --- | --- |",
        "needle-control",
        "needle-inserted",
        "needle-box",
        "refers[^2][^e1]",
        "needle-footer",
        "[^2]: needle-footnote more",
        "[^e1]: needle-endnote",
        "> Олена: needle-comment",
    ]


def test_strict_namespaces_and_another_main_part() -> None:
    files = members(styled("1", "Строгий"), {"styles": STYLES})
    renamed = {
        name.replace("document.xml", "document2.xml"): data.replace(W.encode(), STRICT.encode()).replace(
            b"document.xml", b"document2.xml"
        )
        for name, data in files.items()
    }
    outcome = docx.extract(archive(renamed))
    assert outcome == Extracted("# Строгий")


def test_a_document_without_relations_is_found_by_its_usual_name() -> None:
    files = members(p("text"))
    assert docx.extract(archive({"word\\document.xml": files["word/document.xml"]})) == Extracted("text")


def test_a_damaged_side_part_costs_a_note() -> None:
    outcome = docx.extract(document(p("body"), NOTES | {"header": "<w:hdr", "footnotes": "<w:x/>"}))
    assert isinstance(outcome, Extracted)
    assert outcome.text.startswith("body\n\nneedle-footer")
    assert outcome.notes == (
        "the document's header could not be read",
        "the document's footnotes could not be read",
    )


def test_a_missing_side_part_costs_a_note() -> None:
    files = members(p("body"), NOTES)
    del files["word/comments.xml"]
    outcome = docx.extract(archive(files))
    assert isinstance(outcome, Extracted)
    assert outcome.notes == ("the document's comments could not be read",)


def test_embedded_documents_are_named() -> None:
    outcome = docx.extract(document(p("body") + '<w:altChunk r:id="r9"/>'))
    assert outcome == Extracted("body", notes=("1 embedded documents were not read",))


def test_long_text_is_cut_with_a_note() -> None:
    body = p("first") + table([p("x" * 50), p("y")], [p("z" * 50), p("w")]) + p("last")
    outcome = docx.extract(document(body, NOTES), max_characters=80)
    assert isinstance(outcome, Extracted)
    x, z = "x" * 50, "z" * 50
    assert outcome.text == f"first\n\n| {x} | y |\n| --- | --- |\n| {z} |"
    assert "last" not in outcome.text and "needle" not in outcome.text
    assert outcome.notes == ("only the beginning was kept: more text than the limit",)


def test_no_text() -> None:
    assert refusal_of(document(p("") + table([p("")]))) == Refused(Skip.NO_TEXT)


def test_compound_files_are_encrypted_or_old() -> None:
    compound = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(504)
    assert refusal_of(compound + "EncryptedPackage".encode("utf-16-le")).reason is Skip.ENCRYPTED
    old = refusal_of(compound + "WordDocument".encode("utf-16-le"))
    assert old.reason is Skip.DAMAGED and ".docx" in old.detail


def test_an_encrypted_member_is_encrypted() -> None:
    data = bytearray(document(p("text")))
    at = -1
    while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
        data[at + 8] |= 1
    assert refusal_of(bytes(data)).reason is Skip.ENCRYPTED


@pytest.mark.parametrize(
    "data",
    [
        b"PK",
        b"no archive at all",
        archive({}),
        archive({"xl/workbook.xml": b"<x/>"}),
        archive({"word/document.xml": b"<html><body>text</body></html>"}),
        archive({"word/document.xml": b"<w:document"}),
        archive({"word/document.xml": b""}),
        archive({"word/document.xml": b'<?xml version="1.0" encoding="no-such"?><a/>'}),
    ],
    ids=["stub", "text", "empty", "workbook", "html", "cut", "nothing", "encoding"],
)
def test_what_is_no_word_document_is_damaged(data: bytes) -> None:
    refused = refusal_of(data)
    assert refused.reason is Skip.DAMAGED and refused.detail


def test_document_types_and_entities_are_refused() -> None:
    lol = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
    bomb = f'<!DOCTYPE d [<!ENTITY l0 "lol">{lol}]><w:document xmlns:w="{W}">&l8;</w:document>'
    refused = refusal_of(archive({"word/document.xml": bomb.encode()}))
    assert refused.reason is Skip.DAMAGED and "document type" in refused.detail


def zeros(size: int) -> bytes:
    """A deflated stream of `size` spaces, made without holding them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    piece = b" " * (1 << 20)
    return b"".join(packer.compress(piece) for _ in range(size >> 20)) + packer.flush()


def raw_member(name: bytes, packed: bytes, declared: int) -> bytes:
    """A zip with one deflated member whose headers declare this size."""
    fields = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 0, 0, len(packed), declared, len(name), 0)
    local = b"PK\x03\x04" + fields + name + packed
    central = b"PK\x01\x02" + struct.pack("<H", 20) + fields + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end


@pytest.mark.parametrize("declared", [300 << 20, 1000, (1 << 32) - 2], ids=["honest", "small", "huge"])
def test_docx_01_bombs_are_refused_without_memory(declared: int) -> None:
    data = raw_member(b"word/document.xml", zeros(300 << 20), declared)
    assert len(data) < 400_000
    tracemalloc.start()
    try:
        refused = refusal_of(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert refused.reason is (Skip.DAMAGED if declared == 1000 else Skip.TOO_COMPLEX)
    assert peak < 20_000_000


def test_docx_01_too_many_members() -> None:
    files = members(p("text")) | {f"word/media/{n}.png": b"" for n in range(12_000)}
    assert refusal_of(archive(files)).reason is Skip.TOO_COMPLEX


def test_deep_nesting_is_refused() -> None:
    body = "<w:sdt>" * 2000 + p("deep") + "</w:sdt>" * 2000
    assert refusal_of(document(body)).reason is Skip.TOO_COMPLEX


def test_docx_05_nothing_is_written_whatever_members_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "a" / "b" / "c"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    files = members(p("text")) | {
        "../../../elsewhere/pwn": b"1",
        "/absolute/pwn": b"2",
        "..\\..\\pwn": b"3",
        "word/../../../pwn.xml": b"4",
    }
    files["word/_rels/document.xml.rels"] = relations({"footnotes": "../../../elsewhere/pwn"}).encode()
    outcome = docx.extract(archive(files))
    assert isinstance(outcome, Extracted) and outcome.text == "text"
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "a",
        str(Path("a/b")),
        str(Path("a/b/c")),
    ]


def test_misplaced_elements_are_read_as_well_as_can_be() -> None:
    body = f"<w:tr><w:tc>{p('cell')}</w:tc></w:tr><w:t>lost</w:t><w:pStyle w:val='1'/><w:numId w:val='x'/>"
    body += f"<mc:Choice>{p('choice')}</mc:Choice><w:txbxContent>{p('box')}</w:txbxContent>"
    body += "<w:gridSpan w:val='2'/>"
    assert text_of(body) == "cell\n\nchoice\n\nbox"


def test_mutated_documents_give_text_or_a_reason() -> None:
    body = table([p("a"), p("b")]) + item("one", 1) + p("# x") + "".join(p(f"абзац {n}") for n in range(20))
    whole = document(body, NOTES | {"styles": STYLES, "numbering": NUMBERING})
    plain = io.BytesIO()
    with zipfile.ZipFile(plain, "w") as stored:
        for name, data in members(body, NOTES).items():
            stored.writestr(name, data)
    source = random.Random(7)
    for seed in (whole, plain.getvalue()):
        for _ in range(150):
            mutated = bytearray(seed)
            for _ in range(source.randint(1, 12)):
                mutated[source.randrange(len(mutated))] = source.randrange(256)
            outcome = docx.extract(bytes(mutated))
            assert isinstance(outcome, Extracted | Refused)
