from __future__ import annotations

import os
from pathlib import Path

import pytest

from semantic_search.errors import FolderError
from semantic_search.folders import (
    add_folders,
    check_folder,
    configured_folders,
    find_folder,
    is_inside,
    name_folders,
    remove_folders,
)
from semantic_search.settings import load_settings, set_key


def made(*paths: Path) -> list[str]:
    for path in paths:
        path.mkdir(parents=True, exist_ok=True)
    return [str(path) for path in paths]


def names() -> list[str]:
    return [folder.name for folder in configured_folders(load_settings())]


def test_add_stores_absolute_resolved_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "notes")
    monkeypatch.chdir(tmp_path)
    (added,) = add_folders(load_settings(), ["notes/../notes/"])
    assert added.new
    assert load_settings().roots == (os.path.realpath(tmp_path / "notes"),)


def test_symlinks_03_one_folder_through_two_names_is_one(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    made(real)
    link.symlink_to(real)
    assert [a.new for a in add_folders(load_settings(), [str(link), str(real)])] == [True, False]
    assert not add_folders(load_settings(), [str(link)])[0].new
    assert load_settings().roots == (os.path.realpath(real),)


def test_one_bad_path_adds_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    good = made(tmp_path / "good")
    for bad, message in (("missing", "no such folder"), ("file", "not a folder")):
        with pytest.raises(FolderError, match=message):
            add_folders(load_settings(), [*good, str(tmp_path / bad)])
    assert load_settings().roots == ()


@pytest.mark.parametrize("path", ["/", "//", "~"])
def test_roots_02_a_drive_or_a_home_needs_force(path: str, own_environment: Path) -> None:
    with pytest.raises(FolderError, match="--force"):
        check_folder(path)
    assert check_folder(path, force=True) == os.path.realpath(os.path.expanduser(path))


def test_the_parent_of_a_home_is_too_wide_too(own_environment: Path) -> None:
    with pytest.raises(FolderError, match="--force"):
        check_folder(str(own_environment.parent))


def test_nesting_is_told(tmp_path: Path) -> None:
    outer, inner = made(tmp_path / "p", tmp_path / "p" / "c")
    add_folders(load_settings(), [outer])
    (added,) = add_folders(load_settings(), [inner])
    assert added.inside == os.path.realpath(outer)
    (again,) = add_folders(load_settings(), [outer])
    assert again.around == (os.path.realpath(inner),)


def test_folders_of_one_base_name_get_distinct_names(tmp_path: Path) -> None:
    add_folders(load_settings(), made(tmp_path / "x" / "api", tmp_path / "y" / "api"))
    assert names() == ["api", "y/api"]


def test_names_are_distinct_whatever_the_paths() -> None:
    paths = ["/a/api", "/b/api", "/c/b/api", "/api", "/"]
    found = name_folders([*paths, "/a/api"])
    assert [folder.path for folder in found] == paths
    assert len({folder.name for folder in found}) == len(paths)


def test_remove_by_name_by_path_and_through_a_link(tmp_path: Path) -> None:
    paths = made(tmp_path / "one", tmp_path / "two", tmp_path / "three")
    (tmp_path / "link").symlink_to(paths[2])
    add_folders(load_settings(), paths)
    remove_folders(load_settings(), ["one", paths[1], str(tmp_path / "link")])
    assert names() == []


def test_removing_what_is_not_there_removes_nothing(tmp_path: Path) -> None:
    add_folders(load_settings(), made(tmp_path / "one"))
    with pytest.raises(FolderError, match="There are: one"):
        remove_folders(load_settings(), ["one", "two"])
    assert names() == ["one"]


def test_a_folder_that_is_gone_can_be_removed(tmp_path: Path) -> None:
    (path,) = made(tmp_path / "gone")
    add_folders(load_settings(), [path])
    os.rmdir(path)
    assert configured_folders(load_settings())[0].missing
    remove_folders(load_settings(), ["gone"])
    assert names() == []


def test_a_root_written_by_hand_is_resolved_once(tmp_path: Path) -> None:
    (path,) = made(tmp_path / "a")
    set_key(load_settings().paths.config_file, "defaultRoots", [path, path + "/", path + "/../a"])
    assert names() == ["a"]
    remove_folders(load_settings(), ["a"])
    assert load_settings().roots == ()


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [
        ("/a/b", "/a/b", True),
        ("/a/b/c", "/a/b", True),
        ("/a/bc", "/a/b", False),
        ("/a", "/a/b", False),
        ("/a", "/", True),
        ("/a/b", "/a/b/", True),
    ],
)
def test_roots_01_inside_is_by_whole_parts(path: str, folder: str, inside: bool) -> None:
    assert is_inside(path, folder) is inside


def test_find_by_name_goes_before_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = made(tmp_path / "x" / "docs", tmp_path / "docs")
    monkeypatch.chdir(tmp_path)
    folders = name_folders(os.path.realpath(path) for path in paths)
    assert find_folder(folders, "docs").path == os.path.realpath(paths[0])
    assert find_folder(folders, "./docs").path == os.path.realpath(paths[1])
