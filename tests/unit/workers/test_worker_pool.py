"""Workers give what this process would, in its order, whatever happens to them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from builders import source, write_tree
from command_line import wait_until
from fakes import configure

from semantic_search.chunking import Budget
from semantic_search.corpus import Corpus
from semantic_search.listing import ListingRules, list_files
from semantic_search.passages import Cutter, Recipe
from semantic_search.priority import NICENESS
from semantic_search.settings import load_settings
from semantic_search.stores import Indexed
from semantic_search.tools.index import Request, index
from semantic_search.types import Chunk, Document, Skip, Skipped, SourceFile
from semantic_search.workers import pool as pool_module
from semantic_search.workers.child import cut
from semantic_search.workers.messages import (
    Outcome,
    answer_frame,
    outcomes_of,
    recipe_frame,
    recipe_of,
    request_frame,
    request_of,
)
from semantic_search.workers.pool import WorkerPool

BUDGET = Budget(target=40, overlap=8, limit=60)
RULES = ListingRules(index_secrets=False, ignore_patterns=("*.tmp",))
_NAMED: dict[str, str | bytes] = {
    "readme.md": "# Retry budget\n\nThe gateway retries five times.\n\n" + "Слова рекурсії. " * 80,
    "src/ledger.py": "".join(f"def close_{n}(ledger):\n    return ledger.total + {n}\n\n" for n in range(60)),
    "src/windows.txt": "first line\r\nsecond line\r\n",
    "cp1251.txt": "Привет, это текст в старой кодировке. ".encode("cp1251") * 5,
    "latin.txt": "caf\u00e9 au lait".encode("latin-1"),
    "empty.txt": b"",
    "blank.md": "\n\n",
    "binary.dat": b"\0\1\2" * 50,
    "key.txt": "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7bq0x9Yk2LmMIIEpAIBAAKCAQEA7bq0\n" * 9,
    "data.json": '{"a": [' + ",".join(map(str, range(500))) + "]}",
}
_NOTES: dict[str, str | bytes] = {
    f"notes/{n:03}.md": f"# Note {n}\n\n" + f"paragraph {n} of many. " * 40 for n in range(40)
}
FILES = _NAMED | _NOTES


def cutter_of(rules: ListingRules = RULES) -> tuple[Cutter, Recipe]:
    recipe = Recipe(rules, BUDGET, "", "")
    return Cutter(rules, BUDGET, None, recipe), recipe


@pytest.fixture
def files(tmp_path: Path) -> tuple[SourceFile, ...]:
    folder = write_tree(tmp_path / "folder", FILES)
    if os.name == "posix" and sys.platform != "darwin":
        (Path(os.fsdecode(bytes(folder) + b"/\xff\xfe.md"))).write_text("# A name that is no text\n")
    return list_files(str(folder), RULES).files


def in_batches(files: Sequence[SourceFile], size: int = 7) -> list[Sequence[SourceFile]]:
    return [files[start : start + size] for start in range(0, len(files), size)]


def here(files: Sequence[SourceFile]) -> list[Outcome]:
    """What this process makes of the files."""
    cutter, _ = cutter_of()
    return cut(cutter, [(file, "") for file in files])


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_workers_give_what_this_process_does_in_its_order(files: tuple[SourceFile, ...]) -> None:
    batches = in_batches(files)
    found = list(WorkerPool(*cutter_of(), 2).cut(batches))
    assert found == [here(batch) for batch in batches]
    flat = [outcome for batch in found for outcome in batch]
    assert {type(outcome) for outcome in flat} == {Indexed, Skipped}
    assert {o.reason for o in flat if isinstance(o, Skipped)} == {Skip.EMPTY, Skip.BINARY, Skip.SECRET}


def test_content_that_is_known_is_not_cut_again(files: tuple[SourceFile, ...]) -> None:
    (first, *_), *_ = WorkerPool(*cutter_of(), 1).cut([files[-1:]])
    assert isinstance(first, Indexed)
    known = first.document.sha256
    ((same,),) = WorkerPool(*cutter_of(), 1).cut([files[-1:]], lambda _: known)
    assert isinstance(same, Document) and same.sha256 == known and same.source == first.document.source


def test_a_killed_worker_costs_nothing(files: tuple[SourceFile, ...]) -> None:
    batches = in_batches(files)
    pool = WorkerPool(*cutter_of(), 2)
    found = []
    for number, outcomes in enumerate(pool.cut(batches)):
        found.append(outcomes)
        if number in (0, 2):
            for pid in pool.pids:
                os.kill(pid, signal.SIGTERM)
    assert found == [here(batch) for batch in batches]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is changed")
def test_workers_give_way_to_others(files: tuple[SourceFile, ...]) -> None:
    pool = WorkerPool(*cutter_of(), 2)
    seen: set[int] = set()
    for _ in pool.cut(in_batches(files)):
        seen.update(os.getpriority(os.PRIO_PROCESS, pid) for pid in pool.pids)
    assert seen == {max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0))}


_DEADLY = """
import os, signal
from semantic_search.workers import child
harmless = child.cut
def cut(cutter, files):
    for file, _ in files:
        if file.path.endswith("segv.md"):
            os.kill(os.getpid(), signal.SIGSEGV)
        if file.path.endswith("kill.md"):
            os.kill(os.getpid(), signal.SIGKILL)
    return harmless(cutter, files)
child.cut = cut
main = child.main
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_file_that_ends_its_worker_is_skipped_alone(tmp_path: Path) -> None:
    names = ["a.md", "b-segv.md", "c.md", "d-kill.md", "e.md"]
    folder = write_tree(tmp_path / "folder", {name: f"# {name}\n\ntext\n" for name in names})
    (tmp_path / "deadly.py").write_text(_DEADLY)
    listed = list_files(str(folder), RULES).files
    pool = WorkerPool(*cutter_of(), 1, module="deadly", path=[str(tmp_path)])
    (found,) = pool.cut([listed])
    assert [type(outcome) for outcome in found] == [Indexed, Skipped, Indexed, Skipped, Indexed]
    reasons = [outcome.reason for outcome in found if isinstance(outcome, Skipped)]
    assert reasons == [Skip.FAULT, Skip.FAULT]
    details = [outcome.detail for outcome in found if isinstance(outcome, Skipped)]
    assert [detail.rpartition(" ")[2] for detail in details] == ["SIGSEGV", "SIGKILL"]


def test_without_workers_files_come_as_read(files: tuple[SourceFile, ...]) -> None:
    batches = in_batches(files)
    cutter, recipe = cutter_of()
    found = list(WorkerPool(cutter, recipe, 2, module="no_such_module").cut(batches))
    assert found == [[cutter.read(file) for file in batch] for batch in batches]


def test_a_worker_with_another_model_is_not_used(files: tuple[SourceFile, ...]) -> None:
    cutter, recipe = cutter_of()
    unknown = Recipe(recipe.rules, recipe.budget, "no-such-model", "/nowhere")
    (found,) = WorkerPool(cutter, unknown, 1).cut([files[-2:]])
    assert found == [cutter.read(file) for file in files[-2:]]


def test_the_first_batch_comes_though_the_run_is_stopped_and_no_worker_stays(
    files: tuple[SourceFile, ...],
) -> None:
    pool = WorkerPool(*cutter_of(), 2)
    pids: set[int] = set()
    count = 0
    for _ in pool.cut(in_batches(files, 1), stop=lambda: True):
        pids.update(pool.pids)
        count += 1
    assert 1 <= count < len(files)
    assert pids and pool.pids == [] and not any(map(alive, pids))


def test_a_run_that_is_given_up_leaves_no_worker(files: tuple[SourceFile, ...]) -> None:
    pool = WorkerPool(*cutter_of(), 2)
    outcomes = pool.cut(in_batches(files))
    next(outcomes)
    pids = pool.pids
    assert pids
    outcomes.close()  # type: ignore[attr-defined]
    assert pool.pids == [] and not any(map(alive, pids))


_PARENT = """
import sys
sys.path[:0] = {path!r}
from test_worker_pool import cutter_of, in_batches, RULES
from semantic_search.listing import list_files
from semantic_search.workers.pool import WorkerPool
batches = in_batches(list_files({folder!r}, RULES).files)[:{batches}]
pool = WorkerPool(*cutter_of(), len(batches), module="blocked", path=[{place!r}])
for _ in pool.cut(batches):
    print(*pool.pids, flush=True)
    sys.stdin.read()
"""
# Two batches stop where they are, one gets through.
_BLOCKED = """
import os, threading
from semantic_search.workers import child
harmless = child.cut
def cut(cutter, files):
    if {batches} > 1:
        open(os.path.join({begun!r}, str(os.getpid())), "w").close()
        threading.Event().wait()
    return harmless(cutter, files)
child.cut = cut
main = child.main
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("batches", [1, 2], ids=["idle", "busy"])
def test_workers_end_with_a_parent_that_was_killed(
    files: tuple[SourceFile, ...], tmp_path: Path, batches: int
) -> None:
    begun = tmp_path / "begun"
    begun.mkdir()
    (tmp_path / "blocked.py").write_text(_BLOCKED.format(batches=batches, begun=str(begun)))
    path = [str(Path(__file__).parent), *sys.path]
    script = _PARENT.format(path=path, folder=files[0].folder, batches=batches, place=str(tmp_path))
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        if batches == 1:
            pids = [int(pid) for pid in parent.stdout.readline().split()]
        else:
            wait_until(lambda: len(os.listdir(begun)) == batches)
            pids = [int(pid) for pid in os.listdir(begun)]
        assert len(pids) == batches and all(map(alive, pids))
        parent.kill()
    wait_until(lambda: not any(map(_runs, pids)))


def _runs(pid: int) -> bool:
    """Whether a process is there and no mere entry that nobody has waited for."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.startswith("Z")


_WITHOUT_GUARD = """
import os, sys
from semantic_search.corpus import Corpus
from semantic_search.settings import load_settings
from semantic_search.tools.index import Request, index
from semantic_search.workers import pool
pool.LEAST_BYTES = 0
print("once", os.getpid())
with Corpus(load_settings()) as corpus:
    run = index(corpus, Request(threads=2, embed=False))
print(sum(report.processed for report in run.reports), run.notes, [report.notes for report in run.reports])
"""


def test_a_script_without_a_guard_is_run_once_and_its_input_is_left_alone(
    tmp_path: Path, own_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SS_MODEL_NAME", "paraphrase-multilingual-MiniLM-L12-v2")  # not on this machine
    folder = write_tree(tmp_path / "folder", {f"{n}.md": f"# Note {n}\n\ntext\n" for n in range(200)})
    configure(own_environment, [folder])
    (tmp_path / "script.py").write_text(_WITHOUT_GUARD)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")],
        input="kept",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    once, counts = done.stdout.splitlines()
    assert once.startswith("once ") and counts.startswith("200 ")


def test_an_index_by_workers_is_the_index_of_one_process(
    tmp_path: Path, own_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the default model; passage for passage, and in the same order of writes."""
    folder = write_tree(tmp_path / "folder", FILES)
    write_tree(folder, {f"more/{n}.txt": f"text {n}\n" for n in range(120)})
    configure(own_environment, [folder])
    monkeypatch.setattr(pool_module, "LEAST_BYTES", 0)
    dumps = []
    for threads in (1, 2):
        monkeypatch.setenv("SS_INDEX_DIR", str(tmp_path / f"index-{threads}"))
        with Corpus(load_settings()) as corpus:
            run = index(corpus, Request(threads=threads, embed=False))
            assert run.whole and not run.notes
            store, _ = corpus.reading()
            paths = sorted(store.known(str(folder.resolve())))
            passages = [store.passages_of(str(folder.resolve()), path) for path in paths]
            everything = [passage.id for of_file in passages for passage in of_file]
            dumps.append((paths, passages, store.pending(10_000), store.frequencies(["note", "retri"])))
            assert len(everything) > 170
    assert dumps[0] == dumps[1]


def test_messages_come_back_as_they_were() -> None:
    odd = SourceFile("/f\udcff", "a\udcfe/б.md", 5, 2**62, 3, 2**63 + 5)
    document = Document(odd, "ab" * 32, "text\u2028 \ud800 кінець", "markdown", (0, 3), ("a note",))
    chunk = Chunk(0, 4, 1, 1, "text", "A > B", "f", "function", 2)
    outcomes: list[Outcome] = [
        Indexed(document, (chunk,), ("text",), ("b md",), ("Latin",), (b"k" * 16,), "b md"),
        Indexed(Document(odd, "", " ", "text"), (), (), (), (), (), ""),
        Indexed(document, (chunk, chunk), ("", ""), ("", "x"), ("Latin", "Han"), (b"1" * 16, b"2" * 16), ""),
        Skipped(odd, Skip.DAMAGED, "a\udcffdetail"),
        Document(odd, "cd" * 32, "", "text"),
    ]
    assert outcomes_of(*answer_frame(outcomes), odd.folder) == outcomes
    assert request_of(request_frame([odd], ["ab"])[0]) == [(odd, "ab")]
    assert request_of(request_frame([source()], [""])[0]) == [(source(), "")]
    recipe = Recipe(RULES, BUDGET, "words", "/cache")
    assert recipe_of(recipe_frame(recipe)[0]) == recipe
