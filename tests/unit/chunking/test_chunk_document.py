from __future__ import annotations

import re
from itertools import pairwise

import pytest

from semantic_search.chunking import CHUNKER_VERSION, Budget, chunk_document
from semantic_search.types import Chunk, Document, SourceFile

_TOKEN = re.compile(r"\w+|\S")


def _starts(text: str) -> list[int]:
    return [match.start() for match in _TOKEN.finditer(text)]


def _chunks(
    text: str, language: str, budget: Budget | None = None, pages: tuple[int, ...] = ()
) -> list[Chunk]:
    document = Document(SourceFile("/folder", "file", 0, 0, 0, 0), "", text, language, pages)
    chunks = chunk_document(document, _starts(text), budget or Budget())
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in chunks)
    return chunks


def _words(count: int, word: str = "word") -> str:
    return " ".join(f"{word}{number}" for number in range(count))


def _lines(chunks: list[Chunk]) -> list[tuple[int, int]]:
    return [(chunk.first_line, chunk.last_line) for chunk in chunks]


@pytest.mark.parametrize("language", ["text", "markdown", "python", "json", "pdf"])
@pytest.mark.parametrize("text", ["", " ", "\n\n\t\n"])
def test_no_text_no_chunks(text: str, language: str) -> None:
    assert _chunks(text, language) == []


def test_a_small_text_is_one_chunk_without_the_blanks_around_it() -> None:
    [chunk] = _chunks("\n\n  one two\nthree  \n\n", "text")
    assert (chunk.text, chunk.first_line, chunk.last_line) == ("  one two\nthree", 3, 4)
    assert (chunk.heading, chunk.symbol, chunk.kind, chunk.page) == ("", "", "", None)


def test_one_long_paragraph_gives_as_many_chunks_as_it_needs() -> None:  # content-04
    chunks = _chunks(_words(1200), "text")
    assert len(chunks) == 6
    assert all(len(_starts(chunk.text)) <= 235 for chunk in chunks)
    for one, other in pairwise(chunks):
        assert 0 < len(_starts(other.text[: one.end - other.start])) <= 35


def test_chunks_are_about_equal() -> None:
    sizes = [len(_starts(chunk.text)) for chunk in _chunks(_words(530), "text", Budget(200, 0, 300))]
    assert len(sizes) == 3
    assert min(sizes) > 120


def test_text_between_paragraphs_stays_verbatim() -> None:  # lines-03
    [chunk] = _chunks("para one\n\n\n\n\npara two", "text")
    assert chunk.text == "para one\n\n\n\n\npara two"
    assert _lines(_chunks(f"{_words(150)}\n\n\n\n\n{_words(150)}", "text")) == [(1, 1), (6, 6)]


def test_only_newlines_end_lines() -> None:  # lines-01
    text = "def a():\n\f\ndef b():\n    TARGET\u2028x\x85y\x1cz\n"
    [chunk] = _chunks(text, "text")
    assert (chunk.first_line, chunk.last_line) == (1, 4)


def test_sentences_before_words() -> None:
    text = " ".join(f"{_words(18)} end{number}." for number in range(30))
    chunks = _chunks(text, "text", Budget(100, 0, 150))
    assert all(chunk.text.endswith(".") for chunk in chunks)


@pytest.mark.parametrize(
    "text",
    [
        '{"a":[1,2,{"b":"c"}],' * 350,
        "検索" * 1500,
        "ˇ" * 6000,
        "😀" * 2000,
        "a" * 100_000,
        "x" + " " * 100_000 + "y",
    ],
)
@pytest.mark.parametrize("language", ["json", "text", "markdown", "javascript"])
def test_runs_without_blanks_are_cut_and_covered(text: str, language: str) -> None:  # content-03
    starts = [0] if text[0] in "ˇa" else list(range(0, len(text), 1 if text[0] in "検😀" else 3))
    document = Document(SourceFile("/folder", "file", 0, 0, 0, 0), "", text, language)
    chunks = chunk_document(document, starts, Budget(limit=250))
    assert max(len(chunk.text) for chunk in chunks) <= 2000
    covered = set[int]()
    for chunk in chunks:
        covered.update(range(chunk.start, chunk.end))
    assert all(at in covered or char == " " for at, char in enumerate(text))


def test_literal_special_tokens_are_text() -> None:  # encoding-07
    text = "<|endoftext|> [SEP] [CLS] <s> </s> [MASK]"
    assert [chunk.text for chunk in _chunks(text, "markdown")] == [text]


def test_many_tokens_on_one_character_do_not_stop_the_packer() -> None:
    text = "ab" * 10
    document = Document(SourceFile("/folder", "file", 0, 0, 0, 0), "", text, "text")
    chunks = chunk_document(document, sorted([*range(20)] * 5), Budget(3, 0, 5))
    assert "".join(chunk.text for chunk in chunks) == text


def test_huge_texts_are_cut_in_linear_work() -> None:
    for text in ("word " * 20_000, "x\n" * 20_000, "# h\n" * 10_000, "\n" * 50_000 + "end"):
        for language in ("text", "markdown", "python", "yaml"):
            chunks = _chunks(text, language)
            assert 1 <= len(chunks) < len(_starts(text)) + 1


def test_pages_come_with_their_numbers() -> None:
    first, second = f"{_words(150)}\n\n", f"{_words(150, 'zwei')}\n\n{_words(150, 'drei')}"
    chunks = _chunks(first + second, "pdf", pages=(0, len(first)))
    assert [(chunk.page, chunk.text.split("0")[0]) for chunk in chunks] == [
        (1, "word"),
        (2, "zwei"),
        (2, "drei"),
    ]


def test_configuration_is_cut_at_top_level_keys() -> None:
    text = "".join(
        f"key{number}:\n" + "".join(f"  sub{sub}: {_words(5)}\n" for sub in range(8)) for number in range(9)
    )
    chunks = _chunks(text, "yaml")
    assert len(chunks) > 2
    assert all(chunk.text.startswith("key") for chunk in chunks)


def test_lines_of_data_stay_whole() -> None:
    text = "".join(f"{number},{_words(10)}\n" for number in range(100))
    chunks = _chunks(text, "csv")
    assert "\n".join(chunk.text for chunk in chunks) + "\n" == text


@pytest.mark.parametrize("values", [{"target": 0}, {"limit": 0}, {"overlap": -1}])
def test_a_senseless_budget_is_refused(values: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="budget"):
        Budget(**values)


def test_version_is_a_positive_number() -> None:
    assert CHUNKER_VERSION >= 1


def test_blanks_at_the_end_repeat_nothing() -> None:
    text = "0 0\n" + " " * 700
    assert [chunk.text for chunk in _chunks(text, "markdown", Budget(3, 3, 9))] == ["0 0"]
