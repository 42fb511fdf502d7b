"""Changes, limits, concurrency, crashes and folders: cases other tools got wrong, by their ids."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import write_tree
from command_line import (
    PATIENCE,
    Command,
    bound_by_permissions,
    contents,
    index_directory,
    index_file,
    let_time_pass,
    looks,
    opened,
    without_a_network,
)
from gate import Gate


def test_change_01_content_changed_with_the_old_time_put_back(
    run: Command, folder: Path, own_environment: Path
) -> None:
    place = folder / "a.md"
    place.write_text("version one\n")
    os.utime(place, (1_600_000_000, 1_600_000_000))
    run("index", "--no-embed")
    let_time_pass(own_environment)
    place.write_text("version two\n")
    os.utime(place, (1_600_000_000, 1_600_000_000))
    assert run("index", "--no-embed").summary["filesProcessed"] == 1
    assert "version two" in run.texts("version")


def test_change_02_an_edit_within_the_tick_of_the_run(run: Command, folder: Path) -> None:
    place = folder / "a.md"
    place.write_text("version one\n")
    run("index", "--no-embed")
    stat = place.stat()
    with opened(index_file(Path(os.environ["HOME"]))) as db:
        place.write_text("version two\n")
        os.utime(place, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        # A coarse clock gives the second edit the very stamp of the first.
        db.execute("UPDATE files SET ctime_ns = ?", (place.stat().st_ctime_ns,))
    assert run("index", "--no-embed").summary["filesProcessed"] == 1
    assert "version two" in run.texts("version")


def test_change_03_touched_files_are_read_once(run: Command, folder: Path, own_environment: Path) -> None:
    write_tree(folder, {f"{n}.md": f"note {n}\n" for n in range(10)})
    run("index", "--no-embed")
    for place in folder.iterdir():
        os.utime(place)
    run("index", "--no-embed")
    let_time_pass(own_environment)
    before = looks(own_environment)
    run("index", "--no-embed")
    assert looks(own_environment) == before


def image_only_pdf() -> bytes:
    """A PDF of one page with a drawing and no text."""
    drawing = b"0 0 1 rg 10 10 100 100 re f"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(drawing), drawing),
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, item in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj%sendobj\n" % (number, item)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    ending = b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(body)
    return body + b"xref\n0 5\n0000000000 65535 f \n" + table + ending


def test_change_06_a_scan_says_so_and_is_not_read_again(
    run: Command, folder: Path, own_environment: Path
) -> None:
    (folder / "scan.pdf").write_bytes(image_only_pdf())
    assert run("index", "--no-embed").summary["skipped"] == {"no-text": 1}
    assert "scan" in run("status", "--skipped").stdout
    let_time_pass(own_environment)
    before = looks(own_environment)
    run("index", "--no-embed")
    assert looks(own_environment) == before
    (status,) = run("status", "--json").document["folders"]
    assert status["skipped"] == {"no-text": 1}


def test_change_08_a_killed_force_keeps_everything_searchable(
    run: Command, folder: Path, own_environment: Path
) -> None:
    write_tree(folder, {f"{n:03}.md": f"walnut number {n}\n" for n in range(300)})
    run("index", "--no-embed")
    before = contents(index_file(own_environment))
    child = run.start("index", "--force", "--no-embed", "--concurrency", "1")
    assert child.stdout is not None
    child.stdout.readline()
    child.kill()
    child.communicate(timeout=PATIENCE)
    assert contents(index_file(own_environment)) == before
    assert len(run.search("walnut", "--no-refresh")) == 50
    (status,) = run("status", "--json").document["folders"]
    assert status["files"] == 300


@pytest.mark.skipif(sys.platform != "linux", reason="rights are taken from root by setpriv")
def test_cli_03_failures_are_counted_with_their_reasons(folder: Path) -> None:
    limited = bound_by_permissions()
    write_tree(folder, {"good.md": "fine\n", "closed.md": "closed\n", "bad.pdf": b"%PDF-1.4 cut short"})
    (folder / "closed.md").chmod(0)
    found = limited("index", "--no-embed", status=2)
    assert (found.summary["filesProcessed"], found.summary["filesFailed"]) == (1, 1)
    assert found.summary["skipped"] == {"damaged": 1, "unreadable": 1}
    assert "closed.md: could not be read" in found.stderr
    assert any("closed.md" in note for note in found.summary["notes"])


def test_cli_05_max_files_is_exact_with_many_threads(run: Command, folder: Path) -> None:
    write_tree(folder, {f"{n:03}.md": f"note {n}\n" for n in range(100)})
    seen = []
    for _ in range(4):
        summary = run("index", "--no-embed", "--max-files", "30", "--concurrency", "4").summary
        seen.append((summary["filesProcessed"], summary["truncated"]))
    assert seen == [(30, True), (30, True), (30, True), (10, False)]


@pytest.mark.skipif(os.name != "posix", reason="named pipes of POSIX")
def test_concurrency_02_a_second_indexer_waits_and_says_so(
    run: Command, folder: Path, tmp_path: Path
) -> None:
    write_tree(folder, {f"{n:03}.md": f"walnut number {n}\n" for n in range(200)})
    gate = Gate(tmp_path, file="150.md")
    first = run.start("index", env=gate.env)
    with gate.held(first):
        second = run.start("index", "--json")
        assert second.stderr is not None
        assert b"another process is writing the index; waiting" in second.stderr.readline()
        assert second.poll() is None
    for child in (first, second):
        out, err = child.communicate(timeout=PATIENCE)
        assert child.returncode == 0, err.decode()
    assert json.loads(out)["pendingVectors"] == 0


def test_concurrency_08_a_killed_holder_leaves_no_lock(
    run: Command, folder: Path, own_environment: Path
) -> None:
    write_tree(folder, {f"{n:03}.md": f"note {n}\n" for n in range(300)})
    child = run.start("index", "--no-embed")
    assert child.stdout is not None
    child.stdout.readline()
    child.kill()
    child.communicate(timeout=PATIENCE)
    assert (index_directory(own_environment) / "index.lock").exists()
    found = run("index", "--no-embed")
    assert "waiting" not in found.stderr
    assert run("status", "--json").document["indexing"] is False


def test_concurrency_09_two_first_runs_make_one_index(
    run: Command, folder: Path, own_environment: Path
) -> None:
    write_tree(folder, {f"{n}.md": f"note {n}\n" for n in range(5)})
    run("config", "concurrency", "1")
    for _ in range(3):
        children = [run.start("index", "--no-embed", "--json") for _ in range(3)]
        for child in children:
            _, err = child.communicate(timeout=PATIENCE)
            assert child.returncode == 0, err.decode()
        assert len(contents(index_file(own_environment))) == 5
        index_file(own_environment).unlink()


def test_config_01_many_processes_add_at_once(run: Command, tmp_path: Path) -> None:
    paths = [tmp_path / f"f{n}" for n in range(12)]
    for path in paths:
        path.mkdir()
    waiting = list(zip(paths, [run.start("add", path) for path in paths], strict=True))
    while waiting:
        path, child = waiting.pop()
        _, err = child.communicate(timeout=PATIENCE)
        # Whoever has not had its turn for long is told to try again.
        if child.returncode == 2 and b"try again when it is done" in err:
            waiting.append((path, run.start("add", path)))
        else:
            assert child.returncode == 0, err.decode()
    assert sorted(f["path"] for f in run("list", "--json").document) == sorted(map(str, paths))


@pytest.mark.parametrize("content", ['{"defaultRoots": ["/x"', "", "null", "[]", "NaN", '{"rrfK": NaN}'])
def test_config_02_a_config_that_cannot_be_read_is_never_overwritten(
    run: Command, own_environment: Path, tmp_path: Path, content: str
) -> None:
    place = own_environment / "config/semantic-search/config.json"
    write_tree(place.parent, {"config.json": content})
    for command in (["list"], ["add", str(tmp_path)], ["config", "rrfK", "5"], ["index"], ["search", "x"]):
        found = run(*command, status=2)
        assert str(place) in found.stderr
        assert found.stdout == ""
    assert place.read_text() == content


def test_config_06_a_home_that_nobody_knows_and_a_tilde(
    run: Command, own_environment: Path, notes_at_home: Path
) -> None:
    run("config", "defaultRoots", '["~/notes"]')
    assert run("list", "--json").document[0]["path"] == str(notes_at_home)
    assert run("index", "--no-embed").summary["filesProcessed"] == 1


@pytest.fixture
def notes_at_home(own_environment: Path) -> Path:
    return write_tree(own_environment / "notes", {"a.md": "at home\n"})


@pytest.mark.parametrize(
    "arguments",
    [
        ["index", "--concurrency", "0"],
        ["index", "--concurrency", "abc"],
        ["index", "--concurrency", "-1"],
        ["index", "--max-files", "0"],
        ["index", "--max-files", "abc"],
        ["search", "-k", "0", "x"],
        ["search", "-k", "abc", "x"],
    ],
)
def test_config_07_numbers_that_are_none_are_refused(
    run: Command, folder: Path, arguments: list[str]
) -> None:
    assert run(*arguments, status=2).stdout == ""


def test_crash_01_a_file_is_never_missing_while_it_is_replaced(
    run: Command, folder: Path, own_environment: Path
) -> None:
    place = folder / "a.md"
    place.write_text("walnut 0\n")
    run("index", "--no-embed")
    for n in range(1, 6):
        place.write_text(f"walnut {n}\n" * (n * 300))
        child = run.start("index", "--no-embed")
        assert child.stdout is not None
        child.stdout.readline()
        child.kill()
        child.communicate(timeout=PATIENCE)
        assert run.search("walnut", "--no-refresh") == ["a.md"]
        with opened(index_file(own_environment)) as db:
            whole = db.execute("SELECT count(*) FROM files f WHERE chunks = (SELECT count(*) FROM passages)")
            assert whole.fetchone() == (1,)


def test_crash_09_a_full_disk_leaves_the_config_as_it_was(
    run: Command, folder: Path, own_environment: Path, tmp_path: Path
) -> None:
    place = own_environment / "config/semantic-search/config.json"
    before = place.read_bytes()
    limited = Command(["prlimit", "--fsize=0"]) if sys.platform == "linux" else None
    if limited:
        found = limited("add", tmp_path, status=None)
        assert found.returncode != 0
    assert place.read_bytes() == before
    assert sorted(item.name for item in place.parent.iterdir()) == ["config.json", "config.json.lock"]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as Linux does it")
def test_crash_10_too_little_memory_ends_a_run_that_can_be_gone_on_with(run: Command, folder: Path) -> None:
    write_tree(folder, {f"{n}.txt": f"walnut{n} harbour lantern " * 18_000 for n in range(3)})
    starved = Command(["prlimit", f"--as={400 << 20}"])
    process = subprocess.run(starved.argv("index"), capture_output=True, timeout=PATIENCE, check=False)
    if process.returncode == 0:
        assert b"words alone" in process.stderr or b'"pendingVectors": 0' in process.stdout
    assert run("index", "--no-embed").summary["filesFailed"] == 0
    for n in range(3):
        assert f"{n}.txt" in run.search(f"walnut{n}", "--no-refresh")


def test_roots_05_a_childs_own_rules_settle_after_one_run(run: Command, folder: Path) -> None:
    write_tree(folder, {"a.md": "walnut a\n", "c/b.md": "walnut b\n", "c/x.md": "walnut x\n"})
    (folder / "c/.indexignore").write_text("x.md\n")
    run("add", folder / "c")
    run("index", "--no-embed")
    for _ in range(2):
        summary = run("index", "--no-embed").summary
        assert (summary["filesProcessed"], summary["filesDeleted"]) == (0, 0)
    run("remove", "folder")
    assert run.search("walnut") == ["b.md"]
    run("index", "--no-embed")
    assert run.search("walnut") == ["b.md"]


def test_roots_06_one_of_two_identical_files_may_go(run: Command, folder: Path) -> None:
    write_tree(folder, {"a/LICENSE": "a walnut licence\n", "b/LICENSE": "a walnut licence\n"})
    run("index")
    (folder / "a/LICENSE").unlink()
    assert run("index").summary["filesDeleted"] == 1
    assert run.search("walnut") == ["b/LICENSE"]
    run("doctor")


def test_roots_10_a_removed_folder_is_only_found_when_its_index_was_kept(run: Command, folder: Path) -> None:
    (folder / "a.md").write_text("walnut\n")
    run("index", "--no-embed")
    run("remove", "folder", "--keep-index")
    assert run.search("walnut") == ["a.md"]
    run("remove", folder)
    assert run.search("walnut") == []


def test_store_11_a_file_that_changes_often_leaves_no_ballast(
    run: Command, folder: Path, own_environment: Path
) -> None:
    text = "".join(f"Walnut number {n} of a long list.\n" for n in range(200))
    write_tree(folder, {f"{n}.md": text.replace("long", f"{n}") for n in range(30)})
    run("index", "--no-embed")
    fresh = index_file(own_environment).stat().st_size
    for n in range(10):
        (folder / "0.md").write_text(text.replace("Walnut", f"Harbour {n}"))
        run("index", "--no-embed")
    assert index_file(own_environment).stat().st_size < 1.5 * fresh
    with opened(index_file(own_environment)) as db:
        assert db.execute("PRAGMA freelist_count").fetchone() == (0,)
    (folder.parent / "other").mkdir()
    run("add", folder.parent / "other")
    assert b"walnut" in index_file(own_environment).read_bytes()
    run("remove", "folder")
    assert index_file(own_environment).stat().st_size < fresh / 2
    assert b"walnut" not in index_file(own_environment).read_bytes()


def test_model_03_other_chunks_are_never_mixed_with_the_old(
    run: Command, folder: Path, own_environment: Path
) -> None:
    (folder / "a.md").write_text("".join(f"Walnut number {n} of a long list.\n\n" for n in range(100)))
    run("index", "--no-embed")
    before = len(contents(index_file(own_environment)))
    run("config", "chunk.targetTokens", "80")
    assert "other settings" in run("search", "walnut").stderr
    assert "settings changed" in run("index").stderr
    assert len(contents(index_file(own_environment))) > before


@pytest.mark.skipif(sys.platform != "linux", reason="a process without a network is made by unshare")
def test_model_05_a_model_that_is_absent_is_not_waited_for(folder: Path) -> None:
    alone = without_a_network()
    (folder / "a.md").write_text("walnut\n")
    env = {"SS_MODEL_NAME": "paraphrase-multilingual-MiniLM-L12-v2"}
    for allow in ("0", "1"):
        found = alone("index", env={**env, "SS_ALLOW_DOWNLOAD": allow})
        assert "words alone" in found.stderr
    result = alone("search", "--json", "walnut", env=env)
    assert result.paths == ["a.md"]
    assert "words alone" in result.stderr
