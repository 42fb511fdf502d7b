from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_search.terms import index_terms, path_terms, query_terms, terms_among

_WORDS = st.text(alphabet="abzABZ019_-.'’éßЖжієїйґ検索กค้あ가\u0301\u200b \n\x00", max_size=60)
_TEXT = st.one_of(st.text(max_size=80), _WORDS)


@settings(deadline=None, max_examples=400)
@given(_TEXT)
def test_terms_hold_letters_digits_marks_and_low_lines(text: str) -> None:
    for term in index_terms(text):
        assert 0 < len(term) <= 200
        assert all(char == "_" or unicodedata.category(char)[0] in "LMN" for char in term), term


@settings(deadline=None, max_examples=200)
@given(_TEXT)
def test_a_query_has_every_term_of_its_text_once(text: str) -> None:
    terms = query_terms(text)
    assert len(set(terms)) == len(terms)
    assert set(index_terms(text)) <= set(terms)


@settings(deadline=None, max_examples=200)
@given(_TEXT)
def test_normal_forms_are_equal(text: str) -> None:
    assert index_terms(unicodedata.normalize("NFD", text)) == index_terms(unicodedata.normalize("NFC", text))


@settings(deadline=None, max_examples=200)
@given(_TEXT, _TEXT)
def test_a_passage_is_found_by_its_parts(one: str, other: str) -> None:
    assert set(index_terms(f"{one}\n{other}")) <= {*query_terms(one), *query_terms(other)}


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet=st.characters(codec=None), max_size=40))
def test_any_path_has_clean_terms(path: str) -> None:
    assert all(term.isprintable() and " " not in term for term in path_terms(path))


@settings(deadline=None, max_examples=300)
@given(_TEXT, _TEXT, st.integers(0, 5))
def test_terms_among_are_those_of_the_text_that_are_wanted(text: str, other: str, step: int) -> None:
    wanted = {*index_terms(text)[step:], *query_terms(other)}
    assert terms_among(text, wanted) == wanted & set(index_terms(text))
