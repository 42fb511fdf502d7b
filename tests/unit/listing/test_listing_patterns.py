"""Lines of gitignore syntax."""

from __future__ import annotations

import pytest

from semantic_search.listing.patterns import BadPattern, PatternSet, parse


def verdict(lines: list[str], path: str, *, is_directory: bool = False) -> bool | None:
    patterns = PatternSet(pattern for line in lines if (pattern := parse(line)) is not None)
    return patterns.verdict(path, path.rpartition("/")[2], is_directory)


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        ("*.py", "a/b.py", True),
        ("*.py", "b.pyc", None),
        ("/a.py", "a.py", True),
        ("/a.py", "b/a.py", None),
        ("a/b", "a/b", True),
        ("a/b", "x/a/b", None),
        ("a/*", "a/b/c", None),
        ("a/**", "a/b/c", True),
        ("a/**", "a", None),
        ("**/b", "b", True),
        ("**/b", "a/x/b", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "ab", None),
        ("a/**/x/**/b", "a/1/x/2/3/b", True),
        ("a**b", "a/b", None),
        ("a**b", "axxb", True),
        ("?.md", "a.md", True),
        ("?.md", "/.md", None),
        ("[a-c].md", "b.md", True),
        ("[!a-c].md", "b.md", None),
        ("[^a-c].md", "d.md", True),
        ("[]a].md", "].md", True),
        ("[a\\]].md", "].md", True),
        ("[[:digit:]x].md", "7.md", True),
        ("[z-a].md", "b.md", None),
        ("[!z-a].md", "b.md", True),
        ("x[/]y", "x/y", None),
        ("\\#a", "#a", True),
        ("\\!a", "!a", True),
        ("\\*", "*", True),
        ("\\*", "a", None),
        ("a\\ ", "a ", True),
        ("a  ", "a", True),
        ("a b", "a b", True),
        ("(a|b)+{1}", "(a|b)+{1}", True),
        ("new\nline*", "new\nline!", True),
        ("звіт?.md", "звітї.md", True),
    ],
)
def test_one_pattern(line: str, path: str, expected: bool | None) -> None:
    assert verdict([line], path) is expected


@pytest.mark.parametrize("line", ["", "   ", "# comment", "#"])
def test_lines_without_a_pattern(line: str) -> None:
    assert parse(line) is None


@pytest.mark.parametrize("line", ["[a", "a\\", "!", "/", "a//b", "[[:nonsense:]]", "[a\\"])
def test_lines_that_match_nothing(line: str) -> None:
    with pytest.raises(BadPattern):
        parse(line)


def test_directories_only() -> None:
    assert verdict(["build/"], "build") is None
    assert verdict(["build/"], "x/build", is_directory=True) is True


def test_the_last_match_decides() -> None:
    lines = ["*.log", "!keep.log", "keep.*", "!*.md"]
    assert verdict(lines, "keep.log") is True
    assert verdict(lines[:2], "keep.log") is False
    assert verdict(lines, "keep.md") is False


@pytest.mark.parametrize("line", ["*a" * 60 + "b", "**/a/" * 60 + "b", "[a-z]*" * 60 + "0"])
def test_hostile_patterns_take_no_time(line: str) -> None:
    for path in ("a" * 250, "a/" * 1000 + "c"):
        assert verdict([line], path) is None
