"""The end of the installed server in every state, and several of them on one index."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import write_tree
from command_line import PATIENCE, Command, environment, index_file, opened, wait_until
from gate import Gate
from mcp_agents import NO_MODEL, Wire

FILES, FEW = 2500, 300
# Far from the first and the last of them in the order of paths.
AMID = "5.md"


@pytest.fixture(autouse=True)
def by_words_alone(own_environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here is about vectors, but for the one that says so."""
    monkeypatch.setenv("SS_MODEL_NAME", NO_MODEL)


posix = pytest.mark.skipif(os.name != "posix", reason="named pipes of POSIX")


@pytest.fixture
def many(run: Command, notes: Path) -> Path:
    """A folder whose first index run takes a while."""
    write_tree(notes, pages(FILES))
    run("add", notes)
    return notes


def pages(count: int) -> dict[str, str | bytes]:
    """So many files of forty paragraphs."""
    page = "\n\n".join(f"The walrus of paragraph {n} likes fish and ice." for n in range(40))
    return {f"many/{n}.md": f"# Page {n}\n\n{page}\n" for n in range(count)}


def _fresh(wire: Wire, home: Path) -> None:
    """Nothing was said yet."""


def _idle(wire: Wire, home: Path) -> None:
    wire.initialize()
    assert wire.ask("list_folders").text


def _indexing(wire: Wire, home: Path) -> None:
    wire.initialize()
    wire.call("index", _token="t")
    wire.until(lambda message: message.get("params", {}).get("progress", 0) > 0)


def _searching(wire: Wire, home: Path) -> None:
    _indexing(wire, home)
    for _ in range(20):
        wire.call("search", query="walrus")


def _grepping(wire: Wire, home: Path) -> None:
    wire.initialize()
    for _ in range(6):
        wire.call("grep", pattern="a|walrus of no page")


STATES = [_fresh, _idle, _indexing, _searching, _grepping]


def _end_of_input(wire: Wire) -> int:
    return wire.close()


def _sigterm(wire: Wire) -> int:
    wire.child.send_signal(signal.SIGTERM)
    return wire.child.wait(PATIENCE)


def _sigint(wire: Wire) -> int:
    wire.child.send_signal(signal.SIGINT)
    return wire.child.wait(PATIENCE)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(("way", "status"), [(_end_of_input, 0), (_sigterm, 143), (_sigint, 130)])
def test_mcp_life_03_the_server_ends_and_the_index_is_sound(
    many: Path,
    own_environment: Path,
    state: Callable[[Wire, Path], None],
    way: Callable[[Wire], int],
    status: int,
) -> None:
    with Wire() as wire:
        if state is _fresh and way is not _end_of_input:
            # The signal must not come before there is somebody to take it.
            wire.request("ping")
            wire.until(lambda message: True)
        state(wire, own_environment)
        assert way(wire) == status
        assert b"Traceback" not in wire.stderr
    if state in (_indexing, _searching):
        with opened(index_file(own_environment)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            (files,) = db.execute("SELECT count(*) FROM files WHERE chunks > 0").fetchone()
        # On a quick machine the run may be over before the end.
        assert 0 < files <= FILES + 3


def test_what_a_stopped_server_left_is_finished_by_the_next_run(
    many: Path, run: Command, own_environment: Path
) -> None:
    with Wire() as wire:
        _indexing(wire, own_environment)
        wire.close()
    summary = run("index", "--no-embed", "--json").document
    assert summary["filesProcessed"] <= FILES and summary["filesUnchanged"] > 0
    assert run("status", "--json").document["folders"][0]["files"] == FILES + 3


@posix
def test_mcp_life_02_a_cancelled_index_call_stops_and_frees_the_index(
    many: Path, run: Command, own_environment: Path, tmp_path: Path
) -> None:
    gate = Gate(tmp_path, file=AMID)
    with Wire(env=gate.env) as wire:
        wire.initialize()
        id_ = wire.call("index", _token="t")
        with gate.held(wire.child):
            wire.until(lambda message: message.get("params", {}).get("progress", 0) > 0)
            wire.notify("notifications/cancelled", requestId=id_)
            # Messages are taken in their order: an answer to a later one comes after the cancellation.
            assert wire.job()["running"]
        wait_until(lambda: not wire.job()["running"])
        job = wire.job()
        assert job["interrupted"] is True and 0 < job["filesProcessed"] < FILES
        assert run("index", "--max-files", "1", "--no-embed", "--json").document["truncated"] is True
        assert wire.close() == 0
    assert all(message.get("id") != id_ for message in wire.messages)


@posix
def test_mcp_life_04_searches_are_answered_while_an_index_run_is_under_way(
    many: Path, own_environment: Path, tmp_path: Path
) -> None:
    gate = Gate(tmp_path, file=AMID)
    with Wire(env=gate.env) as wire:
        _indexing(wire, own_environment)
        with gate.held(wire.child):
            found = [wire.ask("search", query=f"walrus of paragraph {n}", k=3) for n in range(10)]
        assert all(not answer.is_error and json.loads(answer.text) for answer in found)
        assert all("an index run is under way" in answer.notes for answer in found)
        assert wire.close() == 0


def _gone(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


PARENT = """
import os, subprocess, sys, time
read, write = os.pipe()
child = subprocess.Popen(sys.argv[1:], stdin=read, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
# Another child keeps the pipe open: the end of input never comes.
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], pass_fds=[write])
print(child.pid, other.pid, flush=True)
os.close(read)
time.sleep(600)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="asks Linux whether a process is gone")
def test_mcp_life_03_the_server_ends_when_its_client_is_killed(indexed: Path) -> None:
    argv = [str(part) for part in Command().argv("mcp")]
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *argv], stdout=subprocess.PIPE, env=environment(None)
    ) as parent:
        assert parent.stdout is not None
        server, other = map(int, parent.stdout.readline().split())
        try:
            wait_until(lambda: len(os.listdir(f"/proc/{server}/task")) > 2)
            parent.kill()
            wait_until(lambda: _gone(server))
            assert not _gone(other)
        finally:
            os.kill(other, signal.SIGKILL)
            parent.kill()


def test_two_servers_and_an_indexer_on_one_index(notes: Path, run: Command, own_environment: Path) -> None:
    # Few: whoever is the last waits for the runs of the two others, and not for ever.
    write_tree(notes, pages(FEW))
    run("add", notes)
    with Wire() as first, Wire() as second:
        first.initialize()
        second.initialize()
        runs = [first.call("index"), second.call("index")]
        with run.start("index", "--no-embed", "--json") as indexer:
            for n in range(8):
                for wire in (first, second):
                    answer = wire.ask("search", query=f"walrus of paragraph {n}", k=3)
                    assert not answer.is_error, answer.text
                    assert "locked" not in answer.text + answer.notes
            _, err = indexer.communicate()
            assert indexer.returncode == 0, err
        for wire, id_ in zip((first, second), runs, strict=True):
            done = wire.result(id_)
            assert not done.is_error, done.text
        write_tree(notes, {"zorb.md": "the zorb is new\n"})
        run("index", "--no-embed")
        for wire in (first, second):
            assert json.loads(wire.ask("search", query="zorb", k=1).text)[0]["path"] == "zorb.md"
        write_tree(notes, {"quux.md": "the quux is newer\n"})
        assert first.index()["filesProcessed"] == 1
        assert json.loads(second.ask("search", query="quux", k=1).text)[0]["path"] == "quux.md"
        assert first.close() == 0 and second.close() == 0
        for wire in (first, second):
            assert b"locked" not in wire.stderr and b"Traceback" not in wire.stderr
    assert run("status", "--json").document["folders"][0]["files"] == FEW + 5
    with opened(index_file(own_environment)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_vectors_go_on_in_the_background_and_end_with_the_client(
    run: Command, notes: Path, own_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the real model: the state that lasts longest."""
    monkeypatch.delenv("SS_MODEL_NAME")
    page = "\n\n".join(f"The walrus of paragraph {n} likes fish and ice. " * 12 for n in range(60))
    write_tree(notes, {"long.md": page})
    run("add", notes)
    before = run("index", "--no-embed").summary["pendingVectors"]

    def waiting(wire: Wire) -> int:
        found = json.loads(wire.ask("index_status").text)["folders"][0]["pendingVectors"]
        assert isinstance(found, int)
        return found

    with Wire() as wire:
        wire.initialize()
        wire.answer(wire.request("tools/list"))
        wait_until(lambda: waiting(wire) < before)
        assert json.loads(wire.ask("search", query="what do walruses like", k=1).text)
        assert wire.close() == 0
        assert b"Traceback" not in wire.stderr
    with opened(index_file(own_environment)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (made,) = db.execute("SELECT count(*) FROM embeddings WHERE vector IS NOT NULL").fetchone()
    assert made > 0
