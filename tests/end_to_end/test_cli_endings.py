"""Runs that are stopped, killed, or have company; indexes that are damaged, outdated or have no room."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import write_tree
from command_line import PATIENCE, Command, apart, contents, index_directory, index_file, opened, wait_until
from gate import Gate

WORDS = ("ledger", "walnut", "gateway", "seedling", "harbour", "lantern", "quokka", "violin", "meadow")
# Reading goes by batches of 64 files, embedding by batches of 128 passages: several of each.
NOTES = 250
MANY = 320
STOPPING = "stopping after the batch"


def sentence(n: int) -> str:
    """A sentence of its own for each number."""
    return " ".join(WORDS[(n * k + k) % len(WORDS)] for k in range(1, 7)) + f" number {n}.\n"


def tree(files: int) -> dict[str, str | bytes]:
    """So many short notes."""
    return {f"{n:03}.md": f"# Note {n}\n\n{sentence(n)}" for n in range(files)}


@pytest.fixture
def large(run: Command, tmp_path: Path) -> Path:
    """A folder of notes that take several batches to read and to embed; configured."""
    path = write_tree(tmp_path / "large", tree(NOTES))
    run("add", path)
    return path


@pytest.fixture
def many(run: Command, tmp_path: Path) -> Path:
    """A folder of notes that take many batches to read; configured."""
    path = write_tree(tmp_path / "many", tree(MANY))
    run("add", path)
    return path


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> list[tuple[Any, ...]]:
    """What an index of `large` holds that was made in one go."""
    place = tmp_path_factory.mktemp("fresh")
    env = apart(place, model_cache)
    Command()("index", write_tree(place / "large", tree(NOTES)), env=env)
    (index,) = (place / "index").glob("index-*.sqlite3")
    return contents(index)


def said_until(child: subprocess.Popen[bytes], sign: str) -> str:
    """What a command writes to stderr up to a line with a sign, or to its end."""
    assert child.stderr is not None
    said = ""
    while sign not in said and (line := child.stderr.readline()):
        said += line.decode()
    return said


def files_indexed(home: Path) -> int:
    found = list(index_directory(home).glob("index-*.sqlite3"))
    if not found:
        return 0
    try:
        with opened(found[0]) as db:
            return int(db.execute("SELECT count(*) FROM files WHERE chunks > 0").fetchone()[0])
    except Exception:
        return 0  # its tables are not made yet


def vectors_made(home: Path) -> int:
    with opened(index_file(home)) as db:
        return int(db.execute("SELECT count(*) FROM embeddings WHERE vector IS NOT NULL").fetchone()[0])


def finish(child: subprocess.Popen[bytes]) -> tuple[str, str]:
    out, err = child.communicate(timeout=PATIENCE)
    return out.decode(), err.decode()


posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@posix
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_reading_after_a_batch_and_keeps_it(
    run: Command, many: Path, own_environment: Path, tmp_path: Path, sent: signal.Signals
) -> None:
    gate = Gate(tmp_path, file="200.md")
    child = run.start("index", "--no-embed", "--concurrency", "1", env=gate.env)
    with gate.held(child):
        child.send_signal(sent)
        err = said_until(child, STOPPING)
    out, rest = finish(child)
    err += rest
    assert child.returncode == 130, err
    assert "is kept" in err
    assert "Traceback" not in err
    assert '"interrupted": true' in out.split("\n")[-2]
    read = files_indexed(own_environment)
    assert 0 < read < MANY
    assert "walnut" in run("search", "--no-refresh", "walnut").stdout
    summary = run("index", "--no-embed").summary
    assert (summary["filesProcessed"], summary["interrupted"]) == (MANY - read, False)
    assert [row[0] for row in contents(index_file(own_environment))] == [
        f"{n:03}.md".encode() for n in range(MANY)
    ]


@posix
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])  # the latter is not everywhere
def test_the_second_phase_can_be_ended_and_gone_on_with(
    run: Command,
    large: Path,
    own_environment: Path,
    tmp_path: Path,
    fresh: list[tuple[Any, ...]],
    name: str,
) -> None:
    sent = signal.Signals[name]
    run("index", "--no-embed")
    gate = Gate(tmp_path, passage=200)
    child = run.start("index", "--concurrency", "1", env=gate.env)
    with gate.held(child):
        child.send_signal(sent)
        err = said_until(child, STOPPING)
    err += finish(child)[1]
    assert child.returncode == (130 if sent == signal.SIGINT else -sent), err
    made = vectors_made(own_environment)
    assert 0 < made < NOTES
    found = run("search", "--json", "--no-refresh", "walnut")
    assert found.document
    assert f"{NOTES - made} passages still wait" in found.stderr
    assert run("index").summary["vectorsWritten"] == NOTES - made
    assert contents(index_file(own_environment)) == fresh


@posix
def test_two_signals_end_at_once(run: Command, many: Path, tmp_path: Path) -> None:
    gate = Gate(tmp_path, file="200.md")
    child = run.start("index", "--no-embed", "--concurrency", "1", env=gate.env)
    with gate.held(child):
        child.send_signal(signal.SIGINT)
        said_until(child, STOPPING)
        child.send_signal(signal.SIGINT)
        _, err = finish(child)
    assert child.returncode == 130
    assert "Traceback" not in err
    assert run("index", "--no-embed").summary["interrupted"] is False


@posix
def test_an_interrupted_run_ends_though_a_thread_waits_for_ever(
    run: Command, many: Path, tmp_path: Path
) -> None:
    """Such as one that reads a file of a network that is gone."""
    gate = Gate(tmp_path, file="200.md")
    with (tmp_path / "gate" / "sitecustomize.py").open("a") as site:
        site.write("import threading\nthreading.Thread(target=threading.Event().wait).start()\n")
    child = run.start("index", "--no-embed", "--concurrency", "1", env=gate.env)
    with gate.held(child):
        child.send_signal(signal.SIGINT)
        said_until(child, STOPPING)
    out, err = finish(child)
    assert child.returncode == 130
    assert "is kept" in err
    assert '"interrupted": true' in out


def test_killed_at_any_file_a_clean_run_equals_a_fresh_index(
    run: Command, large: Path, own_environment: Path, fresh: list[tuple[Any, ...]]
) -> None:
    for least in (1, 65, 129):
        child = run.start("index")
        wait_until(lambda: files_indexed(own_environment) >= least or child.poll() is not None)  # noqa: B023
        child.kill()
        finish(child)
    run("index")
    assert contents(index_file(own_environment)) == fresh
    assert run("doctor").returncode == 0


def test_two_indexers_and_a_searcher_at_once(
    run: Command, large: Path, own_environment: Path, tmp_path: Path, fresh: list[tuple[Any, ...]]
) -> None:
    gate = Gate(tmp_path, passage=200)
    children = [run.start("index", "--json", env=gate.env)]
    with gate.held(children[0]):
        children.append(run.start("index", "--json"))
        said_until(children[1], "waiting for it")
        assert run("search", "--json", "walnut ledger").document
    while any(child.poll() is None for child in children):
        assert run("search", "--json", "walnut ledger").document
    for child in children:
        _, err = finish(child)
        assert child.returncode == 0, err
    assert contents(index_file(own_environment)) == fresh


def test_status_says_that_a_process_is_indexing(run: Command, large: Path, tmp_path: Path) -> None:
    gate = Gate(tmp_path, file="200.md")
    child = run.start("index", env=gate.env)
    with gate.held(child):
        assert run("status", "--json").document["indexing"] is True
        child.kill()
    finish(child)
    assert run("status", "--json").document["indexing"] is False


@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty", "middle"])
def test_a_damaged_index_is_reported_and_built_afresh(
    run: Command, large: Path, own_environment: Path, damage: str
) -> None:
    run("index", "--no-embed")
    place = index_file(own_environment)
    data = place.read_bytes()
    for ending in ("-wal", "-shm"):
        place.with_name(place.name + ending).unlink(missing_ok=True)
    half = len(data) // 2
    place.write_bytes(
        {
            "truncated": data[: half + 100],
            "garbage": b"this is no database " * 5000,
            "empty": b"",
            "middle": data[:8192] + b"\xff" * (len(data) - 12288) + data[-4096:],
        }[damage]
    )
    found = run("search", "walnut", status=None)
    assert found.returncode in (1, 2) or damage == "empty", found
    if found.returncode == 2:
        assert "index" in found.stderr
    run("status", status=None)
    run("doctor", status=2)
    rebuilt = run("index", "--no-embed", "--force", status=None)
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert rebuilt.summary["filesProcessed"] == NOTES
    assert "walnut" in run("search", "walnut").stdout
    assert "is sound" in run("doctor", status=None).stdout


def test_another_chunk_size_is_built_beside_the_old_index_which_serves_meanwhile(
    run: Command, large: Path, own_environment: Path
) -> None:
    (large / "long.md").write_text("".join(sentence(n) for n in range(40)))
    run("index")
    old = index_file(own_environment)
    run("config", "chunk.targetTokens", "100")
    found = run("search", "--json", "walnut")
    assert found.document
    assert "other settings" in found.stderr
    assert run("status", "--json").document["current"] is False
    assert "MEND  index" in run("doctor", status=2).stdout
    assert run("index", "--no-embed").summary["truncated"] is False
    assert old.exists()
    assert len(list(index_directory(own_environment).glob("index-*.sqlite3"))) == 2
    assert len(run("search", "--json", "walnut").document) == 5
    run("index")
    new = index_file(own_environment)
    assert new != old
    assert run("status", "--json").document["current"] is True
    assert len(run("search", "--json", "walnut").document) == 5
    run("doctor")


def test_another_model_is_built_beside_the_old_index(
    run: Command, notes: Path, own_environment: Path
) -> None:
    run("add", notes)
    run("index")
    old = index_file(own_environment)
    run("config", "modelName", "all-MiniLM-L6-v2")
    assert run("search", "--json", "seedlings").paths[0] == "garden.md"
    summary = run("index").summary
    assert (summary["vectorsWritten"], summary["pendingVectors"]) == (3, 0)
    assert index_file(own_environment) != old
    assert run("status", "--json").document["model"] == "all-MiniLM-L6-v2"
    explained = run("search", "--json", "--explain", "young plants").document
    assert [hit["path"] for hit in explained if hit["explain"]["vectorRank"] == 1] == ["garden.md"]
    abstains = run("search", "--json", "розсада", status=1)
    assert abstains.document == []
    assert "does not read this script" in abstains.stderr


@pytest.mark.skipif(os.name != "posix", reason="file modes of POSIX")
def test_everything_of_ours_is_private_whatever_the_umask(
    run: Command, notes: Path, own_environment: Path, tmp_path: Path
) -> None:
    open_handed = Command(["sh", "-c", 'umask 0; exec "$@"', "sh"])
    env = {"SS_MODEL_CACHE_DIR": None}
    open_handed("add", notes, env=env)
    open_handed("index", env=env)
    open_handed("search", "seedlings", env=env)
    for root in ("config/semantic-search", "data/semantic-search"):
        top = own_environment / root
        for place in (top, *top.rglob("*")):
            mode = stat.S_IMODE(place.stat().st_mode)
            assert mode & 0o077 == 0, (place, oct(mode))
    index_directory(own_environment).chmod(0o755)
    index_file(own_environment).chmod(0o644)
    open_handed("index", env=env)
    assert stat.S_IMODE(index_directory(own_environment).stat().st_mode) == 0o700
    assert stat.S_IMODE(index_file(own_environment).stat().st_mode) == 0o600


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1.5 MB."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1536k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="a small file system is mounted as Linux does it")
def test_crash_08_a_full_disk_loses_nothing_and_a_run_heals_it(
    run: Command, notes: Path, small_disk: Path, tmp_path: Path
) -> None:
    env = {"SS_INDEX_DIR": str(small_disk / "index"), "SS_CONFIG_PATH": str(small_disk / "config.json")}
    run("add", notes, env=env)
    run("index", "--no-embed", env=env)
    ballast = small_disk / "ballast"
    descriptor = os.open(ballast, os.O_WRONLY | os.O_CREAT)
    with contextlib.suppress(OSError):
        while True:
            os.write(descriptor, b"x" * 4096)
    os.close(descriptor)
    config = (small_disk / "config.json").read_bytes()
    write_tree(notes, {f"more{n}.md": sentence(n) * 30 for n in range(40)})
    full = run("index", "--no-embed", env=env, status=2)
    assert "full" in full.stderr or "space" in full.stderr, full
    assert "ault of ours" not in full.stderr
    refused = run("add", tmp_path, env=env, status=2)
    assert "ault of ours" not in refused.stderr
    assert (small_disk / "config.json").read_bytes() == config
    assert "garden.md" in run("search", "--no-refresh", "seedlings", env=env).stdout
    ballast.unlink()
    assert run("index", "--no-embed", env=env).summary["filesProcessed"] == 40
    assert "garden.md" in run("search", "tomato", env=env).stdout


def test_an_index_directory_that_cannot_be_made_is_named(run: Command, notes: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    env = {"SS_INDEX_DIR": str(tmp_path / "file/index")}
    run("add", notes)
    found = run("index", env=env, status=2)
    assert str(tmp_path / "file/index") in found.stderr
    assert "ault of ours" not in found.stderr
