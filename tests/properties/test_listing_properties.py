"""On any tree, with any ignore files, the listing is what git says; and a walk agrees with git."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_search.listing import ListingRules, list_files

EVERYTHING = ListingRules(walk_ignore=(), index_secrets=True)

names = st.sampled_from(["a", "b", "ab", "a.md", "b.md", "x.log", "a b", "[a]", "#a", "!a", "ї.md"])
directories = st.lists(st.sampled_from(["a", "b", "ab", "d.md", "x y"]), max_size=3).map("/".join)
pieces = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        "*",
        "**",
        "?",
        "*.md",
        "[ab]",
        "[!a]",
        "[a-",
        "x*",
        "*b",
        "\\#a",
        "\\!a",
        "ї*",
        "d.md",
        "*.*",
    ]
)
patterns = st.builds(
    lambda negated, rooted, parts, end: negated + rooted + "/".join(parts) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(pieces, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", " ", "\\ ", "\r"]),
)
ignore_files = st.lists(st.one_of(patterns, st.sampled_from(["", "# a", "*", "!*/"])), max_size=5).map(
    "\n".join
)


def run(folder: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True).stdout


def git_says(repository: Path) -> set[str]:
    """What git lists, and what it lists in each nested repository it meets."""
    out = run(repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    found = set()
    for path in filter(None, os.fsdecode(out).split("\0")):
        if path.endswith("/"):
            found |= {path + inner for inner in git_says(repository / path)}
        elif os.path.lexists(repository / path):
            found.add(path)
    return found


def listed(folder: Path) -> set[str]:
    listing = list_files(str(folder), EVERYTHING)
    assert listing.unread == ()
    paths = [source.path for source in listing.files]
    assert paths == sorted(set(paths))
    return set(paths)


def build(folder: Path, files: list[tuple[str, str]], ignores: dict[str, str], nested: list[str]) -> None:
    run(folder, "init", "-q")
    for directory, name in files:
        (folder / directory).mkdir(parents=True, exist_ok=True)
        if not (folder / directory / name).exists():
            (folder / directory / name).write_text("text")
    for directory, content in ignores.items():
        if (folder / directory).is_dir() and not (folder / directory / ".gitignore").exists():
            (folder / directory / ".gitignore").write_bytes(content.encode())
    for directory in nested:
        if directory and (folder / directory).is_dir():
            run(folder / directory, "init", "-q")


def separate(files: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Without the files whose path is that of a directory."""
    taken = {"/".join(d.split("/")[:i]) for d, _ in files for i in range(1, d.count("/") + 2)}
    return [(d, n) for d, n in files if (f"{d}/{n}" if d else n) not in taken]


trees = st.lists(st.tuples(directories, names), min_size=1, max_size=10).map(separate)


@settings(deadline=None, max_examples=60)
@given(
    files=trees,
    ignores=st.dictionaries(directories, ignore_files, max_size=3),
    nested=st.lists(directories, max_size=2),
    tracked=st.sets(st.integers(0, 9), max_size=4),
)
def test_a_repository_is_listed_as_git_lists_it(
    files: list[tuple[str, str]], ignores: dict[str, str], nested: list[str], tracked: set[int]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        build(folder, files, ignores, [])
        for position in sorted(tracked):
            if position < len(files):
                run(
                    folder,
                    "--literal-pathspecs",
                    "add",
                    "--force",
                    "--",
                    "/".join(filter(None, files[position])),
                )
        build(folder, [], {}, nested)
        assert listed(folder) == git_says(folder)


@settings(deadline=None, max_examples=150)
@given(files=trees, ignores=st.dictionaries(directories, ignore_files, min_size=1, max_size=3))
def test_a_walk_agrees_with_git(files: list[tuple[str, str]], ignores: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        build(folder, files, ignores, [])
        expected = git_says(folder)
        shutil.rmtree(folder / ".git")
        assert listed(folder) == expected


@settings(deadline=None, max_examples=60)
@given(files=trees, lines=ignore_files, start=directories)
def test_indexignore_has_the_meaning_of_gitignore(
    files: list[tuple[str, str]], lines: str, start: str
) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        build(folder, files, {start: lines}, [])
        expected = {path for path in git_says(folder) if not path.endswith(".gitignore")}
        ignore_file = folder / start / ".gitignore"
        if ignore_file.exists():
            ignore_file.rename(ignore_file.with_name(".indexignore"))
        assert listed(folder) == expected
