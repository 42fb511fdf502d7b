from __future__ import annotations

import pytest

from semantic_search.ranking import in_order, reciprocal_ranks, saturated, scaled_to_best, scaled_to_pool


def test_reciprocal_ranks_by_hand() -> None:
    scores = reciprocal_ranks([[(1, 9.0), (2, 8.0)], [(2, 0.5)]], 60)
    assert scores == pytest.approx({1: 1 / 61, 2: 1 / 62 + 1 / 61})


def test_scaled_to_best() -> None:
    assert scaled_to_best([(1, 8.0), (2, 4.0), (3, 0.0)]) == {1: 1.0, 2: 0.5, 3: 0.0}
    assert scaled_to_best([(1, 0.0)]) == {1: 0.0}
    assert scaled_to_best([]) == {}


def test_scaled_to_pool_has_its_zero_at_the_fiftieth() -> None:
    arm = [(n, 1.0 - n / 100) for n in range(80)]
    scaled = scaled_to_pool(arm)
    assert scaled[0] == 1.0
    assert scaled[49] == scaled[79] == 0.0
    assert 0 < scaled[10] < 1


def test_scaled_to_pool_of_a_short_list_falls_on() -> None:
    assert scaled_to_pool([(1, 0.90), (2, 0.89)]) == pytest.approx({1: 1.0, 2: 6 / 7})


def test_scaled_to_pool_of_equals_and_of_one() -> None:
    assert scaled_to_pool([(1, 0.8)]) == {1: 1.0}
    assert scaled_to_pool([(1, 0.8), (2, 0.8)]) == {1: 1.0, 2: 1.0}
    assert scaled_to_pool([]) == {}


def test_files_take_turns() -> None:
    ranked = [(11, 1.0), (12, 0.9), (13, 0.8), (21, 0.6)]
    turned = saturated(ranked, lambda id_: id_ // 10, 0.5)
    assert turned == [(11, 1.0), (21, 0.6), (12, 0.45), (13, 0.2)]


def test_saturation_of_scores_below_zero_keeps_the_order_within_a_file() -> None:
    assert saturated([(11, -0.5), (12, -0.6)], lambda id_: id_ // 10, 0.5) == [(11, -0.5), (12, -1.6)]


def test_equal_scores_are_in_a_fixed_order() -> None:
    assert in_order({3: 0.5, 1: 0.5, 2: 0.9}) == [(2, 0.9), (1, 0.5), (3, 0.5)]
