"""Any one call that fails: a clear message, the other files indexed, and one normal run heals."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from changed_tree import ChangedTree
from counts import a_seed, many
from faults import ERRORS, HOOKS
from forking import Ended, Forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")

# Faults of one file, which cost that file at most.
OF_A_FILE = ("open", "read", "extract")


@pytest.fixture
def forks() -> Iterator[Forks]:
    started = Forks()
    yield started
    started.close()


@pytest.fixture
def tree(tmp_path: Path, forks: Forks) -> ChangedTree:
    return ChangedTree(tmp_path, forks)


def check(ended: Ended) -> None:
    """It ended as documented, in words for the user."""
    said = (ended.status, ended.stderr[-600:])
    assert ended.status in (0, 2), said
    assert "Traceback" not in ended.stderr + ended.stdout, said
    assert "ault of ours" not in ended.stderr, said
    assert ended.status == 0 or ended.stderr.strip(), said


@pytest.mark.parametrize(
    ("operation", "most", "everything"),
    [
        pytest.param("index", 3, False),
        pytest.param("remove", 3, False),
        pytest.param("migrate", 1, False),
        *(
            pytest.param(each, many(20), True, marks=pytest.mark.stress, id=f"{each}-many")
            for each in ("index", "remove", "rebuild", "migrate")
        ),
    ],
)
def test_any_call_may_fail(
    tree: ChangedTree,
    forks: Forks,
    operation: str,
    most: int,
    everything: bool,
    tell: Callable[[str], None],
) -> None:
    """The first, second, third … call of each kind, as long as there is one."""
    seed = a_seed()
    draw = random.Random(seed)
    tree.reset(operation)
    fresh = tree.heal(operation)
    swept = 0
    troubles = []
    for hook in HOOKS:
        for number in range(1, most + 1):
            fired = False
            for how in ERRORS if everything else [draw.choice(ERRORS)]:
                tree.reset(operation)
                ended = forks(
                    *tree.arguments(operation),
                    env=tree.environment,
                    places=tree.places,
                    hook=hook,
                    number=number,
                    how=how,
                )
                if ended.calls.get(hook, 0) < number:
                    continue
                fired = True
                swept += 1
                try:
                    check(ended)
                    tree.check_what_is_left(fresh, ended)
                    if hook in OF_A_FILE:
                        tree.check_all_but_one(fresh)
                    tree.heal(operation)
                except AssertionError as error:
                    troubles.append(f"{how} at call {number} of {hook}: {error}".splitlines()[0][:500])
            if not fired:
                break
    tell(f"{swept} failing calls of {operation}, STRESS_SEED={seed}")
    assert not troubles, "\n".join([f"{len(troubles)} of {swept}", *troubles])


@pytest.mark.parametrize("how", ERRORS)
def test_a_document_that_cannot_be_extracted_costs_itself_alone(
    tmp_path: Path, forks: Forks, how: str
) -> None:
    tree = ChangedTree(tmp_path, forks, documents=True)
    ended = forks("index", env=tree.environment, places=tree.places, hook="extract", number=1, how=how)
    check(ended)
    assert ended.calls["extract"] >= 1
    left = tree.heal("index")
    assert {path for _, path in left.of_files() if path.endswith(".pptx")} == {"slides0.pptx", "slides1.pptx"}
