"""What a run does about each way in which files change, and what it leaves alone."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from builders import write_tree
from command_line import Command, bound_by_permissions, let_time_pass, looks


@pytest.fixture
def embedded(run: Command, notes: Path, own_environment: Path) -> Path:
    """The folder of three files, configured and wholly indexed a while ago."""
    run("add", notes)
    run("index")
    let_time_pass(own_environment)
    return notes


def test_nothing_changed_means_nothing_is_read(run: Command, embedded: Path, own_environment: Path) -> None:
    before = looks(own_environment)
    found = run("index").summary
    assert (found["filesProcessed"], found["filesUnchanged"], found["vectorsWritten"]) == (0, 3, 0)
    run("search", "seedlings")
    assert looks(own_environment) == before


def test_a_touched_file_is_read_once_and_never_embedded_again(
    run: Command, embedded: Path, own_environment: Path
) -> None:
    os.utime(embedded / "garden.md", (2_000_000_000, 1_700_000_000))
    before = looks(own_environment)
    found = run("index").summary
    assert (found["filesProcessed"], found["chunksWritten"], found["vectorsWritten"]) == (0, 0, 0)
    after = looks(own_environment)
    assert {path for path in after if after[path] != before[path]} == {"garden.md"}
    let_time_pass(own_environment)
    before = looks(own_environment)
    run("index")
    assert looks(own_environment) == before


def test_an_edit_of_the_same_size_and_time_is_seen(run: Command, embedded: Path) -> None:
    place = embedded / "garden.md"
    stat = place.stat()
    place.write_text(place.read_text().replace("Tomato", "Potato"))
    os.utime(place, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert (place.stat().st_size, place.stat().st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)
    found = run("index").summary
    assert (found["filesProcessed"], found["vectorsWritten"]) == (1, 1)
    texts = run.texts("seedlings outdoors")
    assert "Potato" in texts
    assert "Tomato" not in texts


def test_a_renamed_directory_costs_no_vector(run: Command, embedded: Path) -> None:
    (embedded / "src").rename(embedded / "lib")
    found = run("index").summary
    assert (found["filesProcessed"], found["filesDeleted"]) == (1, 1)
    assert (found["vectorsWritten"], found["pendingVectors"]) == (0, 0)
    paths = run.search("close_ledger")
    assert "lib/ledger.py" in paths
    assert "src/ledger.py" not in paths


def test_a_deleted_file_is_forgotten(run: Command, embedded: Path) -> None:
    (embedded / "garden.md").unlink()
    assert run("index").summary["filesDeleted"] == 1
    assert "garden.md" not in run.search("seedlings", "--no-refresh")
    (folder,) = run("status", "--json").document["folders"]
    assert (folder["files"], folder["skipped"]) == (2, {})


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "empty"), (b"\0\1Tomato seedlings", "binary"), (b"Tomato seedlings\n" * 40_000, "too-large")],
    ids=["empty", "binary", "too large"],
)
def test_a_file_that_can_no_longer_be_indexed_leaves_nothing_behind(
    run: Command, embedded: Path, own_environment: Path, content: bytes, reason: str
) -> None:
    (embedded / "garden.md").write_bytes(content)
    found = run("index").summary
    assert found["skipped"] == {reason: 1}
    assert "Tomato" not in run.texts("tomato seedlings", "--no-refresh")
    let_time_pass(own_environment)
    before = looks(own_environment)
    assert run("index").summary["skipped"] == {reason: 1} if reason == "too-large" else True
    assert looks(own_environment) == before
    (folder,) = run("status", "--json").document["folders"]
    assert folder["skipped"] == {reason: 1}


@pytest.mark.parametrize("by", [".indexignore", "settings", "beside the config"])
def test_a_file_that_is_ignored_from_now_on_is_forgotten(
    run: Command, embedded: Path, own_environment: Path, by: str
) -> None:
    if by == ".indexignore":
        (embedded / ".indexignore").write_text("garden.*\n")
    elif by == "settings":
        run("config", "defaultIgnorePatterns", json.dumps(["garden.*"]))
    else:
        (own_environment / "config/semantic-search/.indexignore").write_text("garden.*\n")
    found = run("index").summary
    assert found["filesDeleted"] == 1
    assert "garden.md" not in run.search("seedlings", "--no-refresh")


def test_a_larger_limit_lets_a_skipped_file_in(run: Command, embedded: Path, own_environment: Path) -> None:
    (embedded / "long.md").write_text("A quokka.\n" * 60)
    run("config", "maxFileSizeBytes", "500")
    assert run("index", "--no-embed").summary["skipped"] == {"too-large": 1}
    let_time_pass(own_environment)
    run("config", "maxFileSizeBytes", "5000")
    found = run("index", "--no-embed").summary
    assert (found["filesProcessed"], found["skipped"]) == (1, {})
    assert "long.md" in run.search("quokka")


def test_a_larger_limit_holds_for_what_an_interrupted_run_left(
    run: Command, embedded: Path, own_environment: Path
) -> None:
    write_tree(embedded, {f"long{n}.md": f"Quokka {n}.\n" * 60 for n in range(3)})
    run("config", "maxFileSizeBytes", "500")
    run("index", "--no-embed")
    let_time_pass(own_environment)
    run("config", "maxFileSizeBytes", "5000")
    assert run("index", "--no-embed", "--max-files", "1").summary["truncated"] is True
    assert run("index", "--no-embed").summary["filesProcessed"] == 2


@pytest.fixture
def crowd(run: Command, tmp_path: Path) -> Path:
    """A folder of forty files, indexed."""
    path = write_tree(tmp_path / "crowd", {f"d{n % 2}/{n:02}.md": f"person {n}\n" for n in range(40)})
    run("add", path)
    run("index", "--no-embed")
    return path


def test_most_of_a_folder_vanishing_at_once_is_not_believed(run: Command, crowd: Path) -> None:
    for place in sorted(crowd.glob("*/*.md"))[:25]:
        place.unlink()
    found = run("index", "--no-embed", status=2)
    assert found.summary["filesDeleted"] == 0
    assert "25 of 40" in found.stderr
    assert "--force" in found.stderr
    assert len(run.search("person")) == 40
    forced = run("index", "--no-embed", "--force")
    assert forced.summary["filesDeleted"] == 25
    assert len(run.search("person")) == 15


def test_an_empty_mount_point_loses_nothing(run: Command, crowd: Path) -> None:
    crowd.rename(crowd.with_name("away"))
    crowd.mkdir()
    assert run("index", "--no-embed", status=2).summary["filesDeleted"] == 0
    crowd.rmdir()
    crowd.with_name("away").rename(crowd)
    assert run("index", "--no-embed").summary["filesProcessed"] == 0


def test_moving_most_of_a_folder_about_inside_it_is_believed(run: Command, crowd: Path) -> None:
    for name in ("d0", "d1"):
        (crowd / name).rename(crowd / f"new-{name}")
    found = run("index", "--no-embed").summary
    assert (found["filesProcessed"], found["filesDeleted"]) == (40, 40)


@pytest.mark.skipif(sys.platform != "linux", reason="rights are taken from root by setpriv")
def test_a_part_that_cannot_be_read_keeps_what_was_known(run: Command, crowd: Path) -> None:
    limited = bound_by_permissions()
    (crowd / "d0").chmod(0)
    (crowd / "d1/01.md").chmod(0)
    (crowd / "d1/03.md").unlink()
    try:
        found = limited("index", "--no-embed", status=2)
        assert found.summary["filesDeleted"] == 1
        assert (found.summary["filesFailed"], found.summary["directoriesUnread"]) == (1, 1)
        assert "d0: could not be read" in found.stderr
        assert "d1/01.md: could not be read" in found.stderr
        assert found.summary["skipped"] == {"unreadable": 1}
        assert len(limited.search("person", "--no-refresh")) == 39
        assert limited("doctor", status=2).stdout.count("d0") == 1
    finally:
        (crowd / "d0").chmod(0o755)
        (crowd / "d1/01.md").chmod(0o644)
    assert run("index", "--no-embed").summary["filesDeleted"] == 0
    assert len(run.search("person")) == 39


def test_a_search_sees_an_edit_before_any_run(run: Command, embedded: Path, own_environment: Path) -> None:
    # However little time there is, a look takes in one file; it has to be this one.
    (embedded / "garden.md").write_text("# Garden\n\nThe wheelbarrow is in the shed.\n")
    stale = run("search", "--no-refresh", "--json", "tomato seedlings").document
    assert stale[0]["path"] == "garden.md"
    assert stale[0]["stale"] is True
    assert run("search", "--no-refresh", "seedlings").stderr.count("changed since") == 1
    hits = run("search", "--json", "wheelbarrow").document
    assert (hits[0]["path"], hits[0]["stale"]) == ("garden.md", False)
    let_time_pass(own_environment)
    (embedded / "new.md").write_text("The hedgehog sleeps under the leaves.\n")
    assert run.search("hedgehog")[0] == "new.md"
    let_time_pass(own_environment)
    (embedded / "retry.md").unlink()
    everything = run.texts("tomato seedlings retry hedgehog")
    assert "Tomato" not in everything
    assert "retries" not in everything


def test_the_look_before_a_search_can_be_turned_off(run: Command, embedded: Path) -> None:
    (embedded / "new.md").write_text("The hedgehog sleeps under the leaves.\n")
    assert "new.md" not in run.search("hedgehog", env={"SS_AUTO_REFRESH": "0"})
    run("config", "autoRefresh", "false")
    assert "new.md" not in run.search("hedgehog")
    assert "new.md" in run.search("hedgehog", env={"SS_AUTO_REFRESH": "1"})


def test_gather_sees_an_edit_too(run: Command, embedded: Path) -> None:
    (embedded / "garden.md").write_text("The wheelbarrow is in the shed.\n")
    assert "wheelbarrow" in run("gather", "wheelbarrow", "-k", "1").stdout
    (embedded / "garden.md").write_text("The lawnmower is in the shed.\n")
    assert "changed on disk" in run("gather", "--no-refresh", "wheelbarrow", "-k", "1").stdout
