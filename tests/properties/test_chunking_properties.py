from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_search.chunking import Budget, chunk_document
from semantic_search.types import Chunk, Document, SourceFile

_SOURCE = SourceFile("/folder", "file", 0, 0, 0, 0)
_TOKEN = re.compile(r"\w+|\S")

_LINES = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=30),
    st.sampled_from(
        [
            "", "", "# One", "## Two", "### Three", "Title", "=====", "-----", "```", "~~~python", "- item",
            "1. item", "---", "| a | b |", "|---|---|", "def f(x):", "    return x", "class A:",
            "    def m(self):", "        pass", "}", "{", "function f() {", "// note", "# note", "@decorator",
            "\f", "\u2028", "x\x85y\x1cz", "пошук файлів. Знайдено!", "検索", "word " * 40, "a" * 600,
            "😀" * 30, "e\u0301" * 20, "\t\tif x:", "  key: value", '{"a": 1}', "impl A {", "}  // end",
            "00:01:02,000 --> 00:01:03,000", "2026-01-02 ERROR x", 'a,"b', " " * 700, "<|endoftext|> [SEP]",
        ]
    ),
)  # fmt: skip
_TEXTS = st.lists(_LINES, max_size=60).map("\n".join)
_LANGUAGES = st.sampled_from(
    [
        "markdown",
        "rst",
        "org",
        "python",
        "javascript",
        "rust",
        "go",
        "c",
        "ruby",
        "haskell",
        "json",
        "csv",
        "json-lines",
        "log",
        "subtitles",
        "pdf",
        "pptx",
        "text",
        "css",
    ]
)
_BUDGETS = st.builds(Budget, target=st.integers(1, 60), overlap=st.integers(0, 40), limit=st.integers(4, 90))


@pytest.fixture(scope="module", autouse=True)
def _grammar_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    cache = tmp_path_factory.mktemp("grammars")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(cache))
        yield cache


def _token_starts(text: str) -> list[int]:
    return [match.start() for match in _TOKEN.finditer(text)]


@settings(deadline=None, max_examples=400)
@given(_TEXTS, _LANGUAGES, _BUDGETS, st.data())
def test_chunks_are_verbatim_cover_and_fit(
    text: str, language: str, budget: Budget, data: st.DataObject
) -> None:
    pages: tuple[int, ...] = ()
    if language in ("pdf", "pptx"):
        pages = tuple(sorted({0, *data.draw(st.lists(st.integers(0, len(text)), max_size=5))}))
    starts = _token_starts(text)
    document = Document(_SOURCE, "", text, language, pages)
    chunks = chunk_document(document, starts, budget)
    _check(document, starts, budget, chunks)
    assert chunks == chunk_document(document, starts, budget)


def _check(document: Document, starts: list[int], budget: Budget, chunks: list[Chunk]) -> None:
    text = document.text
    covered = bytearray(len(text))
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text.strip()
        assert sum(chunk.start <= start < chunk.end for start in starts) <= budget.limit
        assert chunk.first_line == text.count("\n", 0, chunk.start) + 1
        assert chunk.last_line == chunk.first_line + chunk.text.count("\n")
        covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
        if document.pages:
            assert chunk.page == max(sum(page <= chunk.start for page in document.pages), 1)
        else:
            assert chunk.page is None
    if document.language == "pptx":
        assert not any(chunk.start < page < chunk.end for chunk in chunks for page in document.pages)
    assert all(covered[at] or char.isspace() for at, char in enumerate(text))
    order = [(chunk.end, chunk.start) for chunk in chunks]
    assert order == sorted(order)
    assert all(one.start < other.start and one.end < other.end for one, other in pairwise(chunks))
