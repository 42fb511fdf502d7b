"""Bytes to text."""

from __future__ import annotations

import codecs
import random
import zlib

import pytest

from semantic_search.encodings import Decoded, decode, is_binary

CODE_PAGES = ("cp1251", "koi8-u", "koi8-r", "cp866", "iso8859-5", "mac-cyrillic")


def in_every_page(*texts: str) -> list[tuple[str, str]]:
    pairs = []
    for text in texts:
        for page in CODE_PAGES:
            try:
                text.encode(page)
            except UnicodeEncodeError:
                continue
            pairs.append((text, page))
    return pairs


@pytest.mark.parametrize(
    ("text", "page"),
    in_every_page(
        "Привет",
        "привет",
        "ПРИВЕТ",
        "Привіт",
        "Сохраняем файлы в хранилище",
        "хранилище",
        "Сохраняем файлы в хранилище, а затем ищем их по смыслу запроса.",
        "# Ошибка при чтении\ndef f(x):\n    return x\n",
        "/* обработка ошибок */ int main(void) { return 0; }",
        "// TODO: перевірити з'єднання\nconst x = await fetch(url);",
        "Їжак та ґанок, є питання",
        "Об'єкт зберігає стан під'їзду",
        "«Что делать?» — спросил он; цена 5 рублей.",
        "ВНИМАНИЕ! НЕ УДАЛЯТЬ ЭТОТ ФАЙЛ",
        "Щоденник\nРозділ перший\nЯк усе почалося\n",
        "Дата;Сумма;Назначение\n2020-01-01;100;Оплата услуг связи\n",
    ),
)
def test_encoding_02_03_04_cyrillic_code_pages(text: str, page: str) -> None:
    decoded = decode(text.encode(page))
    assert decoded is not None
    assert (decoded.text, decoded.replaced) == (text, 0)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Voilà un café très élégant, où êtes-vous né ?", "cp1252"),
        ("à", "cp1252"),
        ("Grüße aus München, schöne Straße", "cp1252"),
        ("x = “quoted” — naïve", "cp1252"),
        ("El niño comió piña en la montaña", "cp1252"),
        ("Zażółć gęślą jaźń, proszę bardzo, dziękuję za wszystko", "cp1250"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy, a ještě další věta", "cp1250"),
        ("日本語のテキストです。これは試験です。", "cp932"),
        ("日本語のテキストです。これは試験です。", "euc_jp"),
        ("这是一个中文文本，用于测试编码检测。", "gb18030"),
        ("한국어 텍스트입니다. 시험용입니다.", "cp949"),
        ("Καλημέρα κόσμε, αυτό είναι ένα κείμενο", "cp1253"),
    ],
)
def test_other_encodings_are_not_taken_for_cyrillic(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded is not None
    assert decoded.text == text


@pytest.mark.parametrize(
    "text", ["", "plain", "Їжак та ґанок", "😀 e\u0301 日本語", "\ufeffinside", "a\x1b[31mred\x1b[0m\n"]
)
@pytest.mark.parametrize(
    ("bom", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_unicode_with_and_without_bom(text: str, bom: bytes, encoding: str) -> None:
    if not bom:
        text = text.removeprefix("\ufeff")
    data = bom + text.encode(encoding)
    assert not is_binary(data)
    assert decode(data) == Decoded(text, encoding, 0)


def test_encoding_06_one_line_in_another_encoding() -> None:
    before, after = "Перший рядок у UTF-8\n", "\nТретій рядок теж\n"
    odd = "Второй строкой cp1251"
    decoded = decode(before.encode() + odd.encode("cp1251") + after.encode())
    assert decoded is not None
    assert decoded.encoding == "utf-8"
    assert decoded.text.startswith(before)
    assert decoded.text.endswith(after)
    assert decoded.text.split("\n")[2] == "Третій рядок теж"
    assert (
        decoded.replaced == sum(byte > 127 for byte in odd.encode("cp1251")) == decoded.text.count("\ufffd")
    )


def test_encoding_06_a_character_cut_at_the_end() -> None:
    assert decode("Це текст, обрізаний посеред літер".encode()[:-1]) == Decoded(
        "Це текст, обрізаний посеред літе\ufffd", "utf-8", 1
    )


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-32-be"])
def test_encoding_08_lone_surrogates_become_replacement_characters(encoding: str) -> None:
    bom = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-32-be": codecs.BOM_UTF32_BE}[encoding]
    data = bom + 'some {"key": "\ud800"} and text'.encode(encoding, "surrogatepass")
    assert decode(data) == Decoded('some {"key": "\ufffd"} and text', encoding, 1)


def test_encoding_08_surrogates_written_as_utf8() -> None:
    data = 'ключ {"key": "\ud800"}'.encode("utf-8", "surrogatepass")
    assert decode(data) == Decoded('ключ {"key": "\ufffd\ufffd\ufffd"}', "utf-8", 3)


def test_utf16_cut_in_the_middle_of_a_unit() -> None:
    assert decode(codecs.BOM_UTF16_LE + "текст".encode("utf-16-le")[:-1]) == Decoded(
        "текс\ufffd", "utf-16-le", 1
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1251"])
def test_lines_04_every_line_end_becomes_a_newline(encoding: str) -> None:
    decoded = decode("один\rдва\r\nтри\n\r\nстрока четыре\r\r\n".encode(encoding))
    assert decoded is not None
    assert decoded.text == "один\nдва\nтри\n\nстрока четыре\n\n"


def test_lines_01_other_separators_stay() -> None:
    text = "def a():\n\f\ndef b():\n    TARGET\u2028x\x0b\x1c\x85\u2029\n"
    assert decode(text.encode()) == Decoded(text, "utf-8", 0)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1251", "cp866"])
def test_a_large_file_is_decoded_whole(encoding: str) -> None:
    text = "Обычная строка текста\n" * 20_000
    decoded = decode(text.encode(encoding))
    assert decoded is not None
    assert decoded.text == text


def test_cyrillic_far_from_the_start() -> None:
    text = "int x = 0; // nothing\n" * 5_000 + "// проверка границ массива\n"
    decoded = decode(text.encode("cp1251"))
    assert decoded is not None
    assert decoded.text == text


def test_nul_bytes_say_binary_in_the_first_4_kilobytes_only() -> None:
    assert is_binary(b"MZ\0\0")
    assert decode(b"text\0text") is None
    assert not is_binary(b"x" * 4096 + b"\0")
    assert decode(b"x" * 4096 + b"\0y") == Decoded("x" * 4096 + "\ufffdy", "utf-8", 1)


@pytest.mark.parametrize("size", [60, 100, 1000, 100_000])
def test_random_bytes_are_no_text(size: int) -> None:
    source = random.Random(size)
    for _ in range(20):
        assert decode(bytes(source.randrange(1, 256) for _ in range(size))) is None


def test_compressed_and_control_data_is_no_text() -> None:
    packed = zlib.compress(random.Random(1).randbytes(5000)).replace(b"\0", b"")
    assert decode(packed) is None
    assert decode(bytes(range(1, 9)) * 100) is None
    assert decode(codecs.BOM_UTF16_LE + bytes([1, 0, 2, 0, 0, 0xD8]) * 100) is None
