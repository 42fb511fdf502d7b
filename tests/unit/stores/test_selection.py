"""Which files a filter lets through."""

from __future__ import annotations

import pytest

from semantic_search.stores import Filter
from semantic_search.stores.selection import files_wanted

FILES = [
    (1, "/f/notes", "a.md", "markdown", ""),
    (2, "/f/notes", "src/b.py", "python", ""),
    (3, "/f/notes", "srcs/c.py", "python", ""),
    (4, "/f/notes-old", "a.md", "markdown", ""),
    (5, "/f/notes", "src/deep/caf\udce9.py", "python", ""),
]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(), [1, 2, 3, 4, 5]),
        (Filter(scopes=()), []),
        (Filter(scopes=(("/f/notes", ""),)), [1, 2, 3, 5]),
        (Filter(scopes=(("/f/notes", "src"),)), [2, 5]),
        (Filter(scopes=(("/f/notes", "src/b.py"),)), [2]),
        (Filter(scopes=(("/f/notes", "a.md"), ("/f/notes-old", ""))), [1, 4]),
        (Filter(globs=("*.md",)), [1, 4]),
        (Filter(globs=("src/**",)), [2, 5]),
        (Filter(globs=("/a.md", "*.py")), [1, 2, 3, 4, 5]),
        (Filter(globs=("!*.md",)), [2, 3, 5]),
        (Filter(globs=("*.py", "!src/")), [3]),
        (Filter(languages=("python",)), [2, 3, 5]),
        (Filter(scopes=(("/f/notes", ""),), globs=("!src/",), languages=("python",)), [3]),
    ],
)
def test_what_passes(wanted: Filter, expected: list[int]) -> None:
    assert files_wanted(FILES, wanted) == expected


def test_order_is_kept() -> None:
    assert files_wanted(reversed(FILES), Filter()) == [5, 4, 3, 2, 1]


def test_only_nothing_is_empty() -> None:
    assert Filter().empty
    assert not Filter(scopes=()).empty
    assert not Filter(globs=("*",)).empty
    assert not Filter(languages=("python",)).empty
