"""What indexing a checkout costs: time, CPU, memory, disk, and what a run costs when nothing changed.

    python benchmarks/checkout.py PATH [--embed-seconds N] [--work DIR]

Every figure is of the installed command as a process of its own, in an index of its own. The first run is the
lexical phase alone; then the same with nothing changed; then vectors, for N seconds (0: all of them); then
cold searches, both arms and words alone. Beside each time stands that of a bare Python start in the same
minute, since machines are noisy. For POSIX systems.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

QUESTION = "where is a lost connection tried again"


@dataclass(frozen=True, slots=True)
class Cost:
    """A process: wall-clock and CPU seconds, peak resident megabytes, exit status, last line of stdout."""

    wall: float
    cpu: float
    peak: float
    status: int
    last: str


def measure(command: list[str], environment: dict[str, str], stop_after: float = 0.0) -> Cost:
    """Runs a command; after `stop_after` seconds (0: never) asks it to stop as Ctrl-C does."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env=environment)
        timer = threading.Timer(stop_after, child.send_signal, [signal.SIGINT]) if stop_after else None
        if timer:
            timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if timer:
            timer.cancel()
        out.seek(0)
        lines = out.read().splitlines()
    wall = time.monotonic() - began
    scale = 1024 if sys.platform != "darwin" else 1024 * 1024
    return Cost(
        wall,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / scale,
        child.returncode,
        lines[-1] if lines else "",
    )


def text_bytes(folder: Path, environment: dict[str, str], command: str) -> tuple[int, int]:
    """Files indexed and their bytes, by the index's own account."""
    found = json.loads(
        subprocess.run([command, "status", "--json"], env=environment, capture_output=True, check=True).stdout
    )
    from semantic_search.listing import ListingRules, list_files

    listing = list_files(str(folder.resolve()), ListingRules())
    return found["folders"][0]["files"], sum(file.size for file in listing.files)


def row(name: str, cost: Cost, more: str = "") -> str:
    return f"{name:34s} {cost.wall:8.2f} {cost.cpu:8.2f} {cost.peak:9.0f}  {more}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path)
    parser.add_argument("--embed-seconds", type=float, default=60.0)
    parser.add_argument("--work", type=Path, help="where the index is kept (default: a temporary directory)")
    options = parser.parse_args()
    work = options.work or Path(tempfile.mkdtemp())
    environment = os.environ | {
        "SS_CONFIG_PATH": str(work / "config.json"),
        "SS_INDEX_DIR": str(work / "index"),
        "SS_MODEL_CACHE_DIR": os.environ.get("SS_MODEL_CACHE_DIR", str(work / "models")),
    }
    environment.pop("SS_DEBUG", None)
    command = str(Path(sys.executable).parent / "semantic-search")
    subprocess.run([command, "add", str(options.path)], env=environment, check=True, capture_output=True)
    print(f"{'':34s} {'wall s':>8s} {'CPU s':>8s} {'peak MB':>9s}")
    bare = [measure([sys.executable, "-c", "pass"], environment) for _ in range(5)]
    print(f"{'bare Python start (median of 5)':34s} {statistics.median(c.wall for c in bare):8.2f}")
    measure([command, "index", "--no-embed", "--max-files", "1"], environment)  # the model is converted once
    lexical = measure([command, "index", "--no-embed"], environment)
    files, size = text_bytes(options.path, environment, command)
    print(
        row(
            "text searchable",
            lexical,
            f"{files} files, {size / 1e6:.1f} MB, {size / 1e6 / lexical.wall:.1f} MB/s",
        )
    )
    again = [measure([command, "index", "--no-embed"], environment) for _ in range(3)]
    print(row("nothing changed (median of 3)", sorted(again, key=lambda c: c.wall)[1]))
    embedding = measure([command, "index"], environment, stop_after=options.embed_seconds)
    summary = json.loads(embedding.last)
    rate = summary["vectorsWritten"] / max(embedding.wall, 1e-9)
    share = f"{summary['vectorsWritten']} passages, {rate:.1f}/s, {summary['pendingVectors']} left"
    print(row("vectors", embedding, share))
    for name, extra in (("cold search", []), ("cold search, no look at the disk", ["--no-refresh"])):
        costs = [measure([command, "search", QUESTION, *extra], environment) for _ in range(5)]
        print(row(f"{name} (median of 5)", sorted(costs, key=lambda c: c.wall)[2]))
    status = json.loads(
        subprocess.run([command, "status", "--json"], env=environment, capture_output=True, check=True).stdout
    )
    chunks = sum(folder["chunks"] for folder in status["folders"])
    done = chunks - sum(folder["pendingVectors"] for folder in status["folders"])
    print(
        f"index {status['indexBytes'] / 1e6:.1f} MB, {chunks} passages ({done} with a vector): "
        f"{status['indexBytes'] / max(chunks, 1):.0f} bytes a passage"
    )
    if not options.work:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
