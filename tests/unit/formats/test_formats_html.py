from __future__ import annotations

import pytest

from semantic_search.formats import Extracted, Refused, html, is_document
from semantic_search.types import Skip


def text_of(markup: str | bytes) -> str:
    outcome = html.extract(markup if isinstance(markup, bytes) else markup.encode())
    assert isinstance(outcome, Extracted), outcome
    assert outcome.notes == ()
    return outcome.text


def test_what_leads_elsewhere_is_left_out() -> None:
    page = (
        "<nav>Home</nav><div role=navigation>Menu</div><p hidden>secret</p><p aria-hidden=true>icon</p>"
        "<script>code()</script><style>p{}</style><noscript>enable</noscript><template>later</template>"
        "<aside>Related</aside><footer>Imprint</footer><svg><text>logo</text></svg><p>Text</p>"
    )
    assert text_of(page) == "Text"


def test_of_a_page_with_a_main_part_that_part() -> None:
    assert text_of("<div>Banner</div><main><p>A long enough main part</p></main><div>More</div>") == (
        "A long enough main part"
    )
    assert text_of("<div>Banner</div><article><header>By Ada</header>Text</article>") == "By Ada\n\nText"


def test_a_main_part_with_next_to_nothing_in_it_is_not_believed() -> None:
    assert "words" in text_of("<main>x</main><p>" + "many words " * 20)


def test_several_articles_are_all_read() -> None:
    assert text_of("<article>One</article><article>Two</article>") == "One\n\nTwo"


def test_the_title_stands_above_a_text_without_headings() -> None:
    assert text_of("<title>A &amp;\n B</title><p>Text") == "# A & B\n\nText"
    assert text_of("<title>Site</title><h2>Own</h2><p>Text") == "## Own\n\nText"


def test_inline_marks_part_no_words_and_blocks_do() -> None:
    assert text_of("<p>ab<b>cd</b> <i>e</i>f<br>g</p>h<div>i</div>j") == "abcd ef\ng\n\nh\n\ni\n\nj"


def test_lists_nest_and_are_numbered() -> None:
    page = "<ol><li>a<ul><li>b<li><p>c</p><p>d</p></ul><li>e</ol>"
    assert text_of(page) == "1. a\n    - b\n    - c\n\nd\n\n2. e"


def test_code_keeps_its_lines_and_its_fence_holds() -> None:
    assert text_of("<pre><div>a</div><div>  b</div></pre>") == "```\na\n  b\n```"
    assert text_of("<pre>```\nx\n```</pre>") == "````\n```\nx\n```\n````"


def test_a_paragraph_that_looks_like_a_heading_is_none() -> None:
    assert text_of("<p># no heading") == "\\# no heading"


def test_tables_are_rows_and_layout_is_not() -> None:
    data = "<table><tr><th>A<th>B<tr><td>1<td>x|y<br>z<tr><td>2</table>"
    assert text_of(data) == "| A | B |\n| --- | --- |\n| 1 | x\\|y z |\n| 2 |  |"
    placed = "<table><tr><td><h1>Head</h1><p>a</p><p>b</p><p>c</p><td>side<tr><td>x<td>y</table>"
    assert text_of(placed).startswith("# Head\n\na\n\nb")
    assert text_of("<table><tr><td>One<tr><td>Two</table>") == "One\n\nTwo"


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        ("windows-1251", "cp1251"),
        ("koi8-r", "koi8-r"),
        ("iso-8859-5", "iso8859-5"),
        ("utf-8", "utf-8"),
        ("windows-1251", "utf-8"),  # converted, and the declaration forgotten
        ("nonsense", "cp1251"),
        ("rot13", "utf-8"),
    ],
)
def test_the_declared_encoding(name: str, codec: str) -> None:
    text = "Съешь ещё этих мягких французских булок, да выпей чаю"
    for head in (
        f'<meta charset="{name}">',
        f"<META http-equiv=Content-Type content='text/html; charset={name}'>",
    ):
        assert text_of(f"{head}<p>{text}".encode(codec)) == text


def test_what_is_no_text_is_refused() -> None:
    outcome = html.extract(bytes(range(256)) * 20)
    assert isinstance(outcome, Refused) and outcome.reason is Skip.UNDECODABLE
    outcome = html.extract(b"<html><script>render()</script><div id=app></div>")
    assert isinstance(outcome, Refused) and outcome.reason is Skip.NO_TEXT


def test_too_much_text_is_cut_with_a_note() -> None:
    outcome = html.extract(b"<p>word</p>" * 1000, max_characters=400)
    assert isinstance(outcome, Extracted)
    assert len(outcome.text) < 1000 and len(outcome.notes) == 1


@pytest.mark.parametrize(
    "source",
    [
        "{% extends 'base.html' %}<p>x",
        "<p>{{ user.name }}</p>",
        "<?php echo 1 ?><p>x",
        "<p><%= title %></p>",
        "<div v-if='open'>x</div>",
        "<div *ngFor='let a of b'>x</div>",
        "<button hx-get='/x'>x</button>",
    ],
)
def test_templates_are_source(source: str) -> None:
    assert not is_document(".html", source.encode())


@pytest.mark.parametrize(
    "page",
    [
        "<p>Plain</p>",
        "<p>Write <code>{{ name }}</code> in <pre>{% block %}</pre>",
        "<script>var a = {{}}</script><p>x",
        "<!-- {{ x }} --><p>x",
        "<p>x</p>" * 10_000 + "{{",
    ],
)
def test_pages_that_show_code_are_pages(page: str) -> None:
    assert is_document(".html", page.encode())
