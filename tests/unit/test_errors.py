"""Which errors are ours, which nobody foresaw, and how one of those is told in a line."""

from __future__ import annotations

import asyncio
import re

import pytest

from semantic_search import errors
from semantic_search.errors import SemanticSearchError, StoreError, place_of, unforeseen
from semantic_search.types import SourceFile

PanicException = type("PanicException", (BaseException,), {})


def caught(error: BaseException) -> BaseException | None:
    try:
        raise error
    except unforeseen() as found:
        return found


@pytest.mark.parametrize(
    "error", [KeyError("x"), MemoryError(), RecursionError(), OSError(5, "x"), PanicException("x")]
)
def test_what_nobody_foresaw_is_caught(error: BaseException) -> None:
    assert caught(error) is error


@pytest.mark.parametrize(
    "error",
    [StoreError("x"), SemanticSearchError("x"), KeyboardInterrupt(), SystemExit(2), GeneratorExit(),
     asyncio.CancelledError()],
)  # fmt: skip
def test_ours_and_the_wish_that_all_should_end_pass(error: BaseException) -> None:
    with pytest.raises(type(error)):
        caught(error)


def test_it_is_the_error_at_hand_that_counts_not_one_that_is_being_handled() -> None:
    with pytest.raises(StoreError):
        try:
            raise KeyError("x")
        except KeyError:
            caught(StoreError("y"))


def test_an_error_is_told_by_its_place_in_our_code_without_what_it_quotes() -> None:
    with pytest.raises(AttributeError) as found:
        SourceFile.absolute.fget(None)  # type: ignore[attr-defined]
    assert re.fullmatch(r"AttributeError at types\.py:\d+", place_of(found.value))
    with pytest.raises(ValueError, match="secret") as elsewhere:
        int("secret")
    assert place_of(elsewhere.value) == "ValueError at ?"


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    """Each class below its base, two steps further to the right."""
    drawn: dict[str, str] = {}
    above: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"([│├└─ ]*)([A-Z]\w+)(  |$)", line)
        if found:
            depth = len(found[1]) // 4
            above[depth:] = [found[2]]
            drawn[found[2]] = above[depth - 1] if depth else "Exception"
    made = {
        name: kind.__base__.__name__
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception) and kind.__base__
    }
    assert drawn == made
