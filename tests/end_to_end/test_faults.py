"""Any one call that fails: a clear message, the other files indexed, and one normal run heals."""

from __future__ import annotations

import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import write_tree
from changed_tree import ChangedTree
from command_line import Command
from counts import a_seed, many
from faults import ERRORS, HOOKS
from forking import Ended, Forks
from tiny_bert import TinyBert

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")

# Faults of one file, which cost that file at most.
OF_A_FILE = ("open", "read", "extract")


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


# A library in C that crashes at one text: in the command, and in every process that it starts.
_CRASHING = """
import os, signal, tree_sitter
whole = tree_sitter.Parser
class Parser:
    def __init__(self, language):
        self.whole = whole(language)
    def parse(self, read, **options):
        if b"zeppelin" in read(0, None):
            os.kill(os.getpid(), signal.SIGSEGV)
        return self.whole.parse(read, **options)
    def reset(self):
        self.whole.reset()
tree_sitter.Parser = Parser
"""


def test_a_parser_that_crashes_stops_one_run_and_no_other(run: Command, tmp_path: Path) -> None:
    """The run that it hits first ends with it. From then on that file is cut by another process."""
    TinyBert().write(tmp_path / "tiny", window=64)
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "sitecustomize.py").write_text(_CRASHING)
    crashing = {"PYTHONPATH": str(tmp_path / "path")}
    names = [f"{n}.py" for n in range(9)]
    folder = write_tree(tmp_path / "code", {name: f"def hello{name[0]}():\n    pass\n" for name in names})
    (folder / "5.py").write_text("def zeppelin():\n    pass\n")
    run("add", folder)
    run("config", "modelName", str(tmp_path / "tiny"))
    died = run("index", status=None, env=crashing)
    assert died.returncode == -signal.SIGSEGV
    for changed in (0, 0, 1):
        # The second time it is known for it; the third it has changed.
        with (folder / "5.py").open("a") as file:
            file.write("\n" * changed)
        (folder / "0.py").write_text(f"def hello0():\n    return {changed}\n")
        ended = run("index", status=2, env=crashing)
        told = "5.py: a fault of ours (the process that cut it ended with SIGSEGV); it is tried again"
        assert told in ended.stdout + ended.stderr, ended
        assert ended.summary["skipped"] == {"fault": 1} and ended.summary["filesFailed"] == 1, ended
        found = run.search("hello0 hello1 hello2 hello3 hello4 hello6 hello7 hello8", env=crashing)
        assert sorted(found) == [name for name in names if name != "5.py"]
    (folder / "5.py").write_text("def balloon():\n    pass\n")
    assert run.search("balloon", env=crashing) == ["5.py"]
    run("index", env=crashing)
