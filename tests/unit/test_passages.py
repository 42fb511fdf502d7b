"""A document into what a store keeps of it."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from builders import source, write_tree
from fakes import WordsEmbedder

from semantic_search.chunking import Budget
from semantic_search.listing import ListingRules, list_files
from semantic_search.models.embedder import Embedder
from semantic_search.passages import Cutter, embedding_key
from semantic_search.stores import Indexed
from semantic_search.terms import index_terms, path_terms
from semantic_search.types import Document, Skip, Skipped

BUDGET = Budget(target=40, overlap=8, limit=60)
TEXT = "# Вступ\n\nРекурсія.\n\n# Retry budget\n\n" + " ".join(f"word{n}" for n in range(200)) + "\n"


def document(text: str = TEXT, path: str = "docs/retryPolicy.md") -> Document:
    return Document(source(path, size=len(text)), "0" * 64, text, "markdown")


def cutter(model: WordsEmbedder | None) -> Cutter:
    return Cutter(ListingRules(), BUDGET, cast(Embedder, model) if model else None)


def cut(model: WordsEmbedder | None, *documents: Document) -> list[Indexed]:
    """Documents that cut well."""
    outcomes = cutter(model).cut(documents)
    indexed = [item for item in outcomes if isinstance(item, Indexed)]
    assert len(indexed) == len(outcomes)
    return indexed


@pytest.mark.parametrize("model", [WordsEmbedder(), None])
def test_passages_are_slices_with_terms_and_keys(model: WordsEmbedder | None) -> None:
    (found,) = cut(model, document())
    assert len(found.chunks) > 2
    assert len(found.terms) == len(found.context) == len(found.keys) == len(found.chunks)
    for chunk in found.chunks:
        assert chunk.text == TEXT[chunk.start : chunk.end]
        assert chunk.first_line == TEXT.count("\n", 0, chunk.start) + 1
    assert all(len(key) == 16 for key in found.keys)


def test_context_holds_path_heading_and_symbol() -> None:
    (found,) = cut(None, document())
    words = set(found.context[-1].split())
    assert {*path_terms("docs/retryPolicy.md"), *index_terms("Retry budget")} <= words
    assert not any("\t" in terms or "\n" in terms for terms in (*found.terms, *found.context))


def test_documents_come_back_in_order() -> None:
    documents = [document(f"number {n}\n", f"{n}.md") for n in range(5)]
    assert [item.document for item in cut(WordsEmbedder(), *documents)] == documents
    assert cut(None) == []


def test_a_key_names_model_header_and_text_alone() -> None:
    """No path in it: a file that moves keeps its vectors."""
    (here,) = cut(WordsEmbedder(), document(path="a.md"))
    (there,) = cut(WordsEmbedder(), document(path="deep/down/b.md"))
    (other,) = cut(WordsEmbedder("other"), document(path="a.md"))
    assert here.keys == there.keys
    assert not set(here.keys) & set(other.keys)
    assert embedding_key("m", "ab") != embedding_key("ma", "b")
    assert embedding_key("m", "ab") == embedding_key("m", "ab")


def test_a_lone_surrogate_in_a_path_is_no_trouble() -> None:
    (found,) = cut(None, document("text\n", "caf\udce9.md"))
    assert found.context[0].encode()


def test_reading_follows_the_rules(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "text\n", "b.md": ""})
    rules = ListingRules()
    first, second = (cutter(None).read(file) for file in list_files(str(tmp_path), rules).files)
    assert isinstance(first, Document)
    assert first.text == "text\n"
    assert isinstance(second, Skipped)
    assert second.reason is Skip.EMPTY
