"""A small document of every format, built here: what it is, and what a reader of it finds where."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from xml.sax.saxutils import escape

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SLIDE = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    f'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{OFFICE}"'
)
ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{space}:1.0"'
    for name, space in [
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
    ]
)


def package(files: Mapping[str, str | bytes]) -> bytes:
    """A zip archive of these members, the same bytes every time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def relations(*targets: tuple[str, str, str]) -> str:
    """The XML of relations, each an id, a kind and a target."""
    rows = "".join(
        f'<Relationship Id="{id_}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for id_, kind, target in targets
    )
    return f'<Relationships xmlns="{RELATIONS}">{rows}</Relationships>'


def workbook(
    sheets: Mapping[str, str], *, strings: str = "", styles: str = "", properties: str = ""
) -> bytes:
    """A workbook of sheets by name, each the XML of its rows; `strings` and `styles` are inner XML too."""
    names = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1)
    )
    links = [(f"r{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)]
    files: dict[str, str | bytes] = {
        "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}">{properties}'
        f"<sheets>{names}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            *links, ("s", "sharedStrings", "sharedStrings.xml"), ("t", "styles", "styles.xml")
        ),
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEET}">{strings}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{SHEET}">{styles}</styleSheet>',
    }
    for n, rows in enumerate(sheets.values(), 1):
        files[f"xl/worksheets/sheet{n}.xml"] = (
            f'<worksheet xmlns="{SHEET}"><sheetData>{rows}</sheetData></worksheet>'
        )
    return package(files)


def row(number: int, *cells: str | float | None) -> str:
    """A row of inline texts and numbers from column A on; None leaves a cell out."""
    found = []
    for column, cell in enumerate(cells):
        reference = f"{chr(65 + column)}{number}"
        if isinstance(cell, str):
            found.append(f'<c r="{reference}" t="inlineStr"><is><t>{escape(cell)}</t></is></c>')
        elif cell is not None:
            found.append(f'<c r="{reference}"><v>{cell}</v></c>')
    return f'<row r="{number}">{"".join(found)}</row>'


def shape(place: str, *paragraphs: str) -> str:
    """A shape of a slide, "" as place a text box. A paragraph that begins with tabs is so many levels in."""
    kind = f'<p:nvPr><p:ph type="{place}"/></p:nvPr>' if place else "<p:nvPr/>"
    texts = "".join(
        f'<a:p><a:pPr lvl="{len(text) - len(bare)}"/><a:r><a:t>{escape(bare)}</a:t></a:r></a:p>'
        for text in paragraphs
        for bare in [text.lstrip("\t")]
    )
    return f"<p:sp><p:nvSpPr>{kind}</p:nvSpPr><p:txBody>{texts}</p:txBody></p:sp>"


def presentation(slides: list[str], notes: Mapping[int, str] | None = None) -> bytes:
    """A presentation of slides, each the XML of its shapes; `notes` likewise, by slide from 1."""
    notes = notes or {}
    count = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="r{n}"/>' for n in count)
    files: dict[str, str | bytes] = {
        "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {SLIDE}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            *((f"r{n}", "slide", f"slides/slide{n}.xml") for n in count)
        ),
    }
    for n, shapes in enumerate(slides, 1):
        files[f"ppt/slides/slide{n}.xml"] = (
            f"<p:sld {SLIDE}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
        )
    for n, shapes in notes.items():
        files[f"ppt/slides/_rels/slide{n}.xml.rels"] = relations(
            ("n", "notesSlide", f"../notesSlides/notes{n}.xml")
        )
        files[f"ppt/notesSlides/notes{n}.xml"] = (
            f"<p:notes {SLIDE}><p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:notes>"
        )
    return package(files)


def opendocument(kind: str, body: str) -> bytes:
    """An OpenDocument file of a kind (`text`, `spreadsheet`, `presentation`)."""
    content = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    content = f"<office:document-content {ODF}>{content}</office:document-content>"
    return package(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": content,
            "styles.xml": "<a/>",
        }
    )


def book(chapters: Mapping[str, str], more: Mapping[str, str] | None = None) -> bytes:
    """An EPUB book of chapters by file name, in the order of the spine."""
    items = "".join(
        f'<item id="c{n}" href="{name}" media-type="application/xhtml+xml"/>'
        for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    opf = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Книга садівника</dc:title>'
        f"<dc:creator>Ada Gardener</dc:creator></metadata><manifest>{items}</manifest>"
        f"<spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    files = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OEBPS/book.opf": opf}
    files |= {
        f"OEBPS/{name}": f'<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
        for name, body in chapters.items()
    }
    return package(files | dict(more or {}))


def message(subject: str, body: str, html: str = "", attachment: str = "") -> bytes:
    """An e-mail message."""
    mail = EmailMessage()
    mail["Subject"] = subject
    mail["From"] = "Олена Коваль <olena@example.org>"
    mail["To"] = "team@example.org"
    mail["Date"] = "Mon, 05 Jan 2026 10:30:00 +0200"
    mail.set_content(body)
    if html:
        mail.add_alternative(html, subtype="html")
    if attachment:
        mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename=attachment)
    return mail.as_bytes()


def notebook(cells: list[dict[str, object]]) -> bytes:
    """A notebook of nbformat 4."""
    about = {"language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}).encode()


def _xlsx() -> bytes:
    cell = '<c r="{}" t="s"><v>{}</v></c>'.format
    head = f'<row r="3">{cell("A3", 0)}{cell("B3", 1)}{cell("C3", 2)}</row>'
    body = (
        f'<row r="4">{cell("A4", 3)}<c r="B4"><v>125.5</v></c><c r="C4" s="1"><v>46027</v></c></row>'
        f'<row r="5">{cell("A5", 4)}<c r="B5"><v>0.1</v></c><c r="C5" s="1"><v>46028.5</v></c></row>'
    )
    words = ("Expense", "Amount", "Paid on", "Greenhouse glass panes", "Насіння томатів")
    strings = "".join(f"<si><t>{word}</t></si>" for word in words)
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    sheets = {
        "Summary": row(1, "Garden budget for the winter"),
        "Costs 2026": row(1, "All costs") + head + body,
    }
    return workbook(sheets, strings=strings, styles=styles)


def _pptx() -> bytes:
    table = (
        "<p:graphicFrame><a:tbl>"
        + "".join(
            "<a:tr>"
            + "".join(f"<a:tc><a:txBody><a:p><a:r><a:t>{c}</a:t></a:r></a:p></a:txBody></a:tc>" for c in r)
            + "</a:tr>"
            for r in [("Month", "Harvest"), ("July", "40 kg of cherries")]
        )
        + "</a:tbl></p:graphicFrame>"
    )
    return presentation(
        [
            shape("ctrTitle", "The orchard plan") + shape("subTitle", "Spring meeting"),
            shape("title", "Обрізка дерев")
            + shape("body", "Яблуні обрізають у березні", "\tЛише сухі гілки"),
            table + shape("sldNum", "3"),
        ],
        {2: shape("body", "Remind everybody to disinfect the secateurs") + shape("sldNum", "2")},
    )


def _odt() -> bytes:
    table = "".join(
        "<table:table-row>"
        + "".join(f"<table:table-cell><text:p>{c}</text:p></table:table-cell>" for c in cells)
        + "</table:table-row>"
        for cells in [("Tool", "Shelf"), ("Pitchfork", "third on the left")]
    )
    return opendocument(
        "text",
        '<text:h text:outline-level="1">Інвентар сараю</text:h><text:p>Keep the <text:span>scythe</text:span>'
        '<text:s text:c="1"/>away from children.<text:note><text:note-citation>1</text:note-citation>'
        "<text:note-body><text:p>It was sharpened in May.</text:p></text:note-body></text:note></text:p>"
        "<text:list><text:list-item><text:p>Сокира</text:p></text:list-item></text:list>"
        f"<table:table>{table}</table:table>",
    )


def _ods() -> bytes:
    def cells(*texts: str) -> str:
        return "".join(f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in texts)

    return opendocument(
        "spreadsheet",
        '<table:table table:name="Вулики"><table:table-row table:number-rows-repeated="2"/>'
        f'<table:table-row>{cells("Hive", "Queen")}<table:table-cell office:value-type="date" '
        'office:date-value="2026-05-01"><text:p>1 May</text:p></table:table-cell></table:table-row>'
        f"<table:table-row>{cells('Blue hive under the linden', 'Матка 2024 року')}</table:table-row>"
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row></table:table>',
    )


def _odp() -> bytes:
    def frame(text: str, kind: str) -> str:
        box = f"<draw:text-box><text:p>{text}</text:p></draw:text-box>"
        return f'<draw:frame presentation:class="{kind}">{box}</draw:frame>'

    return opendocument(
        "presentation",
        f"<draw:page>{frame('Irrigation', 'title')}"
        f"{frame('Drip lines save a third of the water', 'outline')}</draw:page>"
        f"<draw:page>{frame('Полив', 'title')}{frame('Поливайте на світанку', 'outline')}"
        f"<presentation:notes>{frame('Show the valve here', 'notes')}</presentation:notes></draw:page>",
    )


def _rtf() -> bytes:
    cyrillic = "Перевірте глибину промерзання ґрунту".encode("cp1251")
    escaped = "".join(f"\\'{byte:02x}" if byte > 127 else chr(byte) for byte in cyrillic)
    unicode = "".join(f"\\u{ord(letter)}?" for letter in "Мороз")
    return (
        r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fswiss\fcharset204 Arial Cyr;}}"
        r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}}{\info{\author Nobody}}"
        "\n"
        + r"\pard\s1 Frost report\par\pard\s0 The lowest night was \'abminus nineteen\'bb degrees.\par"
        + "\n"
        rf"\pard {{\f1 {escaped}}}.\par {unicode}\par"
        r"\trowd\intbl Day\cell Degrees\cell\row\trowd\intbl Sunday\cell -19\cell\row\pard The end.\par}"
    ).encode("latin-1")


def _html() -> bytes:
    return (
        '<!DOCTYPE html><html><head><meta charset="windows-1251"><title>Теплиця</title>'
        "<style>p{}</style></head>"
        "<body><nav><a href=/>Home page link</a></nav><main><h1>Провітрювання теплиці</h1>"
        "<p>Open the vents at 24&nbsp;&deg;C &amp; close them at dusk."
        "<ul><li>Північна стулка<li>South vent</ul>"
        "<table><tr><th>Hour<th>Position</tr><tr><td>Noon<td>half open</tr></table>"
        "<script>var tracking = 1</script></main><footer>Copyright notice</footer></body></html>"
    ).encode("cp1251")


def _epub() -> bytes:
    return book(
        {
            "one.xhtml": "<h1>Winter</h1><p>Wrap the roses in burlap before the first frost.</p>",
            "two%20b.xhtml".replace(
                "%20", " "
            ): "<h1>Весна</h1><p>Зніміть мішковину, коли зацвіте ліщина.</p>",
        }
    )


def _eml() -> bytes:
    return message(
        "Перенесення зустрічі садівників",
        "The gardeners' meeting moves to Thursday.\n\nBring your own gloves.\n",
        "<p>The gardeners' meeting moves to <b>Thursday</b>.</p>",
        "план ділянки.pdf",
    )


def _mbox() -> bytes:
    first = message("Compost delivery", "Two cubic metres of compost arrive on Monday.\n>From the yard.\n")
    second = message("Оренда культиватора", "Культиватор вільний у суботу після обіду.\n")
    start = b"From olena@example.org Mon Jan  5 10:30:00 2026\n"
    return start + first + b"\n" + start + second


def _ipynb() -> bytes:
    return notebook(
        [
            {
                "cell_type": "markdown",
                "source": ["# Вологість ґрунту\n", "\n", "Readings of the moisture probes."],
            },
            {
                "cell_type": "code",
                "source": "mean_moisture = probes.mean()\nprint(mean_moisture)",
                "outputs": [{"output_type": "stream", "name": "stdout", "text": ["31.5 percent\n"]}],
            },
            {"cell_type": "markdown", "source": "Висновок: поливати двічі на тиждень."},
        ]
    )


@dataclass(frozen=True)
class Sample:
    """A document: its bytes, what is found in it in order, a page and what stands on it (0: no pages).

    `damaged` makes of its bytes a file that gives no text.
    """

    data: Callable[[], bytes]
    needles: tuple[str, ...]
    page: int = 0
    on_page: str = ""
    damaged: Callable[[bytes], bytes] = lambda data: data[: len(data) // 2]


def _sample_file(suffix: str) -> bytes:
    (path,) = (Path(__file__).parents[1] / "samples" / "corpus").rglob(f"*{suffix}")
    return path.read_bytes()


def _made_by_a_program(name: str) -> bytes:
    """A file of a format that nothing here writes: LibreOffice 7.4 did."""
    return (Path(__file__).parent / "legacy" / name).read_bytes()


def _nothing_of_it(_: bytes) -> bytes:
    return b"\x00\x01\x02" * 1000


_WORD = Sample(
    lambda: _sample_file(".docx"),
    (
        "# Правила поводження з даними",
        "| Записи про вхід | пам'ять сервера | сім днів |",
        "- монтажник",
    ),
)
_OLD_WORD = Sample(
    lambda: _made_by_a_program("beekeeping.doc"),
    (
        "# Пасіка на пагорбі\n\nBees winter best in a dry hive, says the manual. See the bee page.",
        "## Підготовка вуликів\n\n- Утепліть дах\n  сухим мохом\n    - не пінопластом\n- Narrow the entrance",
        "| Вулик | Frames |\n| --- | --- |\n| Blue hive by the fence | дев'ять |",
        "The end of the season.",
        "Measured in February.",
        "Check the scales first.",
    ),
)
_SHEETS = Sample(
    _xlsx,
    (
        "# Summary\n\nGarden budget",
        "# Costs 2026\n\nAll costs",
        "|  | Expense | Amount | Paid on |",
        "| 4 | Greenhouse glass panes | 125.5 | 2026-01-05 |",
        "| 5 | Насіння томатів | 0.1 | 2026-01-06 12:00:00 |",
    ),
    2,
    "Greenhouse glass panes",
)
_SLIDES = Sample(
    _pptx,
    (
        "# The orchard plan\n\nSpring meeting",
        "# Обрізка дерев",
        "- Яблуні обрізають у березні\n    - Лише",
        "Notes: Remind everybody to disinfect",
        "# Slide 3",
        "| July | 40 kg of cherries |",
    ),
    2,
    "disinfect the secateurs",
)
_PAGE = Sample(
    _html,
    (
        "# Провітрювання теплиці",
        "Open the vents at 24 °C & close",
        "- Північна стулка\n- South vent",
        "| Hour | Position |\n| --- | --- |\n| Noon | half open |",
    ),
    damaged=_nothing_of_it,
)

SAMPLES: dict[str, Sample] = {
    ".pdf": Sample(
        lambda: _sample_file(".pdf"),
        (
            "Verbena field manual",
            "Press the earth around the probe",
            "Жовтий вогник означає",
            "the silence is ours.",
        ),
        2,
        "Mount the gateway above head height",
    ),
    ".docx": _WORD,
    ".docm": _WORD,
    ".doc": _OLD_WORD,
    ".pptx": _SLIDES,
    ".pptm": _SLIDES,
    ".xlsx": _SHEETS,
    ".xlsm": _SHEETS,
    ".ppt": Sample(
        lambda: gzip.decompress(_made_by_a_program("apiary.ppt.gz")),
        (
            "# Весна на пасіці\n\nОглянути рамки до обльоту",
            "Feed only below ten degrees",
            "Notes: Bring the smoker to the meeting.",
            "# Harvest by hive",
            "Липовий мед відкачують у липні, a week after the bloom.",
        ),
        2,
        "a week after",
    ),
    ".xls": Sample(
        lambda: _made_by_a_program("costs.xls"),
        (
            "# Огляд\n\nApiary budget",
            "|  | Видаток | Amount | Paid on | Done |",
            "| 3 | Вощина для рамок | 125.5 | 2026-01-05 |",
            "| 4 | Honey jars | 251 |",
        ),
        2,
        "Вощина для рамок",
    ),
    ".odt": Sample(
        _odt,
        (
            "# Інвентар сараю",
            "Keep the scythe away from children.",
            "> It was sharpened in May.",
            "- Сокира",
            "| Tool | Shelf |",
            "| Pitchfork | third on the left |",
        ),
    ),
    ".ods": Sample(
        _ods,
        (
            "# Вулики",
            "|  | Hive | Queen | 2026-05-01 |",
            "| 4 | Blue hive under the linden | Матка 2024 року |",
        ),
        1,
        "under the linden",
    ),
    ".odp": Sample(
        _odp,
        (
            "# Irrigation",
            "Drip lines save a third",
            "# Полив",
            "Поливайте на світанку",
            "Notes: Show the valve",
        ),
        2,
        "Поливайте на світанку",
    ),
    ".rtf": Sample(
        _rtf,
        (
            "# Frost report",
            "was «minus nineteen» degrees",
            "Перевірте глибину промерзання ґрунту.",
            "Мороз",
            "| Day | Degrees |",
            "| Sunday | -19 |",
            "The end.",
        ),
        damaged=lambda data: data[10:],
    ),
    ".epub": Sample(
        _epub,
        (
            "# Книга садівника\n\nAda Gardener",
            "# Winter",
            "Wrap the roses in burlap",
            "# Весна",
            "зацвіте ліщина",
        ),
        2,
        "Зніміть мішковину",
    ),
    ".html": _PAGE,
    ".htm": _PAGE,
    ".xhtml": _PAGE,
    ".eml": Sample(
        _eml,
        (
            "# Перенесення зустрічі садівників",
            "From: Олена Коваль <olena@example.org>\nTo: team@example.org",
            "Date: Mon, 05 Jan 2026 10:30:00 +0200",
            "meeting moves to Thursday",
            "Attachments: план ділянки.pdf",
        ),
        damaged=lambda data: b"no header at all\n" * 50,
    ),
    ".mbox": Sample(
        _mbox,
        (
            "# Compost delivery",
            "Two cubic metres of compost",
            "From the yard",
            "# Оренда культиватора",
            "у суботу",
        ),
        2,
        "Культиватор вільний у суботу",
        damaged=lambda data: data[40:],
    ),
    ".ipynb": Sample(
        _ipynb,
        (
            "# Вологість ґрунту\n\nReadings of the",
            "```python\nmean_moisture = probes.mean()",
            "```\n31.5 percent\n```",
            "Висновок: поливати двічі",
        ),
        3,
        "поливати двічі на тиждень",
    ),
}
"""A sample of every format by its suffix."""


@dataclass(frozen=True)
class TextSample:
    """A file that is text itself: the text, a line that is looked for, and what stands above it."""

    text: str
    line: str
    heading: str = ""


TEXTS: dict[str, TextSample] = {
    ".md": TextSample(
        "# Кузня\n\n## Ковадло\n\nThe anvil weighs ninety kilograms.\n", "The anvil weighs ninety kilograms."
    ),
    ".csv": TextSample(
        "plant,sown,bed\n"
        + "".join(f"herb {n},2026-03-{n:02},{n}\n" for n in range(1, 29))
        + "Базилік фіолетовий,2026-04-01,31\n",
        "Базилік фіолетовий,2026-04-01,31",
        "plant, sown, bed",
    ),
    ".tsv": TextSample(
        "pest\tcure\nspider mite\tsoap water\nПопелиця\tзола\n", "Попелиця\tзола", "pest, cure"
    ),
    ".jsonl": TextSample(
        "".join(f'{{"event": "door {n} closed"}}\n' for n in range(40))
        + '{"event": "Хвіртка біля криниці"}\n',
        '{"event": "Хвіртка біля криниці"}',
    ),
    ".log": TextSample(
        "".join(f"2026-01-05 10:{n:02}:00 INFO pump {n} started\n" for n in range(40))
        + "2026-01-05 11:00:00 ERROR насос захлинувся\nTraceback (most recent call last):\n  pressure\n",
        "2026-01-05 11:00:00 ERROR насос захлинувся",
    ),
    ".srt": TextSample(
        "".join(f"{n}\n00:{n:02}:00,000 --> 00:{n:02}:04,000\nThen dig row {n}.\n\n" for n in range(1, 40))
        + "40\n00:45:10,500 --> 00:45:14,000\nЛопату не залишайте під дощем.\n",
        "Лопату не залишайте під дощем.",
    ),
    ".vtt": TextSample(
        "WEBVTT\n\n00:01.000 --> 00:04.000\nGrafting wax melts at sixty degrees.\n",
        "Grafting wax melts at sixty degrees.",
        "00:01",
    ),
    ".tex": TextSample(
        "\\section{Soil}\n\\subsection{Lime}\nDolomite lime sweetens a sour bed.\n",
        "Dolomite lime sweetens a sour bed.",
        "Soil > Lime",
    ),
    ".rst": TextSample(
        "Cellar\n======\n\nApples\n------\n\nКожне яблуко загорніть у папір.\n",
        "Кожне яблуко загорніть у папір.",
        "Cellar > Apples",
    ),
    ".org": TextSample(
        "* Bees\n** TODO Swarm\n:PROPERTIES:\n:ID: 1\n:END:\nHang the skep before the swarm leaves.\n",
        "Hang the skep before the swarm leaves.",
        "Bees > TODO Swarm",
    ),
    ".adoc": TextSample(
        "= Fence\n\n== Posts\n\nChar the larch posts.\n", "Char the larch posts.", "Fence > Posts"
    ),
}
"""A sample of every format of text whose structure counts, by suffix."""
