"""Every case of the bug bank has a test, and the table that says which is current."""

from __future__ import annotations

import pytest
from bug_bank import BANK, TABLE, cases_of_the_bank, covering_tests, rows_of_the_table, table

CASES = 142


def test_every_case_has_a_test() -> None:
    rows = rows_of_the_table()
    assert len(rows) == CASES
    assert [case for case, tests in covering_tests(list(rows)).items() if not tests] == []


def test_the_table_is_current() -> None:
    cases = list(rows_of_the_table())
    assert TABLE.read_text(encoding="utf-8") == table(cases), "run `python tests/bug_bank.py`"


def test_the_table_has_every_case_of_the_bank() -> None:
    if not BANK.is_file():
        pytest.skip("the bug bank is not beside this checkout")
    assert list(rows_of_the_table()) == cases_of_the_bank()
