"""Folders that are hostile, broken or odd: repositories, names, links, credentials."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import write_tree
from command_line import Command


@pytest.fixture
def repository(git_repository: Path) -> Path:
    """A repository with a tracked, an untracked and an ignored file."""
    write_tree(
        git_repository,
        {
            ".gitignore": "secret.txt\nbuild/\n",
            "tracked.md": "a walnut that is tracked\n",
            "new.md": "a walnut that is new\n",
            "secret.txt": "a walnut that is ignored\n",
            "build/out.md": "a walnut that was built\n",
        },
    )
    subprocess.run(["git", "-C", git_repository, "add", ".gitignore", "tracked.md"], check=True)
    return git_repository


def test_what_git_ignores_is_not_indexed(run: Command, repository: Path) -> None:
    run("add", repository)
    run("index", "--no-embed")
    assert set(run.search("walnut", "--no-refresh")) == {"tracked.md", "new.md"}
    (repository / "secret.txt").unlink()
    (repository / ".gitignore").write_text("tracked.md\nnew.md\n")
    assert run("index", "--no-embed").summary["filesDeleted"] == 1
    assert "new.md" not in run.search("walnut", "--no-refresh")


def test_a_broken_repository_fails_closed_and_the_others_go_on(
    run: Command, repository: Path, notes: Path
) -> None:
    (repository / ".git/index").write_bytes(b"garbage")
    run("add", repository, notes)
    found = run("index", "--no-embed", status=2)
    assert found.summary["filesProcessed"] == 3
    (failed,) = found.summary["foldersFailed"]
    assert failed["folder"] == str(repository)
    assert "  failed: " in found.stdout
    assert str(repository) in found.stderr
    assert "secret.txt" not in run.search("walnut ignored")
    grepped = run("grep", "walnut", status=1)
    assert grepped.stdout == ""
    assert "repo" in grepped.stderr
    assert run("cat", repository / "secret.txt", status=2).stdout == ""
    assert "MEND  folders" in run("doctor", status=2).stdout


def test_a_repository_that_breaks_later_keeps_what_is_known(run: Command, repository: Path) -> None:
    run("add", repository)
    run("index", "--no-embed")
    (repository / ".git/index").write_bytes(b"garbage")
    assert run("index", "--no-embed", status=2).summary["filesDeleted"] == 0
    assert "tracked.md" in run.search("walnut", "--no-refresh")


def test_no_git_is_said_with_the_remedy(run: Command, repository: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    found = run("index", repository, "--no-embed", env={"PATH": str(tmp_path / "bin")}, status=2)
    assert found.summary["filesProcessed"] == 0
    assert "git" in found.stderr
    assert "MEND  git" in run("doctor", env={"PATH": str(tmp_path / "bin")}, status=2).stdout


def test_a_repositorys_own_programs_are_never_run(run: Command, repository: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    script = tmp_path / "monitor.sh"
    script.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    script.chmod(0o755)
    subprocess.run(["git", "-C", repository, "config", "core.fsmonitor", str(script)], check=True)
    run("add", repository)
    run("index", "--no-embed")
    run("search", "walnut")
    run("grep", "walnut")
    assert not marker.exists()


def test_variables_of_git_change_nothing(run: Command, repository: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "other")], check=True)
    env = {"GIT_DIR": str(tmp_path / "other/.git"), "GIT_WORK_TREE": str(tmp_path / "other")}
    run("add", repository, env=env)
    assert run("index", "--no-embed", env=env).summary["filesProcessed"] == 3
    assert set(run.search("walnut", "--no-refresh", env=env)) == {"tracked.md", "new.md"}


def test_credentials_are_left_out_even_when_tracked(run: Command, repository: Path) -> None:
    key = "-----BEGIN " + "RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA" * 4 + "\nwalnut\n"
    write_tree(repository, {".env": "KEY=walnut\n", "deploy.txt": key, "id_ed25519": key})
    subprocess.run(["git", "-C", repository, "add", "-A"], check=True)
    run("add", repository)
    assert run("index", "--no-embed").summary["skipped"] == {"secret": 3}
    assert set(run.search("walnut", "--no-refresh")) == {"tracked.md", "new.md"}
    assert len(run("grep", "walnut").lines) == 2
    run("config", "indexSecrets", "true")
    assert run("index", "--no-embed").summary["skipped"] == {}
    assert ".env" in run.search("walnut", "--no-refresh")


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_names_that_are_no_text_are_found_shown_and_forgotten(run: Command, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    name = os.path.join(os.fsencode(folder), b"caf\xe9-\xff.txt")
    with open(name, "wb") as file:
        file.write(b"the walnut of a strange name\n")
    write_tree(folder, {"plain.txt": "another walnut\n"})
    run("add", folder)
    found = run("index", "--no-embed")
    assert found.summary["filesProcessed"] == 2
    assert "caf\\xe9-\\xff.txt" in found.stdout
    assert set(run.search("walnut", "--no-refresh")) == {"caf\\xe9-\\xff.txt", "plain.txt"}
    assert any("caf\\xe9-\\xff.txt:1" in line for line in run("grep", "strange").lines)
    assert run("cat", name).stdout == "the walnut of a strange name\n"
    assert "caf\\xe9" in run("gather", "strange name").stdout
    os.unlink(name)
    assert run("index", "--no-embed").summary["filesDeleted"] == 1
    assert run.search("walnut", "--no-refresh") == ["plain.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_a_folder_whose_name_is_no_text(run: Command, tmp_path: Path) -> None:
    folder = os.path.join(os.fsencode(tmp_path), b"f\xff")
    os.mkdir(folder)
    with open(os.path.join(folder, b"a.txt"), "wb") as file:
        file.write(b"walnut\n")
    run("add", folder)
    assert run("list").lines == [f"f\\xff  {tmp_path}/f\\xff"]
    run("index", "--no-embed")
    assert run.search("walnut", "--no-refresh") == ["a.txt"]
    assert run("search", "--in", folder, "walnut").lines
    run("remove", folder)
    assert run("list", status=1).stdout == ""


def test_names_are_names_whatever_is_in_them(run: Command, tmp_path: Path) -> None:
    names = [
        "-rf.md",
        "--help.md",
        "o'brien.md",
        "percent%_.md",
        "a\tb.md",
        "[x].md",
        "🦊.md",
        "two  spaces.md",
    ]
    folder = write_tree(tmp_path / "f", {name: f"walnut{n}\n" for n, name in enumerate(names)})
    run("add", folder)
    run("index", "--no-embed")
    for n, name in enumerate(names):
        assert run.search(f"walnut{n}", "--no-refresh")[0] == name
        assert run("cat", f"f/{name}").stdout == f"walnut{n}\n"
    assert len(run("grep", "walnut").lines) == len(names)
    for n, name in enumerate(names[:3]):
        (folder / name).unlink()
        assert run("index", "--no-embed").summary["filesDeleted"] == 1
        assert name not in run.search(f"walnut{n}", "--no-refresh")
    (status,) = run("status", "--json").document["folders"]
    assert status["files"] == len(names) - 3


def test_arguments_that_look_like_options_are_data_after_two_dashes(run: Command, tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "-x", {"a.md": "a walnut and -f/etc/passwd\n"})
    run("add", "--", "-x", cwd=tmp_path)
    assert run("list").lines == [f"-x  {folder}"]
    run("index", "--no-embed", "--", "-x", cwd=tmp_path)
    assert len(run("grep", "--", "-f/etc/passwd").lines) == 1
    assert run("grep", "walnut", "--glob", "--include=*", status=1).stdout == ""
    assert run("search", "--in", "-x", "--", "-walnut").lines
    run("remove", "--", "-x")


@pytest.mark.skipif(os.name != "posix", reason="special files of POSIX")
def test_nothing_waits_for_a_pipe_and_nothing_follows_a_link_out(run: Command, tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "f", {"a.md": "a walnut\n"})
    outside = write_tree(tmp_path / "outside", {"b.md": "a walnut outside\n"})
    os.mkfifo(folder / "pipe.md")
    (folder / "link.md").symlink_to(outside / "b.md")
    (folder / "linked").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    run("add", folder)
    summary = run("index", "--no-embed").summary
    assert summary["filesProcessed"] == 1
    assert set(run.search("walnut", "--no-refresh")) == {"a.md"}
    assert len(run("grep", "walnut").lines) == 1
    for name in ("link.md", "linked/b.md", "pipe.md"):
        assert run("cat", f"f/{name}", status=2).stdout == ""


def test_our_own_files_inside_a_folder_are_not_indexed(run: Command, notes: Path) -> None:
    env = {"SS_INDEX_DIR": str(notes / ".idx"), "SS_CONFIG_PATH": str(notes / "conf/config.json")}
    run("add", notes, env=env)
    assert run("index", "--no-embed", env=env).summary["filesProcessed"] == 3
    again = run("index", "--no-embed", env=env).summary
    assert (again["filesProcessed"], again["skipped"]) == (0, {})
