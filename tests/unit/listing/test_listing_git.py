"""What a folder in a git repository holds."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from semantic_search.errors import ListingError
from semantic_search.listing import ListingRules, list_files
from semantic_search.types import Skip

Git = Callable[..., str]
Tree = dict[str, str | bytes]


def write(folder: Path, files: Tree) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def paths(folder: Path, rules: ListingRules | None = None) -> list[str]:
    return [source.path for source in list_files(str(folder), rules or ListingRules()).files]


def reasons(folder: Path, rules: ListingRules | None = None) -> dict[str, Skip]:
    listing = list_files(str(folder), rules or ListingRules())
    return {skipped.source.path: skipped.reason for skipped in listing.skipped}


def test_tracked_and_untracked_files_are_listed_in_path_order(repository: Path, git: Git) -> None:
    write(repository, {"b.py": "b", "a/z.md": "z", "a.txt": "a", ".gitignore": "*.log\n", "x.log": "x"})
    git(repository, "add", "b.py")
    assert paths(repository) == [".gitignore", "a.txt", "a/z.md", "b.py"]


def test_a_listed_file_carries_its_stat(repository: Path) -> None:
    write(repository, {"a.txt": "four"})
    (source,) = list_files(str(repository), ListingRules()).files
    status = os.lstat(repository / "a.txt")
    assert source.stamp == (4, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    assert source.absolute == str(repository / "a.txt")


def test_git_01_negated_patterns_are_gits(repository: Path) -> None:
    ignore = "wp-content/plugins/*\n!wp-content/plugins/app\n"
    write(
        repository,
        {".gitignore": ignore, "wp-content/plugins/app/a.php": "a", "wp-content/plugins/other/b.php": "b"},
    )
    assert paths(repository) == [".gitignore", "wp-content/plugins/app/a.php"]


def test_git_02_ignore_files_of_other_tools_do_not_count(repository: Path) -> None:
    write(repository, {".dockerignore": "*\n", ".prettierignore": "*\n", "main.go": "package main"})
    assert "main.go" in paths(repository)


def test_git_02_a_folder_without_files_is_told(repository: Path) -> None:
    write(repository, {".gitignore": "*\n"})
    listing = list_files(str(repository), ListingRules())
    assert listing.files == ()
    assert any("holds no file" in note for note in listing.notes)


def test_git_04_dubious_ownership_fails_closed_and_names_the_command(
    repository: Path, fake_git: Callable[[str], None]
) -> None:
    write(repository, {".gitignore": ".hidden\n", ".hidden": "secret", "a.txt": "a"})
    fake_git('GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec "$GIT" "$@"')
    with pytest.raises(ListingError, match=r"git config --global --add safe\.directory") as caught:
        list_files(str(repository), ListingRules())
    assert str(caught.value).endswith(f"safe.directory {repository}")


def test_git_05_hostile_fsmonitor_and_hooks_do_not_run(repository: Path, git: Git, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    program = tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "post-checkout", "pre-commit"):
        shutil.copy(program, hooks / hook)
    write(repository, {"a.txt": "a"})
    git(repository, "add", ".")
    git(repository, "config", "core.fsmonitor", str(program))
    git(repository, "config", "core.hooksPath", str(hooks))
    assert paths(repository) == ["a.txt"]
    assert not marker.exists()


def test_git_05_a_missing_object_is_not_fetched_by_a_program_of_the_repository(
    repository: Path, git: Git, tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    write(repository, {"sub/.gitignore": "*.log\n", "sub/a.txt": "a", "top.txt": "t"})
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    blob = git(repository, "rev-parse", "HEAD:sub/.gitignore").strip()
    git(repository, "update-index", "--skip-worktree", "sub/.gitignore")
    (repository / "sub/.gitignore").unlink()
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    git(repository, "config", "core.repositoryformatversion", "1")
    git(repository, "config", "extensions.partialClone", "origin")
    git(repository, "config", "remote.origin.promisor", "true")
    git(repository, "config", "remote.origin.url", f"ext::sh -c 'touch {marker}'")
    git(repository, "config", "protocol.ext.allow", "always")
    write(repository, {"sub/new.txt": "n"})
    try:
        listed = paths(repository)
    except ListingError:
        listed = []
    assert not marker.exists()
    assert listed in ([], ["sub/a.txt", "sub/new.txt", "top.txt"])


@pytest.mark.parametrize("elsewhere", ["/etc", "../..", "../../.."])
def test_git_06_hostile_worktree_lists_nothing_from_outside(
    repository: Path, git: Git, tmp_path: Path, elsewhere: str
) -> None:
    write(tmp_path, {"outside.txt": "o"})
    write(repository, {"a.txt": "a", ".gitignore": "*.log\n", "b.log": "b"})
    git(repository, "config", "core.worktree", elsewhere)
    listing = list_files(str(repository), ListingRules())
    assert [source.path for source in listing.files] == [".gitignore", "a.txt"]
    assert any("core.worktree" in note for note in listing.notes)


def test_git_06_hostile_worktree_of_a_nested_repository(repository: Path, git: Git) -> None:
    write(repository, {"a.txt": "a", "nested/n.txt": "n"})
    git(repository / "nested", "init", "-q")
    git(repository / "nested", "config", "core.worktree", "/etc")
    listing = list_files(str(repository), ListingRules())
    assert [source.path for source in listing.files] == ["a.txt", "nested/n.txt"]
    assert any("core.worktree" in note for note in listing.notes)


def test_git_07_the_variables_of_a_hook_do_not_lead_elsewhere(
    repository: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    write(other, {"other.txt": "o"})
    git(other, "add", ".")
    write(repository, {"a.txt": "a"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(repository))
    assert paths(repository) == ["a.txt"]


def test_git_10_linked_worktrees_are_not_listed_twice(repository: Path, git: Git) -> None:
    write(repository, {"a.txt": "a"})
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "first")
    git(repository, "worktree", "add", "-q", ".claude/worktrees/w1")
    listing = list_files(str(repository), ListingRules())
    assert [source.path for source in listing.files] == ["a.txt"]
    assert any(".claude/worktrees/w1" in note for note in listing.notes)
    assert paths(repository / ".claude/worktrees/w1") == ["a.txt"]


def test_git_10_the_worktrees_of_a_bare_repository_are_listed_once(tmp_path: Path, git: Git) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "--bare", ".bare")
    seed = tmp_path / "seed"
    git(tmp_path, "init", "-q", "seed")
    write(seed, {"a.txt": "a"})
    git(seed, "add", ".")
    git(seed, "commit", "-qm", "first")
    git(seed, "push", "-q", str(folder / ".bare"), "HEAD:refs/heads/main")
    git(folder / ".bare", "worktree", "add", "-q", "../main", "main")
    git(folder / ".bare", "worktree", "add", "-q", "-b", "topic", "../topic", "main")
    listing = list_files(str(folder), ListingRules())
    assert [source.path for source in listing.files] == ["main/a.txt"]
    assert any("topic" in note for note in listing.notes)


@pytest.mark.parametrize("pattern", ["*", "notes/", "/notes"])
def test_git_11_a_folder_that_an_outer_repository_ignores_is_walked(
    repository: Path, git: Git, pattern: str
) -> None:
    write(repository, {".gitignore": f"{pattern}\n", "notes/a.md": "a", "notes/.gitignore": "*.tmp\n"})
    write(repository, {"notes/b.tmp": "b", "notes/deep/c.md": "c"})
    listing = list_files(str(repository / "notes"), ListingRules())
    assert [source.path for source in listing.files] == [".gitignore", "a.md", "deep/c.md"]
    assert any("is ignored by the repository" in note for note in listing.notes)


def test_git_12_a_merge_conflict_lists_a_path_once(repository: Path, git: Git) -> None:
    write(repository, {"a.txt": "base\n"})
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "base")
    git(repository, "checkout", "-qb", "other")
    write(repository, {"a.txt": "other\n"})
    git(repository, "commit", "-qam", "other")
    git(repository, "checkout", "-q", "-")
    write(repository, {"a.txt": "ours\n"})
    git(repository, "commit", "-qam", "ours")
    with pytest.raises(Exception, match="merge"):
        git(repository, "merge", "other")
    assert git(repository, "ls-files", "--unmerged").count("a.txt") == 3
    assert paths(repository) == ["a.txt"]


def test_git_12_deleted_and_sparse_files_drop_out(repository: Path, git: Git) -> None:
    write(repository, {"a.txt": "a", "gone.txt": "g", "kept/b.txt": "b", "sparse/c.txt": "c"})
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    git(repository, "sparse-checkout", "set", "kept")
    (repository / "gone.txt").unlink()
    listing = list_files(str(repository), ListingRules())
    assert [source.path for source in listing.files] == ["a.txt", "kept/b.txt"]
    assert (listing.skipped, listing.unread) == ((), ())


def test_git_13_a_corrupt_index_fails_closed(repository: Path) -> None:
    write(repository, {"a.txt": "a", ".gitignore": "*.log\n", "b.log": "b"})
    (repository / ".git/index").write_bytes(b"garbage, and no index at all")
    with pytest.raises(ListingError, match="git status"):
        list_files(str(repository), ListingRules())


@pytest.mark.parametrize("damage", ["HEAD", "empty", "file"])
def test_git_13_a_broken_repository_fails_closed(repository: Path, damage: str) -> None:
    write(repository, {"a.txt": "a"})
    if damage == "HEAD":
        (repository / ".git/HEAD").unlink()
    else:
        shutil.rmtree(repository / ".git")
        if damage == "empty":
            (repository / ".git").mkdir()
        else:
            (repository / ".git").write_text("gitdir: /nowhere/at/all\n")
    with pytest.raises(ListingError, match=r"\.git"):
        list_files(str(repository), ListingRules())


def test_git_13_a_broken_nested_repository_leaves_the_rest(repository: Path, git: Git) -> None:
    write(repository, {"a.txt": "a", "nested/n.txt": "n"})
    git(repository / "nested", "init", "-q")
    (repository / "nested/.git/index").write_bytes(b"garbage, and no index at all")
    listing = list_files(str(repository), ListingRules())
    assert [source.path for source in listing.files] == ["a.txt"]
    assert listing.unread == ("nested",)
    assert any("nested" in note and "git status" in note for note in listing.notes)


def test_git_14_tracked_files_stay_when_a_pattern_matches(repository: Path, git: Git) -> None:
    write(repository, {"keep.log": "k"})
    git(repository, "add", ".")
    write(repository, {".gitignore": "*.log\n", "other.log": "o"})
    assert paths(repository) == [".gitignore", "keep.log"]


def test_git_17_without_git_a_repository_is_not_listed(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repository, {"a.txt": "a"})
    write(tmp_path / "plain", {"b.txt": "b"})
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(ListingError, match="Install git"):
        list_files(str(repository), ListingRules())
    assert paths(tmp_path / "plain") == ["b.txt"]


def test_git_17_a_git_that_hangs_is_ended_with_its_children(
    repository: Path, fake_git: Callable[[str], None]
) -> None:
    write(repository, {"a.txt": "a"})
    fake_git("sleep 600")
    with pytest.raises(ListingError, match="did not finish"):
        list_files(str(repository), ListingRules(git_timeout=0.2))


def test_a_subdirectory_of_a_repository(repository: Path, git: Git) -> None:
    write(repository, {"top.txt": "t", "sub/a.txt": "a", "sub/b.log": "b", ".gitignore": "*.log\n"})
    git(repository, "add", ".")
    assert paths(repository / "sub") == ["a.txt"]


def test_submodules_and_nested_repositories_have_their_own_rules(
    repository: Path, git: Git, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q")
    write(library, {"lib.c": "c", ".gitignore": "*.tmp\n"})
    git(library, "add", ".")
    git(library, "commit", "-qm", "x")
    write(repository, {".gitignore": "*.log\n", "a.log": "a"})
    git(repository, "submodule", "--quiet", "add", str(library), "libs/library")
    write(repository, {"libs/library/x.tmp": "x", "libs/library/y.log": "y"})
    write(repository, {"nested/n.txt": "n", "nested/n.log": "l"})
    git(repository / "nested", "init", "-q")
    assert paths(repository) == [
        ".gitignore",
        ".gitmodules",
        "libs/library/.gitignore",
        "libs/library/lib.c",
        "libs/library/y.log",
        "nested/n.log",
        "nested/n.txt",
    ]


def test_a_submodule_that_lost_its_repository_is_walked(repository: Path, git: Git) -> None:
    write(repository, {"sub/a.txt": "a"})
    git(repository / "sub", "init", "-q")
    git(repository / "sub", "add", ".")
    git(repository / "sub", "commit", "-qm", "x")
    git(repository, "add", "sub")
    shutil.rmtree(repository / "sub/.git")
    assert paths(repository) == ["sub/a.txt"]


def test_indexignore_applies_beside_git(repository: Path) -> None:
    write(
        repository,
        {
            ".indexignore": "*.gen\n/docs/old/\n",
            "a.gen": "a",
            "docs/old/x.md": "x",
            "docs/new.md": "n",
            "sub/.indexignore": "local.md\n!keep.gen\n",
            "sub/local.md": "l",
            "sub/keep.gen": "k",
            "local.md": "l",
        },
    )
    assert paths(repository) == ["docs/new.md", "local.md", "sub/keep.gen"]


def test_filenames_01_names_are_not_quoted(repository: Path, git: Git) -> None:
    names = [
        "doc/fänny_dirname/README.md",
        "tab\there.md",
        'quo"te.md',
        "new\nline.md",
        "back\\slash.md",
        "-rf",
    ]
    write(repository, dict.fromkeys(names, "x"))
    git(repository, "add", "--", *names[:2])
    assert paths(repository) == sorted(names)


def test_filenames_02_names_that_are_not_utf8_round_trip(repository: Path) -> None:
    raw = os.fsencode(repository) + b"/bad\xff.txt"
    with open(raw, "wb") as file:
        file.write(b"x")
    write(repository, {"good.txt": "g"})
    listed = list_files(str(repository), ListingRules()).files
    assert [os.fsencode(source.absolute) for source in listed] == [raw, os.fsencode(repository / "good.txt")]


def test_filenames_09_names_that_differ_by_case(repository: Path) -> None:
    write(repository, {"README.md": "a"})
    write(repository, {"readme.md": "b"})
    assert paths(repository) == sorted(set(os.listdir(repository)) - {".git"})


def test_symlinks_01_links_are_told_and_not_followed(repository: Path, git: Git, tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.md": "s"})
    write(repository, {"a.md": "a"})
    (repository / "leak.md").symlink_to(tmp_path / "outside/secret.md")
    (repository / "leaks").symlink_to(tmp_path / "outside")
    git(repository, "add", "leak.md")
    assert paths(repository) == ["a.md"]
    assert reasons(repository) == {"leak.md": Skip.SYMLINK, "leaks": Skip.SYMLINK}


def test_symlinks_01_a_tracked_directory_replaced_by_a_link(
    repository: Path, git: Git, tmp_path: Path
) -> None:
    write(tmp_path, {"outside/f.md": "secret"})
    write(repository, {"d/f.md": "mine", "a.md": "a"})
    git(repository, "add", ".")
    shutil.rmtree(repository / "d")
    (repository / "d").symlink_to(tmp_path / "outside")
    assert paths(repository) == ["a.md"]
    assert reasons(repository) == {"d": Skip.SYMLINK}


def test_symlinks_03_a_linked_folder_is_listed_by_its_real_path(repository: Path, tmp_path: Path) -> None:
    write(repository, {"a.md": "a"})
    (tmp_path / "link").symlink_to(repository)
    (source,) = list_files(str(tmp_path / "link"), ListingRules()).files
    assert source.folder == str(repository)


def test_permissions_01_an_unreadable_directory_is_unread(
    repository: Path, git: Git, unprivileged: Callable[..., str]
) -> None:
    write(repository, {"a.md": "a", "closed/tracked.md": "t", "top/half/b.md": "b"})
    git(repository, "add", "closed")
    for name in ("closed", "top/half"):
        (repository / name).chmod(0)
    try:
        out = unprivileged(
            "import sys; from semantic_search.listing import *\n"
            "l = list_files(sys.argv[1], ListingRules())\n"
            "print([f.path for f in l.files], l.unread)",
            str(repository),
        )
    finally:
        for name in ("closed", "top/half"):
            (repository / name).chmod(0o755)
    assert out == "['a.md'] ('closed', 'top/half')\n"


def test_permissions_01_a_gitignore_that_cannot_be_read_closes_its_directory(
    repository: Path, unprivileged: Callable[..., str]
) -> None:
    write(repository, {"a.md": "a", "sub/.gitignore": "private.md\n", "sub/private.md": "p"})
    (repository / "sub/.gitignore").chmod(0)
    out = unprivileged(
        "import sys; from semantic_search.listing import *\n"
        "l = list_files(sys.argv[1], ListingRules())\n"
        "print([f.path for f in l.files], l.unread)",
        str(repository),
    )
    assert out == "['a.md'] ('sub',)\n"


def test_roots_04_folders_of_other_entries_are_left_out(repository: Path, tmp_path: Path) -> None:
    write(repository, {"a.md": "a", "inner/b.md": "b", "inner2/c.md": "c", "own.json": "{}"})
    excluded = (f"{repository}/inner/", f"{repository}/own.json", str(tmp_path), str(repository))
    assert paths(repository, ListingRules(excluded=excluded)) == ["a.md", "inner2/c.md"]


def test_roots_04_a_nested_repository_of_another_entry(repository: Path, git: Git) -> None:
    write(repository, {"a.md": "a", "inner/b.md": "b"})
    git(repository / "inner", "init", "-q")
    assert paths(repository, ListingRules(excluded=(f"{repository}/inner",))) == ["a.md"]


def test_fsobjects_05_our_own_index_is_left_out(repository: Path, tmp_path: Path) -> None:
    write(repository, {"a.md": "a", ".idx/data.json": "{}"})
    (tmp_path / "linked").symlink_to(repository)
    assert paths(repository, ListingRules(excluded=(f"{tmp_path}/linked/.idx",))) == ["a.md"]


def test_security_09_git_directories_are_never_listed(repository: Path, git: Git) -> None:
    write(repository, {"a.md": "a", ".git-credentials": "https://me:secret@example.org", "nested/b.md": "b"})
    git(repository / "nested", "init", "-q")
    listing = list_files(str(repository), ListingRules())
    assert [source.path for source in listing.files] == ["a.md", "nested/b.md"]
    assert reasons(repository) == {".git-credentials": Skip.SECRET}
    with pytest.raises(Exception, match=r"in a \.git directory"):
        list_files(str(repository / ".git"), ListingRules())
