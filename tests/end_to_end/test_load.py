"""Large folders, many searches, many small changes: memory and disk stay within bounds."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import write_tree
from command_line import let_time_pass
from counts import a_seed, many
from fakes import WordsModels, configure, open_words

from semantic_search import changes
from semantic_search.corpus import Corpus
from semantic_search.settings import load_settings
from semantic_search.tools.index import Request, index
from semantic_search.tools.search import Question, search

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

# Bytes an index run may take, seconds of CPU a search, and of a look at a folder of 50 000 files.
MOST_MEMORY = 1_500_000_000
SEARCH_SECONDS = 0.3
LOOK_SECONDS = 10.0
PASSAGES = 4
PER_DIRECTORY = 100


def words_of(draw: random.Random, count: int) -> str:
    """Words as they are spread in texts: a few very common, most of them rare."""
    return " ".join(f"word{int(draw.paretovariate(0.6)) % 200_000}" for _ in range(count))


def make_folder(place: Path, files: int, seed: int) -> None:
    """A folder of so many notes of `PASSAGES` passages each."""
    draw = random.Random(seed)
    for n in range(files):
        directory = place / f"d{n // PER_DIRECTORY}"
        if n % PER_DIRECTORY == 0:
            directory.mkdir(parents=True)
        parts = [f"# Part {k} of {n}\n\n{words_of(draw, 60)}\n" for k in range(PASSAGES)]
        (directory / f"{n}.md").write_text("\n".join(parts))


def memory(name: str) -> int:
    """`VmRSS` or `VmHWM` of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise AssertionError(name)


def measure(searches: int) -> dict[str, float]:
    """Indexes what is configured, looks at it again, and searches it; what that took. For a new process."""
    opened: list[str] = []

    def audit(event: str, args: tuple[object, ...]) -> None:
        if event == "open" and str(args[0]).endswith(".md"):
            opened.append(str(args[0]))

    told: dict[str, float] = {}
    with Corpus(load_settings(), models=WordsModels()) as corpus:
        began = time.process_time()
        run = index(corpus, Request())
        assert run.whole and run.pending == 0
        told |= {"passages": sum(report.chunks for report in run.reports)}
        told |= {"index_cpu": time.process_time() - began, "index_memory": memory("VmHWM")}
        let_time_pass(Path(os.environ["HOME"]))
        sys.addaudithook(audit)
        began = time.process_time()
        assert index(corpus, Request()).reports[0].processed == 0
        told |= {"look_cpu": time.process_time() - began, "opened": len(opened)}
    with Corpus(load_settings(), models=WordsModels()) as corpus:
        draw = random.Random(7)
        # Each is asked several times: the terms of every word that was ever met are kept, up to a number.
        questions = [words_of(draw, 3) for _ in range(searches // 10)]
        taken = []
        for n in range(searches):
            began = time.process_time()
            search(corpus, Question(draw.choice(questions), 10, refresh=False))
            taken.append(time.process_time() - began)
            if n == searches // 4:
                told |= {"search_memory": memory("VmRSS")}
        told |= {"search_p95": sorted(taken)[len(taken) * 95 // 100]}
        told |= {"search_growth": memory("VmRSS") / told["search_memory"] - 1}
    return told


_IN_A_CHILD = """
import json, sys
sys.path[:0] = {path!r}
from test_load import measure
print(json.dumps(measure({searches})))
"""


@pytest.mark.parametrize(
    ("files", "searches", "growth"),
    [
        pytest.param(300, 200, 0.25, id="few"),
        pytest.param(many(50_000), many(20_000), 0.05, marks=pytest.mark.stress, id="many"),
    ],
)
def test_a_large_folder_takes_bounded_memory_and_searches_take_no_more_and_more(
    tmp_path: Path,
    own_environment: Path,
    files: int,
    searches: int,
    growth: float,
    tell: Callable[[str], None],
) -> None:
    """With a model that is made of words: what is measured is everything but the model."""
    seed = a_seed()
    make_folder(tmp_path / "notes", files, seed)
    configure(own_environment, [tmp_path / "notes"])
    script = _IN_A_CHILD.format(path=[str(Path(__file__).parent), *sys.path], searches=searches)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    tell(
        f"{files} files, {told['passages']:.0f} passages: index {told['index_cpu']:.0f} s of CPU, "
        f"{told['index_memory'] / 1e6:.0f} MB; a look {told['look_cpu']:.1f} s; {searches} searches: p95 "
        f"{1000 * told['search_p95']:.0f} ms of CPU, {told['search_memory'] / 1e6:.0f} MB, grown by "
        f"{100 * told['search_growth']:.1f} %; STRESS_SEED={seed}"
    )
    assert told["index_memory"] <= MOST_MEMORY
    assert told["opened"] == 0
    assert told["search_growth"] <= growth
    # CPU, not the clock: others may be at work too.
    assert told["look_cpu"] <= LOOK_SECONDS
    assert told["search_p95"] <= SEARCH_SECONDS


def size_of(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("store", "cycles"),
    [
        pytest.param("sqlite", 40, id="sqlite"),
        pytest.param("lancedb", 20, id="lancedb"),
        pytest.param("sqlite", many(1000), marks=pytest.mark.stress, id="sqlite-many"),
        pytest.param("lancedb", many(1000), marks=pytest.mark.stress, id="lancedb-many"),
    ],
)
def test_many_small_changes_keep_the_index_small(
    tmp_path: Path,
    own_environment: Path,
    monkeypatch: pytest.MonkeyPatch,
    store: str,
    cycles: int,
    tell: Callable[[str], None],
) -> None:
    """One file in a hundred changes, then a run; again and again."""
    # In the place of waiting until files are no longer so new that they are read once more.
    monkeypatch.setattr(changes, "RACY_NS", 0)
    seed = a_seed()
    draw = random.Random(seed)
    files = 200
    names = [f"{n}.md" for n in range(files)]
    folder = write_tree(tmp_path / "notes", {name: words_of(draw, 300) for name in names})
    configure(own_environment, [folder], storeBackend=store)
    sizes = []
    for _ in range(cycles):
        for name in draw.sample(names, files // 100):
            (folder / name).write_text(words_of(draw, 300))
        with open_words() as corpus:
            assert index(corpus, Request()).whole
            search(corpus, Question(words_of(draw, 3), 10))
        sizes.append(size_of(own_environment / "data"))
    monkeypatch.setenv("SS_INDEX_DIR", str(tmp_path / "fresh"))
    with open_words() as corpus:
        assert index(corpus, Request()).whole
    fresh = size_of(tmp_path / "fresh")
    tell(
        f"{store}: {cycles} runs, {max(sizes) / fresh:.2f} times a fresh index at most, "
        f"{sizes[-1] / fresh:.2f} at last; STRESS_SEED={seed}"
    )
    assert max(sizes) <= 3 * fresh
