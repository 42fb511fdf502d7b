from __future__ import annotations

from dataclasses import replace

from semantic_search import signals
from semantic_search.scoring import PENALTIES, WEIGHTS, Asked, Candidate, Evidence, measure, rank
from semantic_search.scripts import dominant_script
from semantic_search.stores import Passage
from semantic_search.terms import path_terms
from semantic_search.types import Chunk

FOLDER = "/f"


def candidate(
    id_: int,
    path: str,
    *,
    words: tuple[int | None, float] = (None, 0.0),
    meaning: tuple[int | None, float] = (None, 0.0),
    symbol: str = "",
    language: str = "python",
    script: str = "Latin",
) -> Candidate:
    chunk = Chunk(0, 4, 1, 1, "text", symbol=symbol)
    return Candidate(Passage(id_, FOLDER, path, language, (1, 1, 1, 1), script, chunk), *words, *meaning)


def asked(text: str) -> Asked:
    weights = signals.inverse_frequencies(dict.fromkeys(path_terms(text), 3), 100)
    return Asked.of(text, weights, dominant_script(text))


def order(query: str, candidates: list[Candidate], evidence: Evidence | None = None) -> list[int]:
    found = rank(asked(query), candidates, evidence or Evidence(), rrf_k=60)
    return [candidate.passage.id for candidate, _, _ in found]


def test_every_signal_has_a_weight_and_lies_in_its_range() -> None:
    candidates = [
        candidate(1, "src/retry.py", words=(1, 5.0), meaning=(2, 0.8), symbol="retry"),
        candidate(2, "tests/test_retry.py", words=(2, 4.0), meaning=(1, 0.9)),
        candidate(3, "README.md", meaning=(3, 0.7), language="markdown"),
    ]
    measured = measure(asked("retry"), candidates, Evidence({(FOLDER, "src/retry.py"): 3.0}))
    for values in measured.values():
        assert set(values) == set(WEIGHTS)
        for name, value in values.items():
            low, high = (-1, 0) if name in PENALTIES else (0, 1)
            assert low <= value <= high, name


def test_shares_sum_to_the_score_and_scores_fall() -> None:
    candidates = [
        candidate(n, f"{n}.py", words=(n, 9.0 - n), meaning=(n, 1 - n / 10), symbol="f") for n in range(1, 6)
    ]
    found = rank(asked("what f does"), candidates, Evidence(), rrf_k=60)
    scores = [score for _, score, _ in found]
    assert scores == sorted(scores, reverse=True)
    for _, score, shares in found:
        parts = sum(value for name, value in shares.items() if name in WEIGHTS)
        assert abs(parts - score) < 1e-9
        assert 0 <= score <= 1


def test_explain_tells_the_place_in_each_arm() -> None:
    (found,) = rank(
        asked("x"), [candidate(1, "a.py", words=(3, 2.0), meaning=(7, 0.5))], Evidence(), rrf_k=60
    )
    assert (found[2]["lexicalRank"], found[2]["vectorRank"], found[2]["cosine"]) == (3, 7, 0.5)
    assert abs(found[2]["rrf"] - 2 / 61) < 1e-9


def test_tokenise_01_the_definition_goes_before_its_uses() -> None:
    uses = [candidate(n, f"src/use{n}.py", words=(n, 5.0), symbol=f"caller{n}") for n in (1, 2)]
    definition = candidate(3, "src/session.py", words=(3, 4.5), symbol="Store.createUserSession")
    evidence = Evidence(names={(FOLDER, "src/session.py"): ["Store.createUserSession"]})
    assert order("createUserSession", [*uses, definition], evidence)[0] == 3


def test_content_13_the_source_goes_before_its_minified_copy() -> None:
    assert order(
        "signs a user out everywhere",
        [
            candidate(1, "static/app.min.js", words=(1, 5.0), meaning=(1, 0.9), language="javascript"),
            candidate(2, "static/app.js", words=(2, 4.9), meaning=(2, 0.89), language="javascript"),
        ],
    ) == [2, 1]


def test_tests_come_after_what_they_test_unless_asked_for() -> None:
    both = [
        candidate(1, "tests/test_retry.py", words=(1, 5.0), meaning=(1, 0.9)),
        candidate(2, "src/retry.py", words=(2, 4.8), meaning=(2, 0.88)),
    ]
    assert order("retry a request", both) == [2, 1]
    assert order("tests of retry", both) == [1, 2]


def test_files_take_turns() -> None:
    same = [candidate(n, "a.py", words=(n, 6.0 - n / 10)) for n in (1, 2, 3)]
    other = candidate(9, "b.py", words=(4, 5.0))
    assert order("q", [*same, other]) in ([1, 9, 2, 3], [1, 2, 9, 3])


def test_another_script_is_no_fault_of_a_passage() -> None:
    english = candidate(1, "en.md", meaning=(1, 0.90), language="markdown")
    rest = [candidate(n, f"{n}.md", meaning=(n, 0.86 - n / 1000), language="markdown") for n in range(2, 60)]
    weak = candidate(99, "uk.md", words=(1, 3.0), meaning=(60, 0.79), language="markdown", script="Cyrillic")
    assert order("чому так", [english, weak, *rest])[0] == 1


def test_nothing_found_ranks_nothing() -> None:
    assert rank(asked("x"), [], Evidence(), rrf_k=60) == []


def test_equals_go_by_age_in_days_newest_first_and_then_by_id() -> None:
    day = 24 * 3600 * 10**9
    ages = {1: 10 * day, 2: 12 * day + 1, 3: 12 * day + 2, 4: 11 * day}
    candidates = [
        Candidate(
            Passage(
                id_, FOLDER, f"{id_}/LICENSE", "text", (1, mtime, 1, 1), "Latin", Chunk(0, 4, 1, 1, "text")
            ),
            1,
            5.0,
            None,
            0.0,
        )
        for id_, mtime in ages.items()
    ]
    candidates = [replace(c, lexical_place=n) for n, c in enumerate(candidates, 1)]
    assert order("licence", candidates) == [2, 3, 4, 1]


def test_the_projects_own_name_does_not_make_a_file_the_answer() -> None:
    weights = {"clap": 0.01, "pars": 3.0, "argument": 2.0}
    found = measure(
        Asked.of("how clap parses arguments", weights, "Latin"),
        [candidate(1, "clap.zig", words=(1, 5.0)), candidate(2, "clap/parsing.zig", words=(2, 4.0))],
        Evidence(),
    )
    assert found[1]["stemCovered"] < 0.1
    assert found[2]["stemCovered"] == 1.0


def test_a_passage_in_place_of_a_question_asks_for_nothing() -> None:
    found = rank(Asked.of("", {}, "Latin"), [candidate(1, "a.py", words=(1, 5.0))], Evidence(), rrf_k=60)
    assert found[0][2]["words"] > 0
