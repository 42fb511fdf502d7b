"""index: its report, its options, and what it does when something is in the way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from builders import write_tree
from command_line import Command

from semantic_search.tools.doctor import CHECKS

SUMMARY = {
    "filesProcessed",
    "filesSkipped",
    "filesDeleted",
    "chunksWritten",
    "truncated",
    "filesUnchanged",
    "filesFailed",
    "skipped",
    "vectorsWritten",
    "pendingVectors",
    "interrupted",
    "foldersFailed",
    "directoriesUnread",
    "notes",
    "seconds",
}


def test_the_report_of_a_run(run: Command, notes: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "other", {"z.md": "last\n", "blob.bin": b"\0\1\2"})
    run("add", notes, other)
    found = run("index", "--no-embed")
    *report, total, _ = found.lines
    assert report == [
        f"[1/2] notes  {notes}",
        "  garden.md  (1 passages)",
        "  retry.md  (1 passages)",
        "  src/ledger.py  (1 passages)",
        "  3 files indexed (3 passages), 0 unchanged, 0 deleted",
        f"[2/2] other  {other}",
        "  z.md  (1 passages)",
        "  1 files indexed (1 passages), 0 unchanged, 0 deleted, 1 skipped (1 binary)",
    ]
    assert re.fullmatch(
        r"total: 4 files indexed \(4 passages\), 0 unchanged, 0 deleted, 1 skipped \(1 binary\), 0 vectors, "
        r"4 wait for a vector, \d+\.\d s",
        total,
    )
    summary = found.summary
    assert set(summary) == SUMMARY
    assert list(summary)[:5] == [
        "filesProcessed",
        "filesSkipped",
        "filesDeleted",
        "chunksWritten",
        "truncated",
    ]
    assert (summary["filesProcessed"], summary["filesSkipped"], summary["chunksWritten"]) == (4, 1, 4)
    assert (summary["pendingVectors"], summary["vectorsWritten"]) == (4, 0)
    assert summary["skipped"] == {"binary": 1}
    assert "passages)" not in found.stderr


def test_json_is_the_summary_and_nothing_else(run: Command, notes: Path) -> None:
    run("add", notes)
    found = run("index", "--json", "--no-embed")
    assert len(found.lines) == 1
    assert found.document["filesProcessed"] == 3
    again = run("index", "--json", "--no-embed").document
    assert (again["filesProcessed"], again["filesUnchanged"], again["filesSkipped"]) == (0, 3, 3)


def test_the_second_phase_makes_the_vectors(run: Command, notes: Path) -> None:
    run("add", notes)
    assert run("index", "--no-embed").summary["pendingVectors"] == 3
    second = run("index").summary
    assert (second["filesProcessed"], second["vectorsWritten"], second["pendingVectors"]) == (0, 3, 0)
    (folder,) = run("status", "--json").document["folders"]
    assert (folder["files"], folder["chunks"], folder["pendingVectors"]) == (3, 3, 0)


def test_verbose_has_a_line_for_each_skipped_file(run: Command, notes: Path) -> None:
    write_tree(notes, {"empty.md": "", "odd.txt": b"plain" + b"x" * 5000 + b"\0\1"})
    run("add", notes)
    shown = run("index", "--no-embed", "--verbose").stdout
    assert "  empty.md  skipped: no text in it" in shown
    (notes / "empty.md").write_text(" \n\n")
    plain = run("index", "--no-embed").stdout
    assert "skipped:" not in plain


def test_nothing_configured_is_an_error_with_the_next_step(run: Command) -> None:
    found = run("index", status=2)
    assert found.stdout == ""
    assert "semantic-search add" in found.stderr


def test_a_missing_folder_is_reported_and_the_others_go_on(
    run: Command, indexed: Path, tmp_path: Path
) -> None:
    other = write_tree(tmp_path / "other", {"z.md": "the last word is zyzzyva\n"})
    run("add", other)
    indexed.rename(tmp_path / "unmounted")
    found = run("index", "--no-embed", status=2)
    assert found.summary["filesProcessed"] == 1
    assert found.summary["filesDeleted"] == 0
    (failed,) = found.summary["foldersFailed"]
    assert failed["folder"] == str(indexed)
    assert failed["error"]
    assert str(indexed) in found.stderr
    assert run.search("zyzzyva")[0] == "z.md"
    # What was known of the missing one is kept, and back in use when it returns.
    assert "garden.md" in run.search("seedlings")
    (tmp_path / "unmounted").rename(indexed)
    assert run("index", "--no-embed").summary["filesProcessed"] == 0


def test_max_files_stops_after_exactly_so_many_and_goes_on_next_time(run: Command, tmp_path: Path) -> None:
    many = write_tree(tmp_path / "many", {f"{n:02}.md": f"note number {n}\n" for n in range(7)})
    other = write_tree(tmp_path / "other", {"z.md": "last\n"})
    run("add", many, other)
    counts = []
    for _ in range(3):
        found = run("index", "--no-embed", "--max-files", "3", "--concurrency", "4")
        counts.append((found.summary["filesProcessed"], found.summary["truncated"]))
        assert ("--max-files" in found.lines[-2]) == found.summary["truncated"]
    assert counts == [(3, True), (3, True), (2, False)]
    (first, second) = run("status", "--json").document["folders"]
    assert (first["files"], second["files"]) == (7, 1)


def test_max_files_is_not_truncated_when_exactly_so_many_were_left(run: Command, notes: Path) -> None:
    run("add", notes)
    assert run("index", "--no-embed", "--max-files", "3").summary["truncated"] is False


def test_max_files_counts_what_was_indexed_not_what_was_skipped_or_touched(
    run: Command, indexed: Path
) -> None:
    write_tree(indexed, {"00-empty.md": "", "01-blank.md": "\n \n", "zz.md": "the last\n"})
    found = run("index", "--no-embed", "--max-files", "1").summary
    assert (found["filesProcessed"], found["truncated"]) == (1, False)


def test_a_truncated_run_prunes_nothing(run: Command, indexed: Path) -> None:
    (indexed / "garden.md").unlink()
    write_tree(indexed, {"n1.md": "one\n", "n2.md": "two\n"})
    found = run("index", "--no-embed", "--max-files", "1").summary
    assert (found["truncated"], found["filesDeleted"]) == (True, 0)
    found = run("index", "--no-embed").summary
    assert (found["truncated"], found["filesDeleted"]) == (False, 1)


@pytest.mark.parametrize(
    "option",
    [
        ["--concurrency", "0"],
        ["--concurrency", "abc"],
        ["--concurrency", "-1"],
        ["--concurrency", "257"],
        ["--max-files", "0"],
        ["--max-files", "abc"],
        ["--max-files", "-3"],
    ],
)
def test_numbers_that_make_no_sense_are_refused(run: Command, notes: Path, option: list[str]) -> None:
    run("add", notes)
    found = run("index", *option, status=2)
    assert option[0] in found.stderr
    assert found.stdout == ""
    assert run("search", "seedlings", status=2).stdout == ""


def test_force_reads_everything_again_and_keeps_the_vectors(run: Command, notes: Path) -> None:
    run("add", notes)
    run("index")
    found = run("index", "--force").summary
    assert (found["filesProcessed"], found["chunksWritten"], found["vectorsWritten"]) == (3, 3, 0)
    assert found["pendingVectors"] == 0


def test_index_of_a_path_needs_no_configuration(run: Command, notes: Path) -> None:
    found = run("index", notes, "--no-embed")
    assert found.lines[0] == f"[1/1] notes  {notes}"
    assert found.summary["filesProcessed"] == 3
    assert run("list", status=1).stdout == ""
    assert "garden.md" in run.search("seedlings")
    (folder,) = run("status", "--json").document["folders"]
    assert folder["configured"] is False
    assert "not configured" in run("status").stdout


def test_index_of_a_relative_path(run: Command, notes: Path) -> None:
    assert run("index", ".", "--no-embed", cwd=notes).lines[0] == f"[1/1] notes  {notes}"


def test_index_of_a_path_leaves_the_other_folders_alone(run: Command, indexed: Path, tmp_path: Path) -> None:
    other = write_tree(tmp_path / "other", {"z.md": "zyzzyva\n"})
    (indexed / "garden.md").unlink()
    (indexed / "new.md").write_text("brand new\n")
    found = run("index", other, "--no-embed").summary
    assert (found["filesProcessed"], found["filesDeleted"]) == (1, 0)
    by_name = {f["name"]: f["files"] for f in run("status", "--json").document["folders"]}
    assert by_name == {"notes": 3, "other": 1}
    found = run("index", "--no-embed").summary
    assert (found["filesProcessed"], found["filesDeleted"]) == (1, 1)
    assert "z.md" in run.search("zyzzyva")


def test_index_of_a_path_inside_a_folder_is_a_part_of_that_folder(run: Command, indexed: Path) -> None:
    (indexed / "garden.md").unlink()
    write_tree(indexed, {"src/fresh.py": "fresh = 1\n", "outside.md": "outside\n"})
    found = run("index", indexed / "src", "--no-embed").summary
    assert (found["filesProcessed"], found["filesDeleted"]) == (1, 0)
    (folder,) = run("status", "--json").document["folders"]
    assert (folder["path"], folder["files"]) == (str(indexed), 4)
    (indexed / "src/ledger.py").unlink()
    assert run("index", indexed / "src", "--no-embed").summary["filesDeleted"] == 1
    found = run("index", "--no-embed").summary
    assert (found["filesProcessed"], found["filesDeleted"]) == (1, 1)


def test_a_folder_indexed_by_path_becomes_part_of_a_configured_one(run: Command, notes: Path) -> None:
    run("index", notes / "src")
    run("add", notes)
    found = run("index").summary
    assert found["filesProcessed"] == 2
    (folder,) = run("status", "--json").document["folders"]
    assert folder["files"] == 3
    assert run.search("close_ledger").count("src/ledger.py") == 1


@pytest.mark.parametrize("path", ["nowhere", "retry.md"])
def test_index_of_what_is_no_folder(run: Command, notes: Path, path: str) -> None:
    found = run("index", notes / path, status=2)
    assert found.stdout == ""
    assert "folder" in found.stderr


def test_a_whole_drive_is_refused(run: Command) -> None:
    assert "--force" in run("index", "/", status=2).stderr


def test_the_configured_concurrency_is_used_and_checked(run: Command, indexed: Path) -> None:
    run("config", "concurrency", "1")
    assert run("index", "--no-embed").summary["filesUnchanged"] == 3
    assert "concurrency" in run("config", "concurrency", "-1", status=2).stderr


def test_files_without_passages_are_counted_and_listed_with_their_reason(run: Command, notes: Path) -> None:
    write_tree(
        notes,
        {
            "empty.md": "",
            "photo.png": b"\x89PNG",
            "huge.log": "x" * 600_000,
            ".env": "TOKEN=abc",
            "id_rsa": "-----BEGIN OPENSSH PRIVATE KEY-----\n",
            "broken.pdf": "no pdf at all",
            "broken.docx": "no zip at all",
        },
    )
    (notes / "link.md").symlink_to("retry.md")
    run("add", notes)
    summary = run("index", "--no-embed").summary
    assert summary["skipped"] == {
        "empty": 1,
        "binary": 1,
        "too-large": 1,
        "secret": 2,
        "damaged": 2,
        "symlink": 1,
    }
    assert (summary["filesProcessed"], summary["filesSkipped"]) == (3, 8)
    document = run("status", "--json", "--skipped").document
    reasons = {item["path"]: item["reason"] for item in document["skippedFiles"]}
    assert reasons == {
        "empty.md": "empty",
        "photo.png": "binary",
        "huge.log": "too-large",
        ".env": "secret",
        "id_rsa": "secret",
        "broken.pdf": "damaged",
        "broken.docx": "damaged",
        "link.md": "symlink",
    }
    assert f"{notes}/empty.md: no text in it" in run("status", "--skipped").stdout
    assert "skippedFiles" not in run("status", "--json").document


def test_status_has_the_shape_that_is_promised(run: Command, indexed: Path, own_environment: Path) -> None:
    document = run("status", "--json").document
    assert {"folders", "model", "store", "indexPath", "indexBytes", "current", "indexing"} == set(document)
    (folder,) = document["folders"]
    assert {"name", "path", "files", "chunks", "pendingVectors", "skipped", "lastRun"} <= set(folder)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", folder["lastRun"])
    assert document["model"] == "multilingual-e5-small"
    assert document["store"] == "sqlite"
    assert document["indexBytes"] > 0
    assert Path(document["indexPath"]).is_file()
    assert (document["current"], document["indexing"]) == (True, False)
    shown = run("status").stdout
    assert "3 files, 3 passages" in shown
    assert "3 wait for a vector" in shown


def test_status_before_anything(run: Command, notes: Path) -> None:
    empty = run("status", "--json").document
    assert (empty["folders"], empty["indexBytes"]) == ([], 0)
    run("add", notes)
    (folder,) = run("status", "--json").document["folders"]
    assert (folder["files"], folder["lastRun"]) == (0, None)
    assert "never indexed" in run("status").stdout


def test_doctor_is_content_only_when_all_is_well(run: Command, notes: Path) -> None:
    found = run("doctor", "--json", status=2)
    assert found.document["ok"] is False
    assert set(CHECKS) == {check["check"] for check in found.document["checks"]}
    run("add", notes)
    run("index", "--no-embed")
    waiting = run("doctor", status=2)
    assert "MEND  index: 3 passages wait for a vector" in waiting.stdout
    run("index")
    assert run("doctor", "--json").document["ok"] is True
    well = run("doctor").stdout
    assert "MEND" not in well
    (notes / "src").rename(notes.parent / "src")
    notes.rename(notes.parent / "gone")
    assert "MEND  folders" in run("doctor", status=2).stdout
