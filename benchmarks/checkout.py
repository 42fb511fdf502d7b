"""What indexing a checkout costs: time, CPU, memory, disk, and what a run costs when nothing changed.

    python benchmarks/checkout.py PATH [--embed-seconds N] [--work DIR]

Every figure is of the installed command as a process of its own, in an index of its own. The first run is
the lexical phase alone; then the same with nothing changed; then vectors, for N seconds (0: all of them);
then cold searches, both arms and words alone. Before them come programs that must look at the same files: a
bare Python start, `git ls-files`, `git status`, reading every file, a search by pattern. Machines are
noisy; the ratios at the end compare CPU of the same minute, children included. Peak memory is of the
process tree on Linux, else of its largest process. For POSIX systems.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from processes import Cost, measure

QUESTION = "where is a lost connection tried again"


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


def median(command: list[str], environment: dict[str, str] | None = None, times: int = 5) -> Cost:
    """The run of median CPU."""
    costs = [measure(command, environment) for _ in range(times)]
    return sorted(costs, key=lambda cost: cost.cpu)[times // 2]


_READ_ALL = """
import subprocess, sys
names = subprocess.run(["git", "-C", sys.argv[1], "ls-files", "-z"], capture_output=True).stdout.split(b"\\0")
print(sum(len(open(sys.argv[1].encode() + b"/" + name, "rb").read()) for name in names if name))
"""


def baselines(path: str) -> dict[str, Cost]:
    """Programs that must look at the same files, each with its cost; those that are not here are left out."""
    programs = {
        "bare Python start": [sys.executable, "-c", "pass"],
        "git ls-files": ["git", "-C", path, "ls-files", "--cached", "--others", "--exclude-standard"],
        "git status": ["git", "-C", path, "status", "--porcelain"],
        "reading every file": [sys.executable, "-c", _READ_ALL, path],
        "a search by pattern (rg)": ["rg", "--count", "lost connection", path],
    }
    return {name: median(program) for name, program in programs.items() if shutil.which(program[0])}


def ratios(costs: dict[str, Cost], baseline: str, names: list[str]) -> str:
    """How many times the CPU of a baseline each of the costs is."""
    shown = (f"{name} {costs[name].cpu / max(costs[baseline].cpu, 1e-3):.1f}" for name in names)
    return f"times the CPU of {baseline}: {', '.join(shown)}"


def measured(path: str, command: str, environment: dict[str, str], embed_seconds: float) -> dict[str, Cost]:
    """Runs everything, a printed row each; gives the costs by name."""
    costs = {}
    for name, cost in baselines(path).items():
        costs[name] = cost
        print(row(name, cost))
    measure([command, "index", "--no-embed", "--max-files", "1"], environment)  # the model is converted once
    costs["text searchable"] = lexical = measure([command, "index", "--no-embed"], environment)
    files, size = text_bytes(Path(path), environment, command)
    rate = f"{size / 1e6 / lexical.wall:.1f} MB/s, {size / 1e6 / lexical.cpu:.1f} MB a CPU second"
    print(row("text searchable", lexical, f"{files} files, {size / 1e6:.1f} MB: {rate}"))
    costs["nothing changed"] = median([command, "index", "--no-embed"], environment)
    print(row("nothing changed", costs["nothing changed"]))
    embedding = measure([command, "index"], environment, stop_after=embed_seconds)
    summary = json.loads(embedding.last)
    rate = f"{summary['vectorsWritten'] / max(embedding.wall, 1e-9):.1f}/s"
    print(
        row(
            "vectors",
            embedding,
            f"{summary['vectorsWritten']} passages, {rate}, {summary['pendingVectors']} left",
        )
    )
    for name, extra in (("cold search", []), ("cold search, no look at the disk", ["--no-refresh"])):
        costs[name] = median([command, "search", QUESTION, *extra], environment)
        print(row(name, costs[name]))
    return costs


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
    path = str(options.path.resolve())
    command = str(Path(sys.executable).parent / "semantic-search")
    subprocess.run([command, "add", path], env=environment, check=True, capture_output=True)
    print(f"{'':34s} {'wall s':>8s} {'CPU s':>8s} {'peak MB':>9s}")
    costs = measured(path, command, environment, options.embed_seconds)
    status = json.loads(
        subprocess.run([command, "status", "--json"], env=environment, capture_output=True, check=True).stdout
    )
    chunks = sum(folder["chunks"] for folder in status["folders"])
    done = chunks - sum(folder["pendingVectors"] for folder in status["folders"])
    print(
        f"index {status['indexBytes'] / 1e6:.1f} MB, {chunks} passages ({done} with a vector): "
        f"{status['indexBytes'] / max(chunks, 1):.0f} bytes a passage"
    )
    print(ratios(costs, "reading every file", ["text searchable"]))
    looks = ["nothing changed", "cold search", "cold search, no look at the disk"]
    print(ratios(costs, "git status", looks))
    print(ratios(costs, "bare Python start", looks))
    if not options.work:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
