"""What becomes of a document when the code that reads it hangs, crashes, eats memory or lies."""

from __future__ import annotations

import gc
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import PATIENCE

from semantic_search.formats import FORMATS, Extracted, Pool, Refused
from semantic_search.types import Skip

HOSTILE = """
import os, signal, sys
from semantic_search.formats.outcome import Extracted, Refused
from semantic_search.types import Skip

served = 0

def extract(data):
    global served
    served += 1
    word = data.decode()
    if word == "hang":
        while True: pass
    if word.startswith("announce "):
        open(word.split()[1], "w").close()
        while True: pass
    if word == "sleep":
        import threading; threading.Event().wait()
    if word == "exhaust":
        return Extracted("x" * 10**12)
    if word == "grow":
        held = []
        while True: held.append(bytearray(1 << 20))
    if word == "half":
        held = bytearray(b"x") * 310_000_000
        return Extracted(f"{os.getpid()}")
    if word == "exit":
        os._exit(3)
    if word == "die-late" and served > 1:
        os._exit(3)
    if word == "raise":
        raise RuntimeError("line one\\nline two")
    if word == "recurse":
        return extract(data)
    if word == "print":
        print("noise"); sys.stderr.write("noise"); os.write(1, b"noise"); os.write(2, b"noise")
        return Extracted(repr(sys.stdin.read()))
    if word == "wrong":
        return word
    if word == "dirty":
        return Extracted("a\\r\\nb")
    if word == "pages":
        return Extracted("abc", (2, 1))
    if word == "surrogates":
        return Refused(Skip.DAMAGED, "\\ud800 " + "y" * 500)
    if word.startswith("SIG"):
        os.kill(os.getpid(), getattr(signal, word))
    return Extracted(f"{word} {os.getpid()}", (0,), ("a note",))
"""

# Address space: each thread that allocates may take 128 MB of it for a moment, whatever it needs.
MEMORY = 600_000_000


def make_pool(place: Path) -> Pool:
    (place / "hostile.py").write_text(HOSTILE, encoding="utf-8")
    (place / "broken.py").write_text("import no_such_library", encoding="utf-8")
    formats = {".x": "hostile", ".broken": "broken", ".absent": "absent_module"}
    return Pool(formats, memory=MEMORY, path=[str(place)])


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[Pool]:
    with make_pool(tmp_path) as pool:
        yield pool


def ask(pool: Pool, word: str, seconds: float = PATIENCE) -> Extracted | Refused:
    return pool.extract(".x", word.encode(), seconds=seconds)


def child_of(pool: Pool) -> int:
    outcome = ask(pool, "pid")
    assert isinstance(outcome, Extracted), outcome
    return int(outcome.text.split()[1])


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_child_serves_many_documents(pool: Pool) -> None:
    first = child_of(pool)
    assert first != os.getpid()
    assert pool.extract(".X", b"word") == Extracted(f"word {first}", (0,), ("a note",))
    assert child_of(pool) == first


_LARGE_PARENT = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
from test_formats_child import child_of, make_pool
held = b"x" * 400_000_000
with make_pool(Path({place!r})) as pool:
    assert child_of(pool) == child_of(pool)
assert len(held)
"""


def test_a_large_parent_does_not_make_its_children_large(tmp_path: Path) -> None:
    script = _LARGE_PARENT.format(path=[str(Path(__file__).parent), *sys.path], place=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_empty_and_unknown(pool: Pool) -> None:
    assert pool.extract(".x", b"") == Refused(Skip.EMPTY)
    with pytest.raises(KeyError):
        pool.extract(".y", b"data")


@pytest.mark.parametrize("word", ["hang", "sleep"])
def test_time_runs_out_and_the_next_document_is_read(pool: Pool, word: str) -> None:
    before = child_of(pool)
    assert ask(pool, word, seconds=0.3) == Refused(Skip.TIMED_OUT)
    assert child_of(pool) != before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the address space reliably")
@pytest.mark.parametrize("word", ["exhaust", "grow"])
def test_memory_runs_out_and_the_next_document_is_read(pool: Pool, word: str) -> None:
    before = child_of(pool)
    outcome = ask(pool, word)
    assert isinstance(outcome, Refused) and outcome.reason is Skip.TOO_COMPLEX
    assert child_of(pool) != before


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not tell a process its peak memory")
def test_a_child_that_grew_large_is_replaced(pool: Pool) -> None:
    large = ask(pool, "half")
    assert isinstance(large, Extracted)
    assert child_of(pool) != int(large.text)


def test_a_crash_is_judged_by_a_child_that_saw_no_other_document(pool: Pool) -> None:
    before = child_of(pool)
    assert isinstance(ask(pool, "die-late"), Extracted)
    outcome = ask(pool, "exit")
    assert outcome == Refused(Skip.DAMAGED, "the extraction process ended with status 3")
    assert child_of(pool) != before


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("SIGSEGV", Skip.DAMAGED),
        ("SIGABRT", Skip.TOO_COMPLEX),
        ("SIGTRAP", Skip.TOO_COMPLEX),
        ("SIGKILL", Skip.TOO_COMPLEX),
        ("SIGXCPU", Skip.TIMED_OUT),
    ],
)
def test_signals_have_reasons(pool: Pool, name: str, reason: Skip) -> None:
    outcome = ask(pool, name)
    assert isinstance(outcome, Refused) and outcome.reason is reason


@pytest.mark.parametrize(
    ("word", "reason", "detail"),
    [
        ("raise", Skip.DAMAGED, "RuntimeError: line one line two"),
        ("recurse", Skip.TOO_COMPLEX, "nested too deeply"),
        ("wrong", Skip.UNREADABLE, "hostile gave a str"),
        ("dirty", Skip.DAMAGED, "the extraction process answered nonsense: text that is not clean"),
        ("pages", Skip.DAMAGED, "the extraction process answered nonsense: pages outside of the text"),
        ("surrogates", Skip.DAMAGED, "\ufffd " + "y" * 198),
    ],
)
def test_faults_of_a_format_are_reasons(pool: Pool, word: str, reason: Skip, detail: str) -> None:
    assert ask(pool, word) == Refused(reason, detail)
    assert isinstance(ask(pool, "next"), Extracted)


def test_what_a_library_prints_or_reads_does_not_disturb(pool: Pool) -> None:
    assert ask(pool, "print") == Extracted("''")
    assert isinstance(ask(pool, "next"), Extracted)


@pytest.mark.parametrize("suffix", [".broken", ".absent"])
def test_a_missing_library_is_said_and_not_blamed_on_the_document(pool: Pool, suffix: str) -> None:
    outcome = pool.extract(suffix, b"data")
    assert isinstance(outcome, Refused)
    assert outcome.reason is Skip.UNREADABLE and outcome.reason.transient
    assert "a library is missing" in outcome.detail


def test_a_child_that_cannot_be_started_is_said(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    outcome = ask(pool, "word")
    assert isinstance(outcome, Refused) and outcome.reason is Skip.UNREADABLE


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_a_child_that_ends_at_once_is_said(
    pool: Pool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\nexit 7\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))
    assert ask(pool, "word") == Refused(
        Skip.UNREADABLE, "the extraction process could not be started: it ended with status 7"
    )


def test_a_large_document_and_a_large_answer_pass(pool: Pool) -> None:
    word = "ї" * 5_000_000
    outcome = ask(pool, word)
    assert isinstance(outcome, Extracted) and outcome.text.startswith(word)


@pytest.mark.skipif(sys.platform == "win32", reason="process ids are reused at once")
def test_close_leaves_no_child_and_can_be_followed_by_more(pool: Pool) -> None:
    first = child_of(pool)
    pool.close()
    assert not alive(first)
    second = child_of(pool)
    assert alive(second)
    pool.close()
    pool.close()
    assert not alive(second)
    gc.collect()


def test_a_child_at_work_while_the_pool_closes_is_ended_afterwards(pool: Pool) -> None:
    first = child_of(pool)
    outcomes = []
    slow = threading.Thread(target=lambda: outcomes.append(ask(pool, "sleep", seconds=0.5)))
    slow.start()
    pool.close()
    slow.join()
    assert outcomes == [Refused(Skip.TIMED_OUT)]
    assert child_of(pool) != first


PARENT = """
import os, sys, threading
from semantic_search.formats import Pool
pool = Pool({".x": "hostile"}, path=[sys.argv[1]])
print(pool.extract(".x", b"pid").text.split()[1], flush=True)
if sys.argv[2] == "busy":
    begun = os.path.join(sys.argv[1], "begun")
    word = ("announce " + begun).encode()
    threading.Thread(target=pool.extract, args=(".x", word), daemon=True).start()
    while not os.path.exists(begun): pass
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the state of a process that is not ours")
@pytest.mark.parametrize("state", ["idle", "busy"])
def test_children_end_with_their_parent(pool: Pool, tmp_path: Path, state: str) -> None:
    parent = subprocess.run(
        [sys.executable, "-c", PARENT, str(tmp_path), state], stdout=subprocess.PIPE, check=False
    )
    assert parent.returncode == -signal.SIGKILL
    child = int(parent.stdout)
    if alive(child):
        descriptor = os.pidfd_open(child)
        try:
            assert select.select([descriptor], [], [], PATIENCE)[0]
        finally:
            os.close(descriptor)


CLOSED_STREAMS = """
import os, sys
for descriptor in (0, 1, 2):
    os.close(descriptor)
from semantic_search.formats import Pool
with Pool({".x": "hostile"}, path=[sys.argv[1]]) as pool:
    outcome = pool.extract(".x", b"word")
os._exit(0 if outcome.text.startswith("word ") else 1)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors")
def test_the_parents_own_streams_may_be_closed(pool: Pool, tmp_path: Path) -> None:
    assert subprocess.run([sys.executable, "-c", CLOSED_STREAMS, str(tmp_path)], check=False).returncode == 0


QUIET_EXIT = """
from semantic_search import formats
import sys
assert "pypdfium2" not in sys.modules and "xml" not in sys.modules and "zipfile" not in sys.modules
formats.extract(".pdf", b"no pdf")
assert "pypdfium2" not in sys.modules
"""


def test_the_package_imports_no_document_library_and_exits_quietly() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-X", "dev", "-c", QUIET_EXIT], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_every_format_can_be_imported_in_the_child() -> None:
    with Pool(FORMATS) as pool:
        for suffix in FORMATS:
            outcome = pool.extract(suffix, bytes(range(32)) * 10)
            assert isinstance(outcome, Refused), (suffix, outcome)
            assert outcome.reason in (Skip.DAMAGED, Skip.UNDECODABLE), (suffix, outcome)
