from __future__ import annotations

from semantic_search.duplicates import alike, collapsed, word_set

LICENCE = " ".join(f"word{n}" for n in range(100))


def test_copies_with_another_name_in_them_are_alike() -> None:
    assert alike(word_set(LICENCE + " Anna"), word_set(LICENCE + " Borys"))
    assert alike(word_set("The Same text"), word_set("the same TEXT"))


def test_functions_of_one_shape_are_not_alike() -> None:
    one = word_set("def load(path): return json.loads(open(path).read())")
    other = word_set("def save(path, value): open(path, 'w').write(json.dumps(value))")
    assert not alike(one, other)
    assert not alike(word_set(""), word_set(""))


def test_the_best_stands_for_its_copies() -> None:
    items = [("a", LICENCE), ("b", "something else"), ("c", LICENCE + " more"), ("d", "third thing")]
    assert collapsed(items, 3) == [("a", ["c"]), ("b", []), ("d", [])]


def test_the_search_ends_when_there_is_no_room() -> None:
    items = [("a", "one"), ("b", "two"), ("c", "three"), ("d", "one")]
    assert collapsed(items, 2) == [("a", []), ("b", [])]
    assert collapsed([], 2) == []
