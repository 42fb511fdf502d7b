"""Lines that match, in exactly the files that the index lists."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from builders import write_tree
from fakes import WordsModels, configure, open_words
from hypothesis import given, settings
from hypothesis import strategies as st

from semantic_search.corpus import Corpus
from semantic_search.errors import FolderError, QueryError
from semantic_search.tools.grep import WIDEST_LINE, Search, compile_pattern, cut_around, grep


def lines(corpus: Corpus, pattern: str, **options: object) -> list[tuple[str, int, str]]:
    found = grep(corpus, Search(pattern, **options))  # type: ignore[arg-type]
    return [(line.source.path, line.number, line.text) for line in found.lines]


def test_lines_with_their_numbers(corpus: Corpus) -> None:
    assert lines(corpus, "gives up") == [("retry.md", 7, "Then it gives up.")]
    assert lines(corpus, r"^# \w+$") == [
        ("garden.md", 1, "# Garden"),
        ("retry.md", 5, "# Limits"),
    ]


def test_case(corpus: Corpus) -> None:
    assert lines(corpus, "GATEWAY")
    assert lines(corpus, "GATEWAY", case_sensitive=True) == []
    assert [path for path, _, _ in lines(corpus, "РОЗСАДУ")] == ["українською.md"]


def test_literal(corpus: Corpus, folder: Path) -> None:
    (folder / "a.txt").write_text("a.b*c\naxbbc\n")
    assert lines(corpus, "a.b*c", literal=True) == [("a.txt", 1, "a.b*c")]
    assert lines(corpus, "a.b*c") == [("a.txt", 2, "axbbc")]


def test_one_line_once_however_often_it_matches(corpus: Corpus, folder: Path) -> None:
    (folder / "a.txt").write_text("zz zz zz\nzz\n\nx")
    assert lines(corpus, "zz") == [("a.txt", 1, "zz zz zz"), ("a.txt", 2, "zz")]


def test_an_empty_match_gives_every_line_once(corpus: Corpus, folder: Path) -> None:
    (folder / "a.txt").write_text("one\n\nthree\n")
    assert lines(corpus, "q*", globs=("a.txt",)) == [
        ("a.txt", 1, "one"),
        ("a.txt", 2, ""),
        ("a.txt", 3, "three"),
    ]


def test_only_listed_files(corpus: Corpus) -> None:
    assert {path for path, _, _ in lines(corpus, "gateway")} == {"retry.md"}


def test_files_that_are_not_indexed_yet_are_searched(corpus: Corpus, folder: Path) -> None:
    (folder / "new.md").write_text("zeppelin\n")
    assert lines(corpus, "zeppelin") == [("new.md", 1, "zeppelin")]


def test_filters_and_the_number_of_lines(corpus: Corpus, folder: Path) -> None:
    write_tree(folder, {f"many/{n}.md": "zeppelin\n" * 3 for n in range(30)})
    found = grep(corpus, Search("zeppelin", most=5))
    assert (len(found.lines), found.more) == (5, True)
    exact = grep(corpus, Search("zeppelin", most=90))
    assert (len(exact.lines), exact.more) == (90, False)
    assert {path for path, _, _ in lines(corpus, "zeppelin", globs=("many/7.md",))} == {"many/7.md"}
    assert lines(corpus, "zeppelin", folders=("notes/src",)) == []


def test_a_folder_that_cannot_be_listed_is_told_and_the_others_are_searched(
    folder: Path, tmp_path: Path, own_environment: Path, models: WordsModels
) -> None:
    broken = tmp_path / "broken"
    subprocess.run(["git", "init", "-q", str(broken)], check=True)
    (broken / ".git" / "HEAD").write_text("nonsense")
    configure(own_environment, [broken, folder])
    with open_words(models) as corpus:
        found = grep(corpus, Search("gateway"))
    assert [line.source.path for line in found.lines] == ["retry.md"]
    assert any(str(broken) in note for note in found.notes)


@pytest.mark.parametrize("pattern", ["", "(", "a{99999}", r"(?=x)", r"(a)\1", "\ud800"])
def test_a_pattern_that_cannot_be_used_is_told(corpus: Corpus, pattern: str) -> None:
    with pytest.raises(QueryError):
        lines(corpus, pattern)


def test_bounds_and_names(corpus: Corpus) -> None:
    with pytest.raises(QueryError):
        lines(corpus, "x", most=0)
    with pytest.raises(FolderError):
        lines(corpus, "x", folders=("nowhere",))


def test_redos_patterns_take_linear_time(corpus: Corpus, folder: Path) -> None:
    (folder / "a.txt").write_text("a" * 100_000 + "!\n")
    assert lines(corpus, "(a+)+$", globs=("a.txt",)) == []
    assert lines(corpus, "(a|a)*b", globs=("a.txt",)) == []


def test_a_wide_line_is_cut_around_the_match(corpus: Corpus, folder: Path) -> None:
    (folder / "a.txt").write_text("x" * 5000 + "needle" + "y" * 5000 + "\n")
    ((_, _, text),) = lines(corpus, "needle")
    assert "needle" in text
    assert text.startswith("…")
    assert text.endswith("…")
    assert len(text) <= WIDEST_LINE + 2


@given(st.text(max_size=2000), st.integers(0, 2000))
@settings(deadline=None)
def test_a_cut_keeps_its_place(text: str, at: int) -> None:
    cut = cut_around(text, min(at, len(text)))
    assert cut.strip("…") in text or len(text) <= WIDEST_LINE
    assert len(cut) <= WIDEST_LINE + 2


@given(st.lists(st.text("ab.\\*ж ", max_size=8), max_size=6), st.text("ab.\\*ж", min_size=1, max_size=4))
@settings(deadline=None)
def test_literal_agrees_with_plain_search(text: list[str], needle: str) -> None:
    data = "\n".join(text)
    matches = compile_pattern(needle, literal=True, case_sensitive=True)(data.encode())
    expected = [match.start() for match in re.finditer(re.escape(needle.encode()), data.encode())]
    assert [match.start() for match in matches] == expected
