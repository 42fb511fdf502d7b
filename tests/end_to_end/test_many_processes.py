"""Servers, indexers and searchers on one index while its folder changes: one truth, and no error."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import pytest
from builders import write_tree
from command_line import Command
from counts import a_seed, many
from fresh_equality import fresh_equality
from gate import Gate
from mcp_agents import Wire
from tiny_bert import TinyBert

SERVERS, INDEXERS, SEARCHERS = 4, 2, 4
FILES = 30
# Seconds of CPU that a command may take for a search.
SLOW = 3.0


def note(n: int, version: int) -> str:
    """The text of a file at a version of it, in passages that all say which it is."""
    part = f"hello world number{n} version{version} a b c"
    return "\n\n".join(
        [f"# Note {n} version{version}", *[f"{part} part{k} " + "hello " * 20 for k in range(4)]]
    )


class Scene:
    """What goes on, and what was seen of it."""

    def __init__(self, folder: Path, run: Command, seed: int) -> None:
        self.folder, self.run, self.seed = folder, run, seed
        self.over = threading.Event()
        self.commands: list[float] = []  # seconds of the clock that searches took
        self.answers: list[float] = []  # those of the servers
        self.most_cpu = 0.0  # of a command, in seconds
        self.indexed = self.edits = 0
        self.written = {(n, 0) for n in range(FILES)}

    @property
    def searches(self) -> int:
        """How many searches there were."""
        return len(self.commands) + len(self.answers)

    def until_over(self, once: Callable[[random.Random], None], number: int) -> None:
        """Does something again and again, once at least."""
        draw = random.Random(self.seed + number)
        try:
            while True:
                once(draw)
                if self.over.is_set():
                    return
        except BaseException:
            self.over.set()
            raise

    def edit(self, draw: random.Random) -> None:
        """One file is written anew, renamed away and back, or removed for a while."""
        n = draw.randrange(FILES)
        place = self.folder / f"{n}.md"
        version = self.edits + 1
        self.written.add((n, version))
        if draw.random() < 0.2:
            place.unlink(missing_ok=True)
        elif draw.random() < 0.3:
            new = place.with_name(f".{n}.new")
            new.write_text(note(n, version))
            new.replace(place)
        else:
            place.write_text(note(n, version))
        self.edits += 1

    def index(self, draw: random.Random) -> None:
        """A run of the command."""
        done = self.run("index", "--json", status=None)
        # A file may be caught while it is written; that is told, and the next run has it.
        assert done.returncode in (0, 2), done
        assert "locked" not in done.stderr and "ault of ours" not in done.stderr, done
        self.indexed += 1

    def search(self, draw: random.Random) -> None:
        """A search by the command."""
        began = time.monotonic()
        with self.run.start("search", "--json", "-k", "5", f"hello number{draw.randrange(FILES)}") as child:
            out, err = child.stdout, child.stderr
            assert out is not None and err is not None
            document = out.read()
            said = err.read().decode()
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        self.commands.append(time.monotonic() - began)
        self.most_cpu = max(self.most_cpu, used.ru_utime + used.ru_stime)
        assert child.returncode in (0, 1), said
        assert not any(word in said for word in ("locked", "ault of ours", "Traceback")), said
        self.check(json.loads(document))

    def ask(self, wire: Wire) -> Callable[[random.Random], None]:
        """A search by a server, now and then a run."""

        def once(draw: random.Random) -> None:
            began = time.monotonic()
            answer = wire.ask("search", query=f"hello number{draw.randrange(FILES)}", k=5)
            self.answers.append(time.monotonic() - began)
            assert not answer.is_error, answer.text
            assert "locked" not in answer.text + answer.notes
            self.check(answer.json)
            if draw.random() < 0.1:
                answer = wire.ask("index")
                # Among so many somebody may not get its turn for long, and is told so.
                busy = "another process is writing the index" in answer.text
                assert busy or not answer.is_error, answer.text

        return once

    def check(self, hits: list[dict[str, object]]) -> None:
        """What is found was written so."""
        for hit in hits:
            words = str(hit["text"]).split()
            numbers = {word.removeprefix("number") for word in words if word.startswith("number")}
            versions = {word.removeprefix("version") for word in words if word.startswith("version")}
            for number in numbers:
                assert len(versions) == 1, hit
                assert (int(number), int(*versions)) in self.written, hit


@pytest.mark.skipif(os.name != "posix", reason="a file in use cannot be replaced")
@pytest.mark.parametrize(
    ("edits", "seconds"),
    [pytest.param(30, 0.0, id="few"), pytest.param(0, many(600), marks=pytest.mark.stress, id="many")],
)
def test_many_processes_share_one_truth(
    run: Command,
    tmp_path: Path,
    own_environment: Path,
    edits: int,
    seconds: float,
    tell: Callable[[str], None],
) -> None:
    """So many edits, or as many as there are within so many seconds."""
    TinyBert().write(tmp_path / "tiny", window=64)
    folder = write_tree(tmp_path / "notes", {f"{n}.md": note(n, 0) for n in range(FILES)})
    run("add", folder)
    run("config", "modelName", str(tmp_path / "tiny"))
    run("index")
    scene = Scene(folder, run, a_seed())
    wires = [Wire() for _ in range(SERVERS)]
    began = time.monotonic()
    try:
        for wire in wires:
            wire.initialize()
        with ThreadPoolExecutor(SERVERS + INDEXERS + SEARCHERS) as threads:
            acts: list[Callable[[random.Random], None]] = [
                *(scene.ask(wire) for wire in wires),
                *[scene.index] * INDEXERS,
                *[scene.search] * SEARCHERS,
            ]
            going = [threads.submit(scene.until_over, act, n) for n, act in enumerate(acts)]
            draw = random.Random(scene.seed)
            while not scene.over.is_set():
                scene.edit(draw)
                asked = scene.searches
                # The next edit comes when somebody has seen this one.
                while scene.searches < asked + 2 and not scene.over.wait(0.01):
                    pass
                if scene.edits == edits or (seconds and time.monotonic() - began > seconds):
                    scene.over.set()
            for each in going:
                each.result()
        tell(
            f"{scene.edits} edits, {scene.indexed} runs in {time.monotonic() - began:.0f} s; "
            f"{in_words('servers', scene.answers)}; {in_words('commands', scene.commands)}, "
            f"at most {scene.most_cpu:.1f} s of CPU; "
            f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, STRESS_SEED={scene.seed}"
        )
        for wire in wires:
            assert wire.close() == 0
            assert b"Traceback" not in wire.stderr and b"locked" not in wire.stderr, wire.stderr
    finally:
        for wire in wires:
            wire.__exit__()
    fresh_equality(os.environ, lambda environment: run("index", env=dict(environment)))
    # By the clock it is the machine that tells: others may be at work too, and the disk may be slow.
    assert scene.most_cpu <= SLOW


def in_words(what: str, seconds: Sequence[float]) -> str:
    """How many searches there were, and what they took."""
    return f"{len(seconds)} searches by {what}: {median(seconds):.2f} s, the slowest {max(seconds):.2f}"


@pytest.mark.skipif(os.name != "posix", reason="named pipes of POSIX")
@pytest.mark.parametrize("amid", ["reading", "embedding"])
def test_no_search_waits_for_a_run_to_end(run: Command, tmp_path: Path, amid: str) -> None:
    """The run goes on when the searches have been answered, and not before."""
    TinyBert().write(tmp_path / "tiny", window=64)
    folder = write_tree(tmp_path / "notes", {f"{n}.md": note(n, 0) for n in range(FILES)})
    run("add", folder)
    run("config", "modelName", str(tmp_path / "tiny"))
    run("index")
    write_tree(folder, {f"{n}.md": note(n, 1) for n in range(FILES)})
    gate = Gate(tmp_path, file="9.md") if amid == "reading" else Gate(tmp_path, passage=1)
    with Wire() as wire:
        wire.initialize()
        child = run.start("index", "--json", env=gate.env)
        with gate.held(child):
            found = wire.ask("search", query="hello number7", k=5)
            assert found.json and not found.is_error
            assert run("search", "--json", "-k", "5", "hello number7").document
            assert child.poll() is None
        _, said = child.communicate()
        assert child.returncode == 0, said
        assert wire.close() == 0
