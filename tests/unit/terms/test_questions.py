"""Words that only make a sentence a question."""

from __future__ import annotations

import pytest

from semantic_search.terms import query_terms
from semantic_search.terms.questions import small_words, telling_part


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("How does the gateway retry?", "the gateway retry"),
        ("What is one benefit of examples?", "one benefit of examples"),
        ("У якому році збудували міст?", "У році збудували міст"),
        ("Сколько лет было городу тогда?", "лет городу тогда"),
        ("Welche Farbe hat der Himmel", "Farbe der Himmel"),
        ("¿Cuándo nació el pintor famoso?", "nació el pintor famoso"),
        ('what does "where is" mean in SQL', 'what does "where is" mean in SQL'.replace("what does ", "")),
    ],
)
def test_a_question_keeps_what_it_is_about(question: str, left: str) -> None:
    assert query_terms(telling_part(question)) == query_terms(left)


@pytest.mark.parametrize(
    "text",
    [
        "where clause parser",
        "what is",
        "who can do what",
        "retry the gateway when it is busy",
        "",
        "?",
        "який де",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert telling_part(text) == text


@pytest.mark.parametrize(
    ("text", "small"),
    [
        ("exponential backoff with jitter", "with"),
        ("чому ми не видаляємо старі події", "чому ми не"),
        ("резервные копии и восстановление", "и"),
        ("go by id", ""),
        ("to be or not to be", ""),
        ("walnuts", ""),
        ("", ""),
    ],
)
def test_small_words_are_told_apart_where_there_are_others(text: str, small: str) -> None:
    assert small_words(text) == small
