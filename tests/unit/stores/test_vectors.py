"""Vectors as they are stored, and exact search over them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from semantic_search.stores.vectors import BLOCK, VectorTable, pack, row_type


def unit(count: int, dimension: int = 384, seed: int = 7) -> npt.NDArray[np.float32]:
    found = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=np.float32)


def table(
    vectors: npt.NDArray[np.float32], files: list[int] | None = None, scripts: list[str] | None = None
) -> VectorTable:
    ids = list(range(100, 100 + len(vectors)))
    rows = zip(ids, files or ids, scripts or ["Latin"] * len(ids), pack(vectors), strict=True)
    return VectorTable.of(batched(list(rows)))


def batched(
    rows: list[tuple[int, int, str, bytes]], size: int = 250
) -> list[list[tuple[int, int, str, bytes]]]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def test_a_stored_vector_takes_a_byte_a_component_and_four() -> None:
    assert {len(blob) for blob in pack(unit(3))} == {388}
    assert row_type(384).itemsize == 388


def test_a_cosine_moves_by_less_than_two_thousandths() -> None:
    vectors, query = unit(500), unit(1, seed=8)[0]
    error = np.abs(table(vectors).cosines(query) - vectors @ query)
    assert error.max() < 2e-3
    assert error.mean() < 5e-4


def test_the_nearest_are_those_of_plain_arithmetic() -> None:
    vectors, query = unit(300), unit(1, seed=9)[0]
    found = table(vectors).nearest(query, 10, None)
    scores = table(vectors).cosines(query)
    expected = sorted(range(300), key=lambda n: (-scores[n], n))[:10]
    assert [id_ for id_, _ in found] == [100 + n for n in expected]
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_blocks_join_without_a_seam() -> None:
    size = BLOCK // 384
    vectors, query = unit(2 * size + 3), unit(1, seed=8)[0]
    assert np.abs(table(vectors).cosines(query) - vectors @ query).max() < 2e-3
    for place in (size - 1, size, 2 * size + 2):
        assert table(vectors).nearest(vectors[place], 1, None)[0][0] == 100 + place


def test_ties_go_to_the_lower_id() -> None:
    same = np.repeat(unit(1), 5, axis=0)
    assert [id_ for id_, _ in table(same).nearest(same[0], 5, None)] == [100, 101, 102, 103, 104]


@pytest.mark.parametrize(("wanted", "expected"), [([1], [100, 102]), ([2], [101]), ([], []), ([9], [])])
def test_only_wanted_files(wanted: list[int], expected: list[int]) -> None:
    vectors = unit(3)
    found = table(vectors, [1, 2, 1]).nearest(vectors[0], 10, wanted)
    assert sorted(id_ for id_, _ in found) == expected


def test_an_empty_table_has_nothing() -> None:
    assert VectorTable.of([]).nearest(unit(1)[0], 5, None) == []
    assert VectorTable.of([]).nearest(unit(1)[0], 5, [1]) == []


def test_a_vector_of_nothing_is_stored_and_near_to_nothing() -> None:
    nothing = np.zeros((1, 384), dtype=np.float32)
    assert table(nothing).nearest(unit(1)[0], 1, None) == [(100, 0.0)]


def test_with_one_script_fair_cosines_are_plain_ones() -> None:
    query = unit(1, seed=9)[0]
    found = table(unit(300))
    assert np.allclose(found.fair_cosines(query), found.cosines(query), atol=1e-5)


def test_what_a_script_has_in_advance_is_taken_away() -> None:
    """Passages of the question's language are all a little nearer; the answer is in the other language."""
    noise = unit(400)
    language = np.zeros(384, dtype=np.float32)
    language[0] = 1.0
    query = noise[0] + 2 * language
    query /= np.linalg.norm(query)
    own = noise[200:] + 2 * language
    vectors = np.vstack([noise[:200], own / np.linalg.norm(own, axis=1, keepdims=True)]).astype(np.float32)
    found = table(vectors, scripts=["Cyrillic"] * 200 + ["Latin"] * 200)
    assert np.argmax(found.cosines(query)) >= 200
    assert found.nearest(query, 1, None)[0][0] == 100
