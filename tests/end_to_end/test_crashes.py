"""Commands that are killed at any moment: nothing that was reported is lost, nothing is there by half."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from changed_tree import OPERATIONS, ChangedTree
from command_line import Command
from counts import a_seed, many
from faults import HOOKS, KILL
from forking import Ended, Forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, and counts the CPU of a process")


@pytest.mark.parametrize(
    "kills", [pytest.param(20, id="few"), pytest.param(many(400), marks=pytest.mark.stress, id="many")]
)
def test_killed_anywhere_nothing_is_lost_and_the_next_run_heals(
    tree: ChangedTree, forks: Forks, kills: int, tell: Callable[[str], None]
) -> None:
    """Half of them by time, anywhere in C code too, half right before a chosen call."""
    seed = a_seed()
    draw = random.Random(seed)
    whole, fresh = {}, {}
    for operation in OPERATIONS:
        tree.reset(operation)
        whole[operation] = forks(*tree.arguments(operation), env=tree.environment, places=tree.places)
        assert whole[operation].status == 0, whole[operation]
        fresh[operation] = tree.heal(operation)
    killed = dict.fromkeys(OPERATIONS, 0)
    tell(f"{kills} kills of {', '.join(OPERATIONS)}, STRESS_SEED={seed}")
    while sum(killed.values()) < kills:
        operation = min(killed, key=lambda each: killed[each])
        tree.reset(operation)
        if draw.random() < 0.5:
            seconds = draw.uniform(0.004, whole[operation].cpu)
            ended = forks(*tree.arguments(operation), env=tree.environment, cpu=seconds)
        else:
            hook = draw.choice([name for name in HOOKS if whole[operation].calls.get(name)])
            number = draw.randint(1, whole[operation].calls[hook])
            ended = forks(
                *tree.arguments(operation),
                env=tree.environment,
                places=tree.places,
                hook=hook,
                number=number,
                how=KILL,
            )
        assert ended.status <= 0, ended
        killed[operation] += ended.status < 0
        tree.check_what_is_left(fresh[operation], ended)
        tree.heal(operation)


_TIMED = (
    "import os, signal, sys; signal.setitimer(signal.ITIMER_PROF, float(sys.argv[1])); "
    "os.execv(sys.argv[2], sys.argv[2:])"
)


def timed(env: Mapping[str, str], seconds: float, *args: str) -> Ended:
    """The installed command, killed after so many seconds of CPU. LanceDB's threads do not outlive a fork."""
    done = subprocess.run(
        [sys.executable, "-c", _TIMED, str(seconds), *map(str, Command().argv(*args))],
        env=dict(env),
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr, seconds, {})


@pytest.mark.stress
def test_lancedb_too(tmp_path: Path, tell: Callable[[str], None]) -> None:
    """Always run is that of `tests/contracts`, which kills a writer of each store; here it is the command."""
    kills = many(40)
    seed = a_seed()
    draw = random.Random(seed)

    def run(*args: str, env: Mapping[str, str]) -> Ended:
        return timed(env, 0.0, *args)

    tree = ChangedTree(tmp_path, run, store="lancedb")
    began = os.times()
    tree.reset()
    fresh = {"index": tree.heal("index")}
    ended_at = os.times()
    # Two runs: the normal one, and the fresh one that it is compared with.
    whole = (sum(ended_at[2:4]) - sum(began[2:4])) / 2
    order = ("index", "remove", "rebuild", "force")
    tell(f"{kills} kills of {', '.join(order)}, STRESS_SEED={seed}")
    for number in range(kills):
        operation = order[number % 4]
        if operation not in fresh:
            tree.reset(operation)
            fresh[operation] = tree.heal(operation)
        tree.reset(operation)
        # The second half: what comes before is the loading of libraries.
        ended = timed(tree.environment, draw.uniform(whole / 2, whole), *tree.arguments(operation))
        assert ended.status <= 0, ended
        tree.check_what_is_left(fresh[operation], ended)
        tree.heal(operation)
