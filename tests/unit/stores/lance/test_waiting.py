"""What waits for a vector, against the plain way of keeping it."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa

from semantic_search.stores.lance.tables import file_of, file_row_id
from semantic_search.stores.lance.waiting import Waiting


def test_it_is_the_first_passage_of_each_text_whatever_comes_and_goes() -> None:
    draw = random.Random(3)
    waiting = Waiting()
    plain: dict[int, tuple[str, str]] = {}
    ids = [file_row_id(file) + 1 + n for file in range(60) for n in range(5)]
    draw.shuffle(ids)
    while ids:
        new = [ids.pop() for _ in range(min(draw.randint(0, 9), len(ids)))]
        keys = [f"{draw.randrange(120):032x}" for _ in new]
        scripts = [draw.choice(["Latin", "Cyrillic", ""]) for _ in new]
        waiting.add(new, keys, scripts)
        known = {key for key, _ in plain.values()}
        for id_, key, script in sorted(zip(new, keys, scripts, strict=True)):
            if key not in known:
                plain[id_] = key, script
                known.add(key)
        # An earlier passage of a known text stands for it from now on, as after comparing all anew.
        for id_, key, script in zip(new, keys, scripts, strict=True):
            (other,) = (each for each in plain if plain[each][0] == key)
            if id_ < other:
                del plain[other]
                plain[id_] = key, script
        if draw.random() < 0.5:
            gone = draw.sample(sorted(plain), min(3, len(plain)))
            asked = [*gone, 7]
            places = waiting.places(asked)
            assert places[-1] == -1
            assert waiting.keys(places[:-1]) == [plain[id_][0] for id_ in gone]
            assert waiting.scripts(places[:-1]) == [plain[id_][1] for id_ in gone]
            waiting.drop(places[:-1])
            for id_ in gone:
                del plain[id_]
        assert len(waiting) == len(plain)
        assert waiting.first(10_000) == sorted(plain)
        assert waiting.first(2) == sorted(plain)[:2]
        for file in range(0, 60, 7):
            assert waiting.any_in({file}) == any(file_of(id_) == file for id_ in plain)


def test_nothing_waits_at_first() -> None:
    waiting = Waiting()
    assert len(waiting) == 0
    assert waiting.first(5) == []
    assert waiting.places([1, 2]).tolist() == [-1, -1]
    assert not waiting.any_in({0})
    assert not waiting.any_in(set())


def test_it_comes_from_a_table_in_any_order() -> None:
    columns = {"id": [30, 10, 20], "key": ["ab" * 16, "cd" * 16, "ab" * 16], "script": ["Latin"] * 3}
    waiting = Waiting.of(pa.table(columns))
    assert waiting.first(9) == [10, 20]
    assert waiting.keys(np.array([1, 0])) == ["ab" * 16, "cd" * 16]
    assert waiting.with_keys(["ab" * 16, "ef" * 16]).first(9) == [20]
    assert waiting.with_keys([]).first(9) == []
    assert waiting.first(9) == [10, 20]
