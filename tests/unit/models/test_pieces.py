"""Unigram segmentation agrees with the `tokenizers` library, and offsets are those of the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_search.errors import ModelUnavailable
from semantic_search.models.pieces import Pieces, Segmenter, SpecialIds, write
from semantic_search.models.unigram import UnigramTokenizer, _words

SPECIAL = SpecialIds(begin=0, end=2, unknown=3)
TEXTS = [
    "<s>",
    "<pad>",
    "</s>",
    "<unk>",
    "\u2581",
    "a",
    "b",
    "ab",
    "ba",
    "\u2581a",
    "\u2581ab",
    "aab",
    "abab",
    "й",
]
TEXTS += [
    "\u2581й",
    "йa",
    "한",
    "국",
    "fi",
    "f",
    "i",
    "1",
    "2",
    "\u2581ba",
    "<",
    ">",
    "s",
    "<s",
    "…",
    "...",
    ".",
    "e",
    "é",
]
SCORES = [0.0, 0.0, 0.0, 0.0] + [-3.0 - (index * 7 % 11) / 4 for index in range(len(TEXTS) - 4)]
LETTERS = "ab\u0438\u0306й한국\u1112\u1161\u11abﬁfi12²<s>…. \t\n\u00a0\u3000xyß😀\U00010348é\u0301e\u00a8"


@pytest.fixture(scope="module")
def segmenter(tmp_path_factory: pytest.TempPathFactory) -> Segmenter:
    folder = tmp_path_factory.mktemp("pieces")
    pieces = Pieces(TEXTS, SCORES, SPECIAL)
    write(folder, pieces)
    return Segmenter(folder, SPECIAL, pieces.longest)


@pytest.fixture(scope="module")
def library() -> Any:
    """The library's tokenizer of the same vocabulary."""
    import tokenizers
    from tokenizers import models, normalizers, pre_tokenizers

    hidden = [f"\ufdd0{text}" if index < 4 else text for index, text in enumerate(TEXTS)]
    tokenizer = tokenizers.Tokenizer(models.Unigram(list(zip(hidden, SCORES, strict=True)), 3, False))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    return tokenizer


@settings(deadline=None, max_examples=300)
@given(text=st.text(alphabet=LETTERS, max_size=60))
def test_ids_agree_with_the_library(segmenter: Segmenter, library: Any, text: str) -> None:
    ids = UnigramTokenizer(segmenter, SPECIAL).inputs([text], prefix="", window=500)[0]
    assert ids == [0, *library.encode(text, add_special_tokens=False).ids, 2]


@settings(deadline=None, max_examples=300)
@given(texts=st.lists(st.text(alphabet=LETTERS + "\ud800\u200b\x00\ufffd", max_size=300), max_size=4))
def test_starts_are_offsets_of_the_text(segmenter: Segmenter, texts: list[str]) -> None:
    tokenizer = UnigramTokenizer(segmenter, SPECIAL)
    starts = tokenizer.token_starts(texts)
    assert starts == [tokenizer.token_starts([text])[0] for text in texts]
    for text, of_text in zip(texts, starts, strict=True):
        assert of_text == sorted(of_text)
        assert all(0 <= start < len(text) and not text[start].isspace() for start in of_text)
        assert len(of_text) >= tokenizer.count(text)
        if of_text:
            assert set(text[: of_text[0]]) <= set("\ud800\u200b\x00\ufffd \t\n\u00a0\u3000")


@settings(max_examples=300, deadline=None)
@given(st.text(LETTERS, max_size=400))
def test_words_in_parts_give_the_tokens_of_whole_words(segmenter: Segmenter, text: str) -> None:
    tokenizer = UnigramTokenizer(segmenter, SPECIAL)
    words = list(_words(text, 0))
    tokens = tokenizer._tokens([word for _, word in words])
    whole = [start + offset for start, word in words for offset in tokens[word][1]]
    assert tokenizer.token_starts([text]) == [whole]
    assert tokenizer.token_starts(["ab", text, "", text])[1:] == [whole, [], whole]


def test_starts_by_example(segmenter: Segmenter) -> None:
    tokenizer = UnigramTokenizer(segmenter, SPECIAL)
    assert tokenizer.token_starts(["ab  ab\nba"]) == [[0, 4, 7]]
    assert tokenizer.token_starts(["x" * 10]) == [
        [0, 0, 4, 8]
    ]  # a space, and one unknown piece by its length
    assert tokenizer.token_starts(["\u0438\u0306\u0438\u0306"]) == [[0, 2]]  # each letter is two characters
    assert tokenizer.token_starts(["…"]) == [[0, 0]]
    assert tokenizer.token_starts(["aé \u00a8"]) == tokenizer.token_starts(["aé \u00a8"])


def test_special_pieces_in_a_text_are_text(segmenter: Segmenter) -> None:
    (ids,) = UnigramTokenizer(segmenter, SPECIAL).inputs(["<s> </s> <unk> <pad>"], prefix="", window=99)
    assert ids[0] == 0 and ids[-1] == 2
    assert 0 not in ids[1:-1] and 2 not in ids[1:-1] and 1 not in ids


def test_inputs_are_cut_at_the_window(segmenter: Segmenter) -> None:
    tokenizer = UnigramTokenizer(segmenter, SPECIAL)
    short, long = tokenizer.inputs(["ab", "ab " * 1000], prefix="ba ", window=10)
    assert short == [0, TEXTS.index("\u2581ba"), TEXTS.index("\u2581ab"), 2]
    assert long == [0, TEXTS.index("\u2581ba"), *[TEXTS.index("\u2581ab")] * 7, 2]


def test_memory_of_words_is_bounded(segmenter: Segmenter) -> None:
    tokenizer = UnigramTokenizer(segmenter, SPECIAL)
    for part in range(4):
        text = " ".join(f"{part}{number:b}".translate({48: "a", 49: "b"}) for number in range(40_000))
        tokenizer.token_starts([text])
        tokenizer.count(text)
        assert 0 < len(tokenizer._cache) <= 50_000
        assert 0 < len(tokenizer._parts) <= 100_000
    tokenizer.token_starts(["a" * 200_000])
    tokenizer.count("a" * 200_000)
    assert max(map(len, tokenizer._cache)) <= 40
    assert max(map(len, tokenizer._parts)) <= 40


def test_long_unbroken_text(segmenter: Segmenter) -> None:
    tokenizer = UnigramTokenizer(segmenter, SPECIAL)
    (starts,) = tokenizer.token_starts(["ab" * 100_000])
    assert starts == sorted(starts) and starts[-1] < 200_000
    assert 200_000 / 4 <= len(starts) <= 200_000


@pytest.mark.parametrize("texts", [["a", "b", "a"]])
def test_equal_pieces_are_refused(tmp_path: Path, texts: list[str]) -> None:
    with pytest.raises(ModelUnavailable, match="two equal pieces"):
        write(tmp_path, Pieces(texts, [0.0] * len(texts), SPECIAL))
