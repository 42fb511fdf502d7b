"""Which test holds which case of the bug bank: failures of tools of this kind that were reported in public.

A case has an id such as `store-07`; the names of the tests that rebuild it begin with `test_store_07`.
Run as a program this writes the table of both; `tests/test_bug_bank.py` fails while it is not current.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
TABLE = TESTS / "regressions" / "BUG_BANK.md"
# The bank is not part of the repository; where it lies beside a checkout, the table is compared with it.
BANK = TESTS.parents[1] / "shared" / "bugbank" / "cases.jsonl"

_HEAD = """# Bug bank

Failures that users of tools of this kind reported in public, each rebuilt by the tests beside its number.
Written by `python tests/bug_bank.py`.

| case | tests |
|---|---|
"""
_ROW = re.compile(r"^\| ([a-z]+(?:-[a-z]+)*-\d\d) \| (.*) \|$", re.MULTILINE)


def cases_of_the_bank() -> list[str]:
    """The ids of the bank, in its order."""
    return [json.loads(line)["id"] for line in BANK.read_text(encoding="utf-8").splitlines()]


def rows_of_the_table() -> dict[str, str]:
    """What the table says: ids, and the tests of each as it writes them."""
    return dict(_ROW.findall(TABLE.read_text(encoding="utf-8")))


def named_tests() -> Iterator[tuple[str, str]]:
    """Every test: the file it is in, relative to `tests`, and its name."""
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield path.relative_to(TESTS).as_posix(), node.name


def covering_tests(cases: list[str]) -> dict[str, list[str]]:
    """For each case the tests with its id in their names, as `file::name`."""
    by_name = {case.replace("-", "_"): case for case in cases}
    found: dict[str, list[str]] = defaultdict(list)
    for file, name in named_tests():
        for id_ in _ids_in(name.removeprefix("test_"), by_name):
            found[by_name[id_]].append(f"{file}::{name}")
    return {case: sorted(found[case]) for case in cases}


def _ids_in(name: str, known: dict[str, str]) -> list[str]:
    """The ids at the beginning of a test's name: `store_07_store_11_…` has two."""
    ids = []
    while match := re.match(r"([a-z]+(?:_[a-z]+)*?_\d\d)(?:_|$)", name):
        if match[1] not in known:
            break
        ids.append(match[1])
        name = name[match.end() :]
    return ids


def table(cases: list[str]) -> str:
    """The whole page."""
    rows = []
    for case, tests in covering_tests(cases).items():
        cells = "<br>".join(f"`{test}`" for test in tests)
        rows.append(f"| {case} | {cells} |\n")
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    known = cases_of_the_bank() if BANK.is_file() else list(rows_of_the_table())
    TABLE.write_text(table(known), encoding="utf-8")
    for case, tests in covering_tests(known).items():
        if not tests:
            print(f"{case} has no test")
