from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_search.ranking import in_order, reciprocal_ranks, saturated, scaled_to_best, scaled_to_pool

arms = st.lists(
    st.dictionaries(st.integers(0, 50), st.floats(-1, 100), max_size=60).map(
        lambda scores: sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    ),
    max_size=3,
)


@settings(deadline=None)
@given(arms, st.integers(1, 200))
def test_fusion_does_not_depend_on_the_order_of_the_arms(
    found: list[list[tuple[int, float]]], k: int
) -> None:
    forwards, backwards = reciprocal_ranks(found, k), reciprocal_ranks(found[::-1], k)
    assert forwards.keys() == backwards.keys()
    assert all(abs(forwards[id_] - backwards[id_]) < 1e-12 for id_ in forwards)


@settings(deadline=None)
@given(arms, st.integers(1, 200))
def test_fusion_holds_exactly_what_the_arms_hold(found: list[list[tuple[int, float]]], k: int) -> None:
    scores = reciprocal_ranks(found, k)
    assert set(scores) == {id_ for arm in found for id_, _ in arm}
    assert all(0 < score <= len(found) / (k + 1) + 1e-12 for score in scores.values())


@settings(deadline=None)
@given(arms, st.integers(1, 200))
def test_better_in_every_arm_is_better_in_all(found: list[list[tuple[int, float]]], k: int) -> None:
    scores = reciprocal_ranks(found, k)
    places = [{id_: place for place, (id_, _) in enumerate(arm)} for arm in found]
    for one in scores:
        for other in scores:
            if all(one in arm and other in arm and arm[one] < arm[other] for arm in places):
                assert scores[one] > scores[other]


@settings(deadline=None)
@given(arms)
def test_scaling_keeps_the_order_within_zero_and_one(found: list[list[tuple[int, float]]]) -> None:
    for arm in found:
        for scaled in (scaled_to_best(arm), scaled_to_pool(arm)):
            values = [scaled[id_] for id_, _ in arm]
            assert all(0 <= value <= 1 for value in values)
            assert values == sorted(values, reverse=True)


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, 30), st.floats(-1, 1)), st.floats(0.1, 1))
def test_saturation_loses_nothing_and_keeps_the_order_within_a_file(
    scores: dict[int, float], factor: float
) -> None:
    ranked = in_order(scores)
    turned = saturated(ranked, lambda id_: id_ % 3, factor)
    assert {id_ for id_, _ in turned} == set(scores)
    for key in range(3):
        mine = [score for id_, score in turned if id_ % 3 == key]
        assert mine == sorted(mine, reverse=True)
        assert mine[:1] == [score for id_, score in ranked if id_ % 3 == key][:1]


@settings(deadline=None)
@given(st.dictionaries(st.integers(), st.floats(allow_nan=False)))
def test_order_is_by_score(scores: dict[int, float]) -> None:
    ordered = in_order(scores)
    assert [score for _, score in ordered] == sorted(scores.values(), reverse=True)
