"""What a folder that is no git repository holds, and what names and sizes decide."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from semantic_search.errors import FolderError
from semantic_search.listing import WALK_IGNORE, ListingRules, list_files
from semantic_search.types import Listing, Skip

Git = Callable[..., str]


def write(folder: Path, *names: str, **contents: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contents.get(name, "text\n"))


def ignore(folder: Path, text: str, name: str = ".gitignore") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def look(folder: Path, **rules: Any) -> Listing:
    return list_files(str(folder), ListingRules(**rules))


def paths(folder: Path, **rules: Any) -> list[str]:
    return [source.path for source in look(folder, **rules).files]


def reasons(folder: Path, **rules: Any) -> dict[str, Skip]:
    return {skipped.source.path: skipped.reason for skipped in look(folder, **rules).skipped}


def test_files_come_in_path_order(tmp_path: Path) -> None:
    write(tmp_path, "b/c.md", "b.md", "a.md", "b/a/d.md", ".hidden/e.md")
    assert paths(tmp_path) == sorted(["b/c.md", "b.md", "a.md", "b/a/d.md", ".hidden/e.md"])


@pytest.mark.parametrize(
    "name", ["node_modules", "dist", "__pycache__", ".venv", "target", ".next", "vendor"]
)
def test_built_in_directories_are_not_walked(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"{name}/x.js", f"deep/{name}/y.js", "a.md", f"files/{name}.md")
    assert paths(tmp_path) == ["a.md", f"files/{name}.md"]
    assert f"{name}/" in WALK_IGNORE


def test_the_list_of_directories_is_a_setting(tmp_path: Path) -> None:
    write(tmp_path, "node_modules/x.js", "mine/y.js")
    assert paths(tmp_path, walk_ignore=("mine/",)) == ["node_modules/x.js"]


def test_nested_gitignore_files_are_honoured(tmp_path: Path) -> None:
    write(tmp_path, "a.log", "keep.log", "sub/a.log", "sub/b.tmp", "b.tmp", "sub/deep/c.tmp")
    ignore(tmp_path, "*.log\n!keep.log\n")
    ignore(tmp_path / "sub", "/b.tmp\n!a.log\n")
    assert paths(tmp_path) == [
        ".gitignore",
        "b.tmp",
        "keep.log",
        "sub/.gitignore",
        "sub/a.log",
        "sub/deep/c.tmp",
    ]


def test_a_file_below_an_ignored_directory_stays_ignored(tmp_path: Path) -> None:
    write(tmp_path, "out-of/a.md", "b.md")
    ignore(tmp_path, "out-of/\n!out-of/a.md\n")
    assert paths(tmp_path) == [".gitignore", "b.md"]


def test_a_negated_directory_does_not_bring_its_files_back(tmp_path: Path) -> None:
    write(tmp_path, "logs/a.log", "logs/a.md")
    ignore(tmp_path, "*.log\n!logs/\n")
    assert paths(tmp_path) == [".gitignore", "logs/a.md"]


def test_indexignore_and_the_patterns_of_the_config(tmp_path: Path) -> None:
    config = tmp_path / "config"
    ignore(config, "*.everywhere\n", ".indexignore")
    folder = tmp_path / "folder"
    write(folder, "a.md", "b.gen", "c.everywhere", "sub/d.gen", "sub/e.md", "sub/f.md")
    ignore(folder / "sub", "/e.md\n!d.gen\n", ".indexignore")
    rules = {"ignore_patterns": ("*.gen",), "config_directory": str(config)}
    assert paths(folder, **rules) == ["a.md", "sub/d.gen", "sub/f.md"]


def test_indexignore_reaches_into_nested_repositories(tmp_path: Path, git: Git) -> None:
    write(tmp_path, "repo/a.gen", "repo/b.md", "repo/sub/c.md")
    git(tmp_path / "repo", "init", "-q")
    ignore(tmp_path, "*.gen\n/repo/sub/\n", ".indexignore")
    assert paths(tmp_path) == ["repo/b.md"]


def test_a_bad_line_and_a_file_that_is_no_text_are_notes(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "sub/b.md", "b.tmp")
    ignore(tmp_path, "[unclosed\n*.tmp\nend\\\n", ".indexignore")
    (tmp_path / "sub/.gitignore").write_bytes(b"\x00\x01\x02")
    listing = look(tmp_path)
    assert [source.path for source in listing.files] == ["a.md", "sub/.gitignore", "sub/b.md"]
    assert [note for note in listing.notes if "line 1" in note and "not closed" in note]
    assert [note for note in listing.notes if "line 3" in note]
    assert [note for note in listing.notes if "is not text" in note]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_an_ignore_file_saved_by_another_editor(tmp_path: Path, encoding: str) -> None:
    write(tmp_path, "a.md", "звіт.md", "b.tmp")
    (tmp_path / ".indexignore").write_bytes("*.tmp\r\nзвіт.md\r\n".encode(encoding))
    assert paths(tmp_path) == ["a.md"]


def test_an_ignore_file_that_is_a_link_or_huge_is_a_note(tmp_path: Path) -> None:
    write(tmp_path, "rules.txt", "sub/a.md")
    (tmp_path / ".indexignore").symlink_to(tmp_path / "rules.txt")
    ignore(tmp_path / "sub", "#" * 1_000_001, ".indexignore")
    listing = look(tmp_path)
    assert [source.path for source in listing.files] == ["rules.txt", "sub/a.md"]
    assert [note for note in listing.notes if "symbolic link" in note]
    assert [note for note in listing.notes if "larger than" in note]


def test_repositories_on_the_way_are_asked_of_git(tmp_path: Path, git: Git) -> None:
    write(
        tmp_path,
        "one/a.md",
        "one/a.log",
        "one/build/tracked.md",
        "group/two/b.md",
        "plain/c.log",
        "build/d.md",
    )
    for repository in ("one", "group/two", "build"):
        git(tmp_path / repository, "init", "-q")
    ignore(tmp_path / "one", "*.log\n")
    assert paths(tmp_path) == [
        "build/d.md",
        "group/two/b.md",
        "one/.gitignore",
        "one/a.md",
        "one/build/tracked.md",
        "plain/c.log",
    ]


def test_git_13_a_broken_repository_on_the_way_is_unread(tmp_path: Path, git: Git) -> None:
    write(tmp_path, "good/a.md", "bad/b.md", "c.md")
    for repository in ("good", "bad"):
        git(tmp_path / repository, "init", "-q")
    (tmp_path / "bad/.git/index").write_bytes(b"garbage, and no index at all")
    listing = look(tmp_path)
    assert [source.path for source in listing.files] == ["c.md", "good/a.md"]
    assert listing.unread == ("bad",)


def test_git_10_worktrees_beside_their_repository(tmp_path: Path, git: Git) -> None:
    write(tmp_path, "project/a.md")
    git(tmp_path / "project", "init", "-q")
    git(tmp_path / "project", "add", ".")
    git(tmp_path / "project", "commit", "-qm", "x")
    git(tmp_path / "project", "worktree", "add", "-q", "../a-topic")
    assert paths(tmp_path) == ["project/a.md"]


def test_security_09_bare_repositories_are_not_walked(tmp_path: Path, git: Git) -> None:
    write(tmp_path, "a.md")
    git(tmp_path, "init", "-q", "--bare", "store.git")
    assert paths(tmp_path) == ["a.md"]


def test_binary_files_by_extension(tmp_path: Path) -> None:
    write(tmp_path, "a.PNG", "b.tar.gz", "c.mine", "d.pdf", "e.md", "f.docx")
    assert paths(tmp_path, binary_extensions=frozenset(("MINE", ".pdf"))) == ["d.pdf", "e.md", "f.docx"]
    assert set(reasons(tmp_path, binary_extensions=frozenset(("*.mine",))).values()) == {Skip.BINARY}


@pytest.mark.parametrize("name", ["big.log", "big.pdf"])
def test_content_10_a_sparse_file_is_too_large_by_its_stat(tmp_path: Path, name: str) -> None:
    write(tmp_path, name)
    os.truncate(tmp_path / name, 10 << 30)
    assert reasons(tmp_path) == {name: Skip.TOO_LARGE}


def test_the_limits_are_inclusive_and_documents_have_their_own(tmp_path: Path) -> None:
    for name, size in (("a.md", 10), ("b.md", 11), ("c.PDF", 20), ("d.pdf", 21)):
        (tmp_path / name).write_bytes(b"x" * size)
    rules = {"max_file_bytes": 10, "max_document_bytes": 20}
    assert paths(tmp_path, **rules) == ["a.md", "c.PDF"]
    assert reasons(tmp_path, **rules) == {"b.md": Skip.TOO_LARGE, "d.pdf": Skip.TOO_LARGE}


SECRETS = [
    ".env",
    ".env.production",
    ".env-local",
    "prod.env",
    ".envrc",
    "id_rsa",
    "id_ed25519.bak",
    "server.key",
    "cert.pem",
    "store.jks",
    ".netrc",
    ".pgpass",
    "secrets.yaml",
    "credentials.json",
    "client_secret_123.json",
    ".aws/credentials",
    ".ssh/config",
    ".docker/config.json",
    "terraform.tfstate",
]
NO_SECRETS = [
    ".env.example",
    ".environment",
    "id_rsa.pub",
    "secrets.py",
    "credentials.go",
    "config.json",
    "keys.md",
    "id_card.md",
]


def test_secrets_by_name(tmp_path: Path) -> None:
    write(tmp_path, *SECRETS, *NO_SECRETS)
    assert paths(tmp_path) == sorted(NO_SECRETS)
    assert reasons(tmp_path) == dict.fromkeys(SECRETS, Skip.SECRET)


def test_secrets_can_be_indexed(tmp_path: Path) -> None:
    write(tmp_path, ".env", "id_rsa")
    assert paths(tmp_path, index_secrets=True) == [".env", "id_rsa"]


def test_special_files_are_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        place = os.open(tmp_path, os.O_RDONLY)
        try:
            server.bind(f"/proc/self/fd/{place}/socket" if os.path.isdir("/proc/self/fd") else "socket")
        finally:
            os.close(place)
        found = reasons(tmp_path)
    assert found == {"pipe.md": Skip.SPECIAL, "socket": Skip.SPECIAL}


def test_symlinks_01_links_are_told_except_in_ignored_directories(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "node_modules/b.md")
    for name in ("link.md", "loop", "node_modules/link", "dangling"):
        (tmp_path / name).symlink_to({"loop": ".", "dangling": "nowhere"}.get(name, "/etc/passwd"))
    assert paths(tmp_path) == ["a.md"]
    assert reasons(tmp_path) == dict.fromkeys(("link.md", "loop", "dangling"), Skip.SYMLINK)


def test_fsobjects_04_a_directory_replaced_by_a_file(tmp_path: Path) -> None:
    write(tmp_path, "d/x.md")
    assert paths(tmp_path) == ["d/x.md"]
    (tmp_path / "d/x.md").unlink()
    (tmp_path / "d").rmdir()
    write(tmp_path, "d")
    assert paths(tmp_path) == ["d"]


def test_fsobjects_06_an_io_error_leaves_one_directory_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md", "bad/b.md", "bad/deep/c.md", "good/d.md")
    scandir = os.scandir

    def failing(path: str) -> Any:
        if path.endswith("/bad"):
            raise OSError(errno.EIO, "Input/output error")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", failing)
    listing = look(tmp_path)
    assert [source.path for source in listing.files] == ["a.md", "good/d.md"]
    assert listing.unread == ("bad",)


def test_fsobjects_03_what_vanishes_during_the_walk_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md", "gone/b.md")
    scandir = os.scandir

    def vanishing(path: str) -> Any:
        if path.endswith("/gone"):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", vanishing)
    assert look(tmp_path) == look(tmp_path, excluded=(f"{tmp_path}/gone",))


def test_permissions_01_an_unreadable_directory_is_unread(
    tmp_path: Path, unprivileged: Callable[..., str]
) -> None:
    write(tmp_path, "a.md", "closed/b.md", "sub/closed/c.md", "sub/d.md")
    for name in ("closed", "sub/closed"):
        (tmp_path / name).chmod(0)
    try:
        out = unprivileged(
            "import sys; from semantic_search.listing import *\n"
            "l = list_files(sys.argv[1], ListingRules())\n"
            "print([f.path for f in l.files], l.unread)",
            str(tmp_path),
        )
    finally:
        for name in ("closed", "sub/closed"):
            (tmp_path / name).chmod(0o755)
    assert out == "['a.md', 'sub/d.md'] ('closed', 'sub/closed')\n"


def test_filenames_02_names_that_are_not_utf8_round_trip(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/bad\xff/also\xfe.txt"
    os.mkdir(os.path.dirname(raw))
    with open(raw, "wb") as file:
        file.write(b"x")
    assert [os.fsencode(source.absolute) for source in look(tmp_path).files] == [raw]


def test_filenames_06_a_folder_named_like_an_option(tmp_path: Path, git: Git) -> None:
    folder = tmp_path / "--help"
    write(folder, "-rf", "sub/--version.md")
    assert paths(folder) == ["-rf", "sub/--version.md"]
    git(tmp_path, "init", "-q")
    assert paths(folder) == ["-rf", "sub/--version.md"]


def test_very_deep_trees(tmp_path: Path) -> None:
    deep = "/".join("d" for _ in range(1500))
    subprocess.run(["mkdir", "-p", deep], cwd=tmp_path, check=True)
    try:
        (tmp_path / deep / "a.md").write_text("a")
        assert paths(tmp_path) == [f"{deep}/a.md"]
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
        assert paths(tmp_path) == [f"{deep}/a.md"]
    finally:
        # Deeper than what shutil.rmtree, and so pytest, can remove.
        subprocess.run(["rm", "-rf", "d"], cwd=tmp_path, check=True)


@pytest.mark.parametrize("name", ["missing", "file", "nul\0"])
def test_roots_07_a_folder_that_cannot_be_listed(tmp_path: Path, name: str) -> None:
    write(tmp_path, "file")
    with pytest.raises(FolderError):
        list_files(str(tmp_path / name), ListingRules())


def test_roots_02_a_trailing_slash_makes_no_difference(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    assert list_files(f"{tmp_path}/", ListingRules()) == list_files(
        f"{tmp_path}/../{tmp_path.name}", ListingRules()
    )


def test_rules_show_themselves_alike_in_every_process() -> None:
    code = (
        "from semantic_search.listing import ListingRules\n"
        "print(ListingRules(binary_extensions=frozenset(map(str, range(50)))))"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(shown) == 1
    assert ListingRules(max_file_bytes=1) != ListingRules(max_file_bytes=2)
    assert repr(ListingRules(max_file_bytes=1)) != repr(ListingRules(max_file_bytes=2))
