from __future__ import annotations

import re

import pytest

from semantic_search.chunking import Budget, chunk_document
from semantic_search.types import Chunk, Document, SourceFile


def _chunks(text: str, language: str = "markdown", budget: Budget | None = None) -> list[Chunk]:
    document = Document(SourceFile("/folder", "file", 0, 0, 0, 0), "", text, language)
    starts = [match.start() for match in re.finditer(r"\w+|\S", text)]
    return chunk_document(document, starts, budget or Budget())


def _body(count: int = 60, word: str = "text") -> str:
    return " ".join([word] * count)


def _headings(text: str, language: str = "markdown") -> list[str]:
    return [chunk.heading for chunk in _chunks(text, language)]


def test_sections_carry_their_trail() -> None:
    text = f"# A\n\n{_body()}\n\n## B\n\n{_body()}\n\n### C\n\n{_body()}\n\n## D\n\n{_body()}\n"
    text += f"\n# E\n\n{_body()}\n"
    assert _headings(text) == ["A", "A > B", "A > B > C", "A > D", "E"]
    assert [chunk.first_line for chunk in _chunks(text)] == [1, 5, 9, 13, 17]


def test_what_the_model_sees_starts_with_the_trail() -> None:
    chunk = _chunks(f"# A\n\n{_body()}\n\n## B\n\n{_body()}\n")[1]
    assert chunk.embedded_text == f"A > B\n## B\n\n{_body()}"


def test_setext_headings() -> None:
    text = f"Title\n=====\n\n{_body()}\n\nPart\n----\n\n{_body()}\n"
    assert _headings(text) == ["Title", "Title > Part"]
    assert _chunks(text)[1].text.startswith("Part\n----")


def test_marks_that_are_no_headings() -> None:
    text = f"# A\n\n{_body()}\n\n---\n\n{_body()}\n\n- item\n---\n\n#tag {_body()}\n\n####### seven\n"
    assert set(_headings(text)) == {"A"}


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_headings_inside_fences_are_code(fence: str) -> None:
    text = f"# A\n\n{_body()}\n\n{fence}sh\n# not a heading\nmore\n{fence}\n\n{_body()}\n\n# B\n\n{_body()}\n"
    assert _headings(text) == ["A", "B"]


def test_a_fence_ends_only_at_its_own_mark() -> None:
    text = f"# A\n\n````\n```\n# no\n```\n# no\n````\n\n{_body()}\n\n# B\n\n{_body()}\n"
    assert _headings(text) == ["A", "B"]


def test_an_open_fence_runs_to_the_end() -> None:
    assert set(_headings(f"# A\n\n{_body()}\n\n```\n# no\n{_body()}\n")) == {"A"}


def test_headings_lose_their_markup() -> None:
    assert _headings(f"## The `run()` *method* [link](http://x) {{#anchor}} ##\n\n{_body()}\n") == [
        "The run() method link"
    ]


def test_a_bare_heading_goes_with_its_first_subsection() -> None:
    text = f"# A\n\n## B\n\n{_body()}\n\n## C\n\n{_body()}\n"
    chunks = _chunks(text)
    assert [(chunk.heading, chunk.first_line) for chunk in chunks] == [("A > B", 1), ("A > C", 7)]


def test_small_siblings_are_merged_and_keep_what_they_share() -> None:
    text = f"# A\n\n{_body()}\n\n## B\n\n{_body(20)}\n\n## C\n\n{_body(20)}\n\n# Z\n\n{_body()}\n"
    chunks = _chunks(text)
    assert [chunk.heading for chunk in chunks] == ["A", "Z"]
    assert "## C" in chunks[0].text


def test_front_matter_is_not_a_heading() -> None:
    text = f"---\ntitle: x\n---\n\n# A\n\n{_body()}\n"
    chunks = _chunks(text)
    assert [chunk.heading for chunk in chunks] == ["x > A"]
    assert chunks[0].text.startswith("---\ntitle")


def test_a_title_that_is_the_first_heading_too_stands_there_once() -> None:
    assert _headings(f"---\ntitle: A\n---\n\n# A\n\n{_body()}\n\n## B\n\n{_body()}\n") == ["A", "A > B"]


def test_code_and_tables_stay_whole_where_they_fit() -> None:
    code = "```py\n" + "\n\n".join(f"call_{number} ( a , b )" for number in range(30)) + "\n```"
    table = "\n".join(f"| row | {number} | cell |" for number in range(40))
    for block in (code, table):
        text = f"# A\n\n{_body(100)}\n\n{block}\n\n{_body(150)}\n"
        assert sum(block in chunk.text for chunk in _chunks(text)) == 1


def test_a_table_over_the_limit_is_cut_between_rows() -> None:
    text = "# A\n\n" + "\n".join(f"| row | {number} | cell |" for number in range(200)) + "\n"
    chunks = _chunks(text, budget=Budget(100, 0, 150))
    assert all(line.startswith("| row") for chunk in chunks[1:] for line in chunk.text.split("\n"))


def test_lists_are_cut_between_items() -> None:
    text = "".join(f"- item {number} {_body(20)}\n  {_body(20, 'more')}\n" for number in range(30))
    chunks = _chunks(text, budget=Budget(200, 0, 300))
    assert len(chunks) > 3
    assert all(chunk.text.startswith("- item") for chunk in chunks)


def test_long_sections_overlap_and_sections_do_not() -> None:
    text = f"# A\n\n{_body(500)}\n\n# B\n\n{_body(500)}\n"
    chunks = _chunks(text)
    last_of_a = max(i for i, chunk in enumerate(chunks) if chunk.heading == "A")
    assert chunks[1].start < chunks[0].end
    assert chunks[last_of_a + 1].start >= chunks[last_of_a].end


def test_a_long_trail_is_shortened_from_outside() -> None:
    text = "".join(f"{'#' * level} {_body(12, f'level{level}')}\n\n" for level in range(1, 7)) + _body()
    [chunk] = _chunks(text, budget=Budget(target=300))
    assert chunk.heading.endswith("level6")
    assert len(chunk.heading) <= 200


@pytest.mark.parametrize(
    ("language", "text", "trails"),
    [
        ("docx", "# A\n\n{}\n\n## B\n\n{}\n", ["A", "A > B"]),
        ("rst", "===\n A\n===\n\n{}\n\nB\n===\n\n{}\n\nC\n---\n\n{}\n", ["A", "A > B", "A > B > C"]),
        ("asciidoc", "= A\n\n{}\n\n----\n= no\n----\n\n== B\n\n{}\n", ["A", "A > B"]),
        ("org", "* A\n{}\n#+BEGIN_SRC sh\n* no\n#+END_SRC\n** B\n{}\n", ["A", "A > B"]),
        (
            "latex",
            r"\section{A}|{}|\begin{verbatim}|\section{no}|\end{verbatim}|\subsection*{B}|{}|".replace(
                "|", "\n"
            ),
            ["A", "A > B"],
        ),
        ("typst", "= A\n{}\n== B\n{}\n", ["A", "A > B"]),
        ("textile", "h1. A\n\n{}\n\nh2. B\n\n{}\n", ["A", "A > B"]),
    ],
)
def test_other_markup(language: str, text: str, trails: list[str]) -> None:
    assert _headings(text.replace("{}", _body()), language) == trails


def test_the_rows_of_a_long_table_carry_its_header() -> None:
    rows = "".join(f"| Town {n} | {n}000 | River {n} |\n" for n in range(100))
    text = f"# A\n\nlead\n\n| City | **Inhabitants** | River |\n|---|--:|---|\n{rows}\n{_body()}\n"
    chunks = _chunks(text)
    assert chunks[0].text.startswith("# A\n\nlead\n\n| City")
    assert {chunk.heading for chunk in chunks[:-1]} == {"A > City, Inhabitants, River"}
    assert all(chunk.text.startswith("| Town") and chunk.text.endswith(" |") for chunk in chunks[1:-1])
    assert (chunks[-1].heading, chunks[-1].text) == ("A", _body())
