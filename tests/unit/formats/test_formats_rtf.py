from __future__ import annotations

import pytest

from semantic_search.formats import Extracted, rtf

TEXT = "Перевірка зв'язку: їжак, ґанок, єнот"


def text_of(body: str | bytes, head: str = r"\ansi\ansicpg1252") -> str:
    inner = body.encode("latin-1") if isinstance(body, str) else body
    outcome = rtf.extract(b"{\\rtf1" + head.encode() + b" " + inner + b"}")
    assert isinstance(outcome, Extracted), outcome
    assert outcome.notes == ()
    return outcome.text


def escaped(text: str, codec: str) -> str:
    return "".join(f"\\'{byte:02x}" for byte in text.encode(codec))


def test_the_code_page_of_a_font_counts_more_than_that_of_the_document() -> None:
    fonts = r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204{\*\falt Sans}Arial CYR;}{\f2\cpg866 Old;}}"
    body = rf"{fonts}\f0 caf\'e9\par{{\f1 {escaped(TEXT, 'cp1251')}}}\par\f2 {escaped('Привет', 'cp866')}\par"
    assert text_of(body) == f"café\n\n{TEXT}\n\nПривет"


@pytest.mark.parametrize("head", [r"\ansi\ansicpg1251", r"\ansi\ansicpg1252", r"\ansi", ""])
def test_cyrillic_comes_out_right_whatever_is_declared(head: str) -> None:
    assert text_of(escaped(TEXT, "cp1251"), head) == TEXT
    assert text_of(TEXT.encode("cp1251"), head) == TEXT


def test_western_text_stays_western() -> None:
    text = "Größe à l'œuvre: señor Ångström"
    assert text_of(escaped(text, "cp1252")) == text


def test_unicode_and_what_stands_in_for_it() -> None:
    assert text_of(r"\u1087?\u1088\'3f\uc0\u1080\uc2\u1074??\u-3913'") == "прив\uf0b7"
    assert text_of(r"\u-10179?\u-8704?") == "😀"
    assert text_of(r"a{\uc0 \u1080}\u1081?b") == "aийb"


def test_multibyte_code_pages() -> None:
    fonts = r"{\fonttbl{\f0\fcharset128 Mincho;}}"
    assert text_of(fonts + r"\f0 " + escaped("検索", "cp932")) == "検索"


def test_what_is_not_shown_is_left_out() -> None:
    body = (
        r"{\colortbl;\red0;}{\info{\title T}}{\header H}{\*\generator G;}{\pict\bin5 }}}}}4a4b}{\v hidden}"
        r"{\field{\*\fldinst HYPERLINK x}{\fldrslt link}} {\*\bkmkstart b}text\-ed"
    )
    assert text_of(body) == "link texted"


def test_headings_lists_and_tables() -> None:
    body = (
        r"{\stylesheet{\s0 Normal;}{\s1 heading 1;}{\s2\outlinelevel1 Own;}}\pard\s1 One\par\pard\s2 Two\par"
        r"\pard {\listtext\'b7\tab}item\par\pard\plain text\line more\par"
        r"\trowd\pard\intbl a\cell b\par c\cell\row\trowd\intbl d\cell e\cell\row\pard after"
    )
    assert text_of(body) == (
        "# One\n\n## Two\n\n- item\n\ntext\nmore\n\n| a | b c |\n| --- | --- |\n| d | e |\n\nafter"
    )


def test_a_document_that_is_cut_short_says_so() -> None:
    outcome = rtf.extract(rb"{\rtf1 {\b bold text")
    assert isinstance(outcome, Extracted)
    assert (outcome.text, outcome.notes) == ("bold text", ("the document ends in the middle",))
