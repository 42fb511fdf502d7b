from __future__ import annotations

from pathlib import Path

from semantic_search.pruning import to_forget
from semantic_search.stores import Known
from semantic_search.types import Skip


def known(*paths: str) -> dict[str, Known]:
    return {path: Known((1, 1, 1, 1), 1, f"hash of {path}", None, 1) for path in paths}


def test_vanished_files_are_forgotten(tmp_path: Path) -> None:
    assert to_forget(str(tmp_path), known("a", "b"), {"b"}, (), (), force=False) == (["a"], "")


def test_roots_07_most_of_a_folder_vanishing_is_not_believed(tmp_path: Path) -> None:
    rows = known(*(f"{n}.md" for n in range(30)))
    gone, refusal = to_forget(str(tmp_path), rows, set(), (), (), force=False)
    assert gone == []
    assert "30 of 30 files" in refusal
    assert "--force" in refusal
    assert len(to_forget(str(tmp_path), rows, set(), (), (), force=True)[0]) == 30


def test_half_is_believed(tmp_path: Path) -> None:
    rows = known(*(f"{n}.md" for n in range(30)))
    listed = {f"{n}.md" for n in range(15)}
    assert len(to_forget(str(tmp_path), rows, listed, (), (), force=False)[0]) == 15


def test_files_that_turned_up_elsewhere_are_not_lost(tmp_path: Path) -> None:
    rows = known(*(f"{n}.md" for n in range(30)))
    hashes = {row.sha256 for row in rows.values()}
    gone, refusal = to_forget(str(tmp_path), rows, set(), (), hashes, force=False)
    assert len(gone) == 30
    assert refusal == ""


def test_files_that_are_there_but_no_longer_listed_always_go(tmp_path: Path) -> None:
    for n in range(30):
        (tmp_path / f"{n}.md").write_text("x")
    rows = known(*(f"{n}.md" for n in range(30)))
    assert len(to_forget(str(tmp_path), rows, set(), (), (), force=False)[0]) == 30


def test_fsobjects_06_nothing_below_an_unread_directory_goes(tmp_path: Path) -> None:
    rows = known("sub/a", "sub/deep/b", "subway/c", "d")
    assert to_forget(str(tmp_path), rows, set(), ("sub",), (), force=False)[0] == ["d", "subway/c"]
    assert to_forget(str(tmp_path), rows, set(), ("",), (), force=False)[0] == []


def test_fsobjects_04_a_directory_that_became_a_file(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("now a file")
    assert to_forget(str(tmp_path), known("d/x.md"), {"d"}, (), (), force=False)[0] == ["d/x.md"]


def test_rows_without_passages_do_not_count_as_lost(tmp_path: Path) -> None:
    rows = {f"{n}.png": Known((1, 1, 1, 1), 1, "", Skip.BINARY, 0) for n in range(50)}
    gone, refusal = to_forget(str(tmp_path), rows, set(), (), (), force=False)
    assert len(gone) == 50
    assert refusal == ""
