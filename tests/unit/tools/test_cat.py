"""Lines of a file inside the folders, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from semantic_search.corpus import Corpus
from semantic_search.errors import FolderError, QueryError
from semantic_search.tools.cat import cat
from semantic_search.tools.documents import find_file, stored_text, text_of
from semantic_search.types import Document


@pytest.mark.parametrize(
    ("start", "end", "text", "last"),
    [
        (1, None, "# Garden\n\nTomato seedlings go outdoors in May.", 3),
        (1, 1, "# Garden", 1),
        (3, 3, "Tomato seedlings go outdoors in May.", 3),
        (2, 99, "\nTomato seedlings go outdoors in May.", 3),
    ],
)
def test_lines(corpus: Corpus, start: int, end: int | None, text: str, last: int) -> None:
    found = cat(corpus, "notes/garden.md", start, end)
    assert (found.text, found.first_line, found.last_line, found.lines) == (text, start, last, 3)


@pytest.mark.parametrize(("start", "end"), [(0, None), (4, None), (2, 1), (-1, 2)])
def test_a_range_outside_of_the_file(corpus: Corpus, start: int, end: int | None) -> None:
    with pytest.raises(QueryError, match="lines 1 to 3"):
        cat(corpus, "garden.md", start, end)


def test_the_ways_to_name_a_file(corpus: Corpus, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "src")
    for name in (str(folder / "src" / "ledger.py"), "ledger.py", "src/ledger.py", "notes/src/ledger.py"):
        assert find_file(corpus, name).path == "src/ledger.py"


def test_security_08_outside_and_missing_are_refused_alike(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("canary\n")
    messages = set()
    for name in ("outside.md", "missing.md"):
        with pytest.raises(FolderError) as refusal:
            cat(corpus, str(tmp_path / name))
        messages.add(str(refusal.value).replace(name, "X"))
    assert len(messages) == 1


@pytest.mark.parametrize(
    "name",
    [
        "../outside.md",
        "notes/../outside.md",
        "src/../../outside.md",
        "a\0b",
        "",
        ".",
        "/etc/passwd",
        "~",
        "src",
        "link.md",
        "linked/outside.md",
    ],
)
def test_roots_01_nothing_outside_is_shown(corpus: Corpus, folder: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.md").write_text("canary\n")
    if os.name == "posix":
        (folder / "link.md").symlink_to(tmp_path / "outside.md")
        (folder / "linked").symlink_to(tmp_path)
    with pytest.raises(FolderError):
        cat(corpus, name)


def test_roots_01_a_sibling_with_the_same_beginning_is_outside(corpus: Corpus, folder: Path) -> None:
    other = folder.with_name("notes-private")
    other.mkdir()
    (other / "a.md").write_text("canary\n")
    with pytest.raises(FolderError):
        cat(corpus, str(other / "a.md"))


@pytest.mark.parametrize(("name", "why"), [(".env", "credential"), ("logo.png", "not text")])
def test_what_the_listing_leaves_out_is_not_shown(corpus: Corpus, folder: Path, name: str, why: str) -> None:
    with pytest.raises(FolderError, match=why):
        cat(corpus, str(folder / name))


def test_an_ignored_file_is_not_shown(corpus: Corpus, folder: Path) -> None:
    (folder / ".indexignore").write_text("garden.md\n")
    with pytest.raises(FolderError, match="no indexed file"):
        cat(corpus, str(folder / "garden.md"))


def test_what_is_on_disk_is_shown_not_what_is_in_the_index(corpus: Corpus, folder: Path) -> None:
    (folder / "garden.md").write_bytes(b"\xef\xbb\xbfnew\r\nlines\r")
    assert cat(corpus, "garden.md").text == "new\nlines"
    stored = stored_text(corpus, find_file(corpus, "garden.md"))
    assert stored is not None
    assert stored.text.startswith("# Garden")


def test_a_file_without_text_says_why(corpus: Corpus, folder: Path) -> None:
    (folder / "empty.md").write_text("")
    with pytest.raises(FolderError, match="no text in it"):
        cat(corpus, "empty.md")


def test_text_of_is_the_document(corpus: Corpus) -> None:
    document = text_of(corpus, find_file(corpus, "garden.md"))
    assert isinstance(document, Document)
    assert document.language == "markdown"
