"""Commands that are killed at any moment: nothing that was reported is lost, nothing is there by half."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from changed_tree import OPERATIONS, ChangedTree
from counts import a_seed, many
from faults import HOOKS, KILL
from forking import Forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, and counts the CPU of a process")


@pytest.fixture
def forks() -> Iterator[Forks]:
    started = Forks()
    yield started
    started.close()


@pytest.fixture
def tree(tmp_path: Path, forks: Forks) -> ChangedTree:
    return ChangedTree(tmp_path, forks)


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
