"""The end of a command: its exit status, and what is said of an error that nobody foresaw."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from fakes import configure

from semantic_search.__main__ import main

PanicException = type("PanicException", (BaseException,), {})
FAULTS = [KeyError("x"), PanicException("index out of bounds")]


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.fixture
def broken(own_environment: Any, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A home whose configuration nothing can be got from, for a reason that tests choose."""
    configure(own_environment)
    monkeypatch.setattr("sys.argv", ["semantic-search", "list"])
    return monkeypatch


def fail(patch: pytest.MonkeyPatch, error: BaseException) -> None:
    def loads(*_: object, **__: object) -> Any:
        raise error

    patch.setattr(json, "loads", loads)


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_a_fault_is_told_in_a_line_with_the_way_to_more(
    broken: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException
) -> None:
    fail(broken, error)
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.startswith(f"semantic-search: {type(error).__name__}: ") and said.err.count("\n") == 1
    assert "a fault of ours: SS_DEBUG=1 shows where" in said.err


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_a_fault_is_raised_where_more_was_asked_for(broken: pytest.MonkeyPatch, error: BaseException) -> None:
    broken.setenv("SS_DEBUG", "1")
    fail(broken, error)
    with pytest.raises(type(error)) as raised:
        main()
    assert raised.value is error


def test_a_lack_of_memory_has_words_of_its_own(
    broken: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail(broken, MemoryError())
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "not enough memory" in capsys.readouterr().err
