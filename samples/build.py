"""Write the two binary samples, a PDF and a Word document, from the text below.

`python samples/build.py` writes them, with the same bytes every time; `--check` exits with 1 where a
committed file differs. Only the standard library is used.
"""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parent / "corpus" / "documents"

MANUAL = [
    """
    # Verbena field manual
    For installers. Read it before you drive, not in the mud.

    # 1. Before you leave
    Charge the gateway for at least two hours. Check that the SIM card is active:
    hold the button for five seconds, and the lamp must turn from red to green.
    Take twice as many cable ties as you think you need, and a ladder that reaches
    the ridge of the roof.

    # 2. Where to put the sensors
    Air temperature is measured in the shade, at the height of the plants, at least
    one metre from any heating pipe. A sensor in direct sunlight shows up to nine
    degrees too much and will open the vents for nothing.
    Soil probes go in at an angle, ten centimetres deep, between two plants and not
    under the dripper. Press the earth around the probe: an air gap reads as drought.
    """,
    """
    # 3. Connecting the gateway
    Mount the gateway above head height, antenna upright, away from the motor of the
    vents. The port is 7443. If the lamp blinks yellow, the gateway has no network
    and keeps up to two days of readings until the line is back.
    Never restart several gateways at once. They would all call the server in the
    same second, and it would turn them away.

    # 4. Calibration
    Put all humidity sensors in one sealed bag with a wet cloth for an hour. They
    should agree within three per cent. Write the difference on the label.
    Repeat every spring, and whenever a grower says that the numbers look wrong.
    """,
    """
    # 5. Пам'ятка для господаря теплиці
    Жовтий вогник означає, що немає мережі. Нічого не вимикайте: коробка пам'ятає
    покази дві доби й надішле їх сама, щойно з'явиться зв'язок.
    Червоний вогник означає, що сідає батарея. Замініть її протягом тижня.
    Не мийте датчики під струменем води. Протирайте м'якою вологою ганчіркою раз
    на місяць, бо пил на датчику світла краде до третини значення.
    Якщо стулки даху відчиняються вночі без причини, найперше гляньте, чи не
    впав датчик температури на трубу опалення.

    # 6. Whom to call
    The installer on duty: extension 12, from seven to nineteen. At night the person
    on call watches the whole system and will ring you, if the silence is ours.
    """,
]

_CYRILLIC = "АБВГҐДЕЄЖЗИІЇЙКЛМНОПРСТУФХЦЧШЩЬЮЯабвгґдеєжзиіїйклмнопрстуфхцчшщьюя"
_CODES = {letter: 128 + index for index, letter in enumerate(_CYRILLIC)}
_FONT = Path(__file__).parent / "DejaVuSans-subset.ttf"
# Thousandths of an em, of the characters from 32 to 126 and of `_CYRILLIC`.
_WIDTHS = """
    318 401 460 838 636 950 780 275 390 390 500 838 318 361 318 337 636 636 636 636 636 636 636 636 636
    636 337 337 838 838 838 531 1000 684 686 698 770 632 575 775 752 295 295 656 557 863 748 787 603 787
    695 635 611 732 684 989 685 611 685 390 337 390 838 500 500 613 635 550 635 615 352 635 634 278 278
    579 278 974 634 612 635 635 411 521 392 634 592 818 592 592 525 636 337 636 838
"""
_CYRILLIC_WIDTHS = """
    684 686 686 610 610 781 632 698 1077 641 748 295 295 748 710 752 863 752 787 752 603 698 611 609 861
    685 776 686 1069 1094 686 1080 695 613 617 589 525 525 691 615 549 901 532 650 278 278 650 604 639
    754 654 612 654 635 550 583 592 855 592 681 591 915 942 589 842 602
"""


def _glyph(letter: str) -> bytes:
    return b"/uni%04X" % ord(letter)


def _stream(data: bytes, more: bytes = b"") -> bytes:
    """Not deflated: the bytes then depend on no version of zlib."""
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(data), more, data)


def _font(descriptor: int, unicode_map: int) -> bytes:
    """The font, with the Cyrillic letters in the upper half of its code page."""
    widths = " ".join([*_WIDTHS.split(), "0", *_CYRILLIC_WIDTHS.split()]).encode("ascii")
    return (
        b"<</Type/Font/Subtype/TrueType/BaseFont/SAMPLE+DejaVuSans/FirstChar 32/LastChar %d/Widths[%s]"
        b"/FontDescriptor %d 0 R/ToUnicode %d 0 R"
        b"/Encoding<</Type/Encoding/BaseEncoding/WinAnsiEncoding/Differences[128%s]>>>>"
    ) % (127 + len(_CODES), widths, descriptor, unicode_map, b"".join(map(_glyph, _CYRILLIC)))


def _descriptor(font_file: int) -> bytes:
    return (
        b"<</Type/FontDescriptor/FontName/SAMPLE+DejaVuSans/Flags 32/FontBBox[-1021 -463 1793 1232]"
        b"/ItalicAngle 0/Ascent 928/Descent -236/CapHeight 729/StemV 80/FontFile2 %d 0 R>>" % font_file
    )


def _unicode_map() -> bytes:
    rows = [f"<{code:02x}> <{ord(letter):04x}>" for letter, code in _CODES.items()]
    blocks = [rows[:50], rows[50:]]
    ranges = "\n".join(f"{len(block)} beginbfchar\n" + "\n".join(block) + "\nendbfchar" for block in blocks)
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Verbena def\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"1 beginbfrange <20> <7e> <0020> endbfrange\n{ranges}\nendcmap end end"
    ).encode("ascii")


def _content(page: str) -> bytes:
    """The drawing commands of a page. Lines that begin with `#` are set larger; the text starts top left."""
    commands = [b"BT 16 TL 64 780 Td"]
    for line in (line.strip() for line in page.strip().splitlines()):
        heading = line.startswith("# ")
        codes = bytes(_CODES.get(letter, ord(letter)) for letter in line.removeprefix("# "))
        commands.append(b"/F %d Tf <%s> Tj T*" % (14 if heading else 10, codes.hex().encode("ascii")))
    return b"\n".join([*commands, b"ET"])


def manual() -> bytes:
    """The field manual as a PDF 1.4 file with a cross-reference table."""
    kids = b" ".join(b"%d 0 R" % (7 + 2 * number) for number in range(len(MANUAL)))
    font = _FONT.read_bytes()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(MANUAL), kids),
        _font(4, 5),
        _descriptor(6),
        _stream(_unicode_map()),
        _stream(font, b"/Length1 %d" % len(font)),
    ]
    for number, page in enumerate(MANUAL):
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>"
            b"/Contents %d 0 R>>" % (8 + 2 * number)
        )
        objects.append(_stream(_content(page)))
    out = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    table = b"0000000000 65535 f \n"
    for number, content in enumerate(objects, start=1):
        table += b"%010d 00000 n \n" % len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(out)
    size = len(objects) + 1
    out += b"xref\n0 %d\n%strailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        size,
        table,
        size,
        start,
    )
    return bytes(out)


_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"

POLICY: list[tuple[str, str] | list[list[str]]] = [
    ("1", "Правила поводження з даними"),
    ("a", "Цей документ пояснює, які відомості має Verbena, хто їх бачить і коли вони зникають."),
    ("2", "Що ми маємо"),
    [
        ["Відомості", "Де лежать", "Скільки"],
        ["Покази датчиків", "журнал", "безстроково"],
        ["Ім'я і телефон садівника", "окрема довідкова база", "до розірвання договору"],
        ["Записи про вхід", "пам'ять сервера", "сім днів"],
        ["Листування з підтримкою", "поштова скринька", "два роки"],
    ],
    ("2", "Хто має доступ"),
    ("a", "Доступ дається на дванадцять годин і завжди з причиною:"),
    ("-", "черговий інженер бачить покази всіх теплиць, але не бачить імен;"),
    ("-", "підтримка бачить ім'я і телефон того, хто звернувся;"),
    ("-", "монтажник бачить лише ті теплиці, де він працює цього тижня."),
    ("2", "Якщо людина просить стерти її відомості"),
    (
        "a",
        "Ми прибираємо рядок із довідкової бази протягом тридцяти днів. Покази лишаються, проте відтепер "
        "вони нічиї: у журналі немає нічого, крім умовного номера, і пов'язати його з людиною вже неможливо.",
    ),
    ("2", "Якщо стався витік"),
    (
        "a",
        "Повідомляємо постраждалих протягом трьох діб простими словами: що саме потрапило назовні "
        "й що робити.",
    ),
]


def _paragraph(style: str, text: str) -> str:
    properties = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>' if style == "-" else ""
    properties = f'<w:pStyle w:val="{style}"/>' if style in "12" else properties
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def _table(rows: list[list[str]]) -> str:
    cell = '<w:tc><w:tcPr><w:tcW w:w="3000" w:type="dxa"/></w:tcPr>{}</w:tc>'
    grid = "<w:tblGrid>" + '<w:gridCol w:w="3000"/>' * len(rows[0]) + "</w:tblGrid>"
    lines = ("".join(cell.format(_paragraph("a", text)) for text in row) for row in rows)
    properties = '<w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="9000" w:type="dxa"/></w:tblPr>'
    return f"<w:tbl>{properties}{grid}" + "".join(f"<w:tr>{line}</w:tr>" for line in lines) + "</w:tbl>"


def _style(identifier: str, name: str, size: int, outline: str) -> str:
    return (
        f'<w:style w:type="paragraph" w:styleId="{identifier}"><w:name w:val="{name}"/><w:qFormat/>'
        f'<w:pPr>{outline}</w:pPr><w:rPr><w:sz w:val="{size}"/></w:rPr></w:style>'
    )


def policy() -> bytes:
    """The data policy as a Word document."""
    body = "".join(_table(part) if isinstance(part, list) else _paragraph(*part) for part in POLICY)
    borders = "".join(
        f'<w:{side} w:val="single" w:sz="4"/>' for side in ("top", "bottom", "insideH", "insideV")
    )
    styles = _style("a", "Normal", 22, "")
    for depth, size in ((1, 36), (2, 28)):
        styles += _style(f"{depth}", f"heading {depth}", size, f'<w:outlineLvl w:val="{depth - 1}"/>')
    styles += (
        '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/>'
        f"<w:tblPr><w:tblBorders>{borders}</w:tblBorders></w:tblPr></w:style>"
    )
    level = '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/></w:lvl>'
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{level}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    overrides = (("document", "document.main"), ("styles", "styles"), ("numbering", "numbering"))
    types = "".join(
        f'<Override PartName="/word/{part}.xml" ContentType="{_TYPE}.{kind}+xml"/>'
        for part, kind in overrides
    )
    defaults = (
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    )
    return _zip(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{defaults}{types}</Types>',
            "_rels/.rels": _relations({"officeDocument": "word/document.xml"}),
            "word/_rels/document.xml.rels": _relations(
                {"styles": "styles.xml", "numbering": "numbering.xml"}
            ),
            "word/document.xml": f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>',
            "word/styles.xml": f'<w:styles xmlns:w="{_W}">{styles}</w:styles>',
            "word/numbering.xml": f'<w:numbering xmlns:w="{_W}">{numbering}</w:numbering>',
        }
    )


def _relations(targets: dict[str, str]) -> str:
    rows = "".join(
        f'<Relationship Id="r{index}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for index, (kind, target) in enumerate(targets.items())
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{rows}</Relationships>'


def _zip(parts: dict[str, str]) -> bytes:
    """A zip of stored members, all of one date."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name, xml in parts.items():
            entry = zipfile.ZipInfo(name, (2025, 1, 1, 0, 0, 0))
            entry.create_system = 3
            package.writestr(entry, '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>' + xml)
    return buffer.getvalue()


def main(arguments: list[str]) -> int:
    """Write or check the samples; the exit status."""
    status = 0
    for name, make in (("field-manual.pdf", manual), ("правила-даних.docx", policy)):
        path = FOLDER / name
        if arguments != ["--check"]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(make())
        elif not path.is_file() or path.read_bytes() != make():
            sys.stderr.write(f"{path}: not what samples/build.py writes\n")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
