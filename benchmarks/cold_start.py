"""What a command costs from the start of its process to the end, beside bare starts of Python.

    python benchmarks/cold_start.py [--passages 50000] [--runs 7] [--work DIR]

Medians of so many runs each, in turn, of CPU (user and system) and wall-clock seconds, and the most memory a
process had. The first searches have a vector for every passage, the others none: they go by words
alone. With DIR the invented corpora (`corpora.py`) are kept and used again. For POSIX systems.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from corpora import Writer, prepared

PROGRAM = str(Path(sys.executable).parent / "semantic-search")
PYTHON = sys.executable


@dataclass(slots=True)
class Command:
    """A command line, where its index is, and what its runs took."""

    name: str
    line: list[str]
    work: Path | None = None
    goal: float | None = None
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)

    def run(self) -> None:
        """Runs it once and notes what that took."""
        environment = dict(os.environ)
        # As in an installation: a compiled module is read, not compiled again at each start.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if self.work:
            environment["SS_CONFIG_PATH"] = str(self.work / "config.json")
            environment["SS_INDEX_DIR"] = str(self.work / "index")
        began = time.perf_counter()
        child = subprocess.Popen(
            self.line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        peak = _peak_megabytes(child.pid)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0, self.line
        self.wall.append(time.perf_counter() - began)
        self.cpu.append(usage.ru_utime + usage.ru_stime)
        self.peak.append(peak)


def _peak_megabytes(pid: int) -> float:
    """The last VmHWM seen before the process ended; 0 where the system does not tell.

    Not `ru_maxrss`: a child begins with that of the process which started it.
    """
    peak = 0.0
    try:
        while True:
            with open(f"/proc/{pid}/status") as file:
                lines = [line for line in file if line.startswith(("VmHWM", "State"))]
            if len(lines) < 2:  # it has ended, and waits to be asked for its status
                return peak
            peak = int(lines[1].split()[1]) / 1024
            time.sleep(0.005)
    except OSError:
        return peak


def commands(work: Path, question: str) -> list[Command]:
    vectors, words = work / "vectors", work / "words"
    return [
        Command("python -c pass", [PYTHON, "-c", "pass"]),
        Command("python -c 'import numpy'", [PYTHON, "-c", "import numpy"]),
        Command("python -c 'import onnxruntime'", [PYTHON, "-c", "import onnxruntime"]),
        Command("--help", [PROGRAM, "--help"], vectors, 0.15),
        Command("list", [PROGRAM, "list"], vectors, 0.15),
        Command("status", [PROGRAM, "status"], vectors),
        Command("search", [PROGRAM, "search", question], vectors, 1.0),
        Command("search --no-refresh", [PROGRAM, "search", question, "--no-refresh"], vectors),
        Command("search, words alone", [PROGRAM, "search", question], words, 0.35),
        Command(
            "search --no-refresh, words alone", [PROGRAM, "search", question, "--no-refresh"], words, 0.35
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        work = options.work or Path(place)
        prepared(work / "vectors", options.passages)
        prepared(work / "words", options.passages, vectors=False)
        tried = commands(work, Writer().question())
        for number in range(options.runs + 1):
            for each in tried:
                each.run()
                if not number:  # the first run fills caches of the system, and is not counted
                    each.cpu, each.wall, each.peak = [], [], []
    bare, runtime = statistics.median(tried[0].cpu), statistics.median(tried[2].cpu)
    print(f"{options.passages} passages, median of {options.runs}")
    titles = ("CPU s", "wall s", "peak MB", "x python", "x onnxruntime", "goal")
    print(f"{'':34s}" + "".join(f"{title:>14s}" for title in titles))
    for each in tried:
        cpu, wall, peak = (statistics.median(values) for values in (each.cpu, each.wall, each.peak))
        figures = f"{cpu:14.3f}{wall:14.3f}{peak:14.0f}{cpu / bare:14.1f}{cpu / runtime:14.1f}"
        print(f"{each.name:34s}{figures}{each.goal or '':>14}")


if __name__ == "__main__":
    main()
