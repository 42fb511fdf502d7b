"""Servers, indexers and searchers on one index while its folder changes: one truth, and no error."""

from __future__ import annotations

import contextlib
import json
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest
from builders import write_tree
from command_line import Command
from counts import a_seed, many
from fresh_equality import fresh_equality
from mcp_agents import Wire
from tiny_bert import TinyBert

SERVERS, INDEXERS, SEARCHERS = 4, 2, 4
FILES = 30
# Seconds that a search may take on a machine that has nothing to do but this, and wait for others on any.
SLOW = 3.0


def note(n: int, version: int) -> str:
    """The text of a file at a version of it, in passages that all say which it is."""
    part = f"hello world number{n} version{version} a b c"
    return "\n\n".join(
        [f"# Note {n} version{version}", *[f"{part} part{k} " + "hello " * 20 for k in range(4)]]
    )


@dataclass(frozen=True, slots=True)
class Took:
    """What a search took, in seconds: by the clock, and of that neither at work nor in the queue for a core.

    The latter is what it waited for others, whatever else the machine has to do.
    """

    seconds: float
    waited: float


def at_work(pid: int, *, threads: bool) -> dict[str, float]:
    """Seconds that each thread of a process (or the first one) ran or was ready to run until now."""
    found = {}
    for place in Path("/proc").glob(f"{pid}/task/*/schedstat" if threads else f"{pid}/schedstat"):
        # A thread may have ended meanwhile; a system that does not tell has no such files.
        with contextlib.suppress(OSError):
            ran, queued, _ = place.read_text().split()
            found[place.parent.name] = (int(ran) + int(queued)) / 1e9
    return found


class Scene:
    """What goes on, and what was seen of it."""

    def __init__(self, folder: Path, run: Command, seed: int) -> None:
        self.folder, self.run, self.seed = folder, run, seed
        self.over = threading.Event()
        self.commands: list[Took] = []
        self.answers: list[Took] = []  # of the servers
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
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            seconds = time.monotonic() - began
            own = sum(at_work(child.pid, threads=False).values())
            self.commands.append(Took(seconds, seconds - own if own else 0.0))
        assert child.returncode in (0, 1), said
        assert not any(word in said for word in ("locked", "ault of ours", "Traceback")), said
        self.check(json.loads(document))

    def ask(self, wire: Wire) -> Callable[[random.Random], None]:
        """A search by a server, now and then a run."""

        def once(draw: random.Random) -> None:
            before = at_work(wire.child.pid, threads=True)
            began = time.monotonic()
            answer = wire.ask("search", query=f"hello number{draw.randrange(FILES)}", k=5)
            seconds = time.monotonic() - began
            after = at_work(wire.child.pid, threads=True)
            own = max((after[name] - before.get(name, 0.0) for name in after), default=0.0)
            self.answers.append(Took(seconds, seconds - own if own else 0.0))
            assert not answer.is_error, answer.text
            assert "locked" not in answer.text + answer.notes
            self.check(answer.json)
            if draw.random() < 0.1:
                answer = wire.ask("index")
                assert not answer.is_error, answer.text

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
            f"{in_words('servers', scene.answers)}; {in_words('commands', scene.commands)}; "
            f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, STRESS_SEED={scene.seed}"
        )
        for wire in wires:
            assert wire.close() == 0
            assert b"Traceback" not in wire.stderr and b"locked" not in wire.stderr, wire.stderr
    finally:
        for wire in wires:
            wire.__exit__()
    fresh_equality(os.environ, lambda environment: run("index", env=dict(environment)))
    if seconds:
        searches = [*scene.answers, *scene.commands]
        assert max(took.waited for took in searches) <= SLOW
        # Others may be at work on the machine too: what most commands take tells how slow everything is.
        typical = median(took.seconds for took in scene.commands)
        assert max(took.seconds for took in searches) <= max(SLOW, 5 * typical)


def in_words(what: str, searches: Sequence[Took]) -> str:
    """How many searches there were, and what they took."""
    seconds = [took.seconds for took in searches]
    waited = max(took.waited for took in searches)
    return (
        f"{len(searches)} searches by {what}: {median(seconds):.2f} s, the slowest {max(seconds):.2f}, "
        f"waited at most {waited:.2f}"
    )
