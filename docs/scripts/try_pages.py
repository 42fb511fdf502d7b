"""Runs the commands that the pages show, page by page, as a reader would, and compares what they print.

    python docs/scripts/try_pages.py [--bin DIRECTORY] [PAGE ...]

DIRECTORY holds the `semantic-search` to be tried; without it the one beside this Python. Every page starts in
a home of its own with `~/notes` (the samples) and `~/code/my-api` (a git repository), configured and indexed
except for the pages of FROM_NOTHING, in the directory `~/semantic-search`, a checkout with the samples in it.
A command whose comment says `needs …` is not run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pages import ROOT, Command, body_of, commands, pages

# What a reader who has installed the program and nothing more begins with.
FROM_NOTHING = ("README.md", "docs/quick-start.md")

# What is run. All else on a page must say what it needs: no page changes the machine that it is tried on.
PROGRAMS = ("semantic-search", "cd", "cp", "echo", "export", "mkdir", "printf", "unset")

# What a command may need that is not here, and why it cannot be run.
NEEDS = {
    "a network": "installs from a package index, or fetches from the hub",
    "Ray": "spreads work over the machines of a cluster, or starts one here",
    "a bucket": "reads or writes object storage, with somebody's credentials",
    "your answer": "asks, and waits for an answer on the terminal",
}

HOME_SHOWN = "/home/me"
# Far beyond what any page takes: a command that waits for ever fails instead of hanging the run.
PATIENCE = 600.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command did: its lines on stdout and on stderr, and its exit status."""

    command: Command
    stdout: tuple[str, ...]
    stderr: tuple[str, ...]
    status: int


def program_of(command: Command) -> str:
    """The program of a command, after variables that are set for it alone."""
    words = [word for word in body_of(command.text).split() if not re.match(r"[A-Z_]+=", word)]
    return words[0] if words else ""


def write_checkout(home: Path) -> Path:
    """`~/semantic-search`, a checkout as far as the pages name it; the directory."""
    checkout = home / "semantic-search"
    shutil.copytree(ROOT / "samples", checkout / "samples")
    shutil.copyfile(ROOT / ".indexignore.example", checkout / ".indexignore.example")
    return checkout


def write_folders(home: Path) -> list[Path]:
    """`~/notes` and `~/code/my-api`, neither configured nor indexed; both."""
    notes, code = home / "notes", home / "code" / "my-api"
    shutil.copytree(ROOT / "samples" / "corpus", notes, ignore=shutil.ignore_patterns("services"))
    shutil.copytree(ROOT / "samples" / "corpus" / "services", code / "src")
    subprocess.run(["git", "init", "-q", str(code)], check=True)
    return [notes, code]


def environment(home: Path, bin_directory: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Nothing of the caller's: a home, a PATH, UTF-8, and what is given."""
    return {
        "HOME": str(home),
        "PATH": os.pathsep.join([str(bin_directory), "/usr/local/bin", "/usr/bin", "/bin"]),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        **(more or {}),
    }


def run(shown: Sequence[Command], directory: Path, env: Mapping[str, str]) -> Iterator[Outcome]:
    """Runs commands one after another in one shell, as a reader does who types them; what each did."""
    with tempfile.TemporaryDirectory() as place:
        script = "".join(
            f"{{\n{command.text}\n}} >'{place}/{n}.out' 2>'{place}/{n}.err'\necho $? >'{place}/{n}.status'\n"
            for n, command in enumerate(shown)
        )
        subprocess.run(
            ["sh", "-c", script],
            cwd=directory,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE,
            check=False,
        )
        for n, command in enumerate(shown):
            out, err, status = (Path(place, f"{n}.{kind}") for kind in ("out", "err", "status"))
            if not status.exists():
                raise ValueError(f"{command.page}:{command.line}: the shell did not come so far")
            yield Outcome(command, _lines(out, env), _lines(err, env), int(status.read_text()))


def _lines(file: Path, env: Mapping[str, str]) -> tuple[str, ...]:
    text = file.read_text(encoding="utf-8").replace(env["HOME"], HOME_SHOWN)
    return tuple(line.rstrip() for line in text.split("\n") if line.strip())


def trouble(outcome: Outcome) -> str:
    """What a command did that the page does not say, "" where all is as it is shown."""
    command = outcome.command
    said = "\n".join(f"    {line}" for line in (*outcome.stdout, *outcome.stderr))
    where = f"{command.page}:{command.line}: {command.text}"
    if "Traceback (most recent call last)" in said:
        return f"{where}\n  failed:\n{said}"
    if outcome.status != command.status:
        return f"{where}\n  exit status {outcome.status}, the page says {command.status}; it printed\n{said}"
    if command.shown is None:
        return ""
    differs = difference(command.shown, outcome.stdout, outcome.stderr)
    return f"{where}\n  {differs}; it printed\n{said}" if differs else ""


def difference(shown: Sequence[str], stdout: Sequence[str], stderr: Sequence[str]) -> str:
    """Where a page's lines are not those of a command, "" where they are.

    All of stdout must be shown, in its order; of stderr, where progress and notes go, as much as the page
    likes. `…` stands for anything within a line, and alone for any lines. Fractions (scores, times, sizes),
    times of the day and runs of blanks may differ.
    """
    left, skipping = list(stdout), False
    for line in shown:
        if not line.strip():
            continue
        if line.strip() == "…":
            skipping = True
            continue
        wanted = pattern(line)
        places = range(len(left)) if skipping else range(min(1, len(left)))
        place = next((n for n in places if wanted.fullmatch(left[n].strip())), None)
        if place is not None:
            del left[: place + 1]
            skipping = False
        elif not any(wanted.fullmatch(note.strip()) for note in stderr):
            return f"the page shows {line!r}" + (f" where it printed {left[0]!r}" if left else "")
    return f"it printed {left[0]!r}, which the page does not show" if left and not skipping else ""


_VARIABLE = re.compile(r"…|\d{4}-\d\d-\d\dT[\d:]+\+\d\d:\d\d|\d+\.\d+|\s+")


def pattern(line: str) -> re.Pattern[str]:
    """What a line of a page stands for."""
    line, parts, at = line.strip(), [], 0
    for found in _VARIABLE.finditer(line):
        parts.append(re.escape(line[at : found.start()]))
        text = found[0]
        if text == "…":
            parts.append(".*")
        elif text.isspace():
            parts.append(r"\s+")
        else:
            parts.append(r"\d{4}-\d\d-\d\dT\S+" if "T" in text else r"-?\d+\.\d+")
        at = found.end()
    return re.compile("".join([*parts, re.escape(line[at:])]))


class Stage:
    """A home in which pages are tried, one after another, each from the same beginning."""

    def __init__(self, place: Path, bin_directory: Path, more: Mapping[str, str] | None = None) -> None:
        self.home = place.resolve() / "home"
        self._kept = place.resolve() / "kept"
        self._env = environment(self.home, bin_directory, more)

    def prepare(self, *, indexed: bool) -> Path:
        """Makes the home what it is at the beginning of a page; the current directory of the reader."""
        shutil.rmtree(self.home, ignore_errors=True)
        if not indexed or not self._kept.exists():
            self.home.mkdir(parents=True)
            checkout = write_checkout(self.home)
            folders = write_folders(self.home)
            if not indexed:
                return checkout
            for words in (["add", *folders], ["index"]):
                subprocess.run(
                    ["semantic-search", *words], env=self._env, check=True, capture_output=True, cwd=checkout
                )
            shutil.copytree(self.home, self._kept, symlinks=True)
        else:
            shutil.copytree(self._kept, self.home, symlinks=True)
        return self.home / "semantic-search"

    def troubles(self, page: str, text: str | None = None) -> list[str]:
        """Runs a page's commands; what went otherwise than the page says.

        Raises ValueError for a command that is not to be run and does not say what it needs.
        """
        shown = [command for command in commands(page, text) if not command.needs]
        for command in shown:
            if program_of(command) not in PROGRAMS:
                raise ValueError(
                    f"{page}:{command.line}: {command.text}: say what it needs, one of {list(NEEDS)}"
                )
        directory = self.prepare(indexed=page not in FROM_NOTHING)
        return [found for outcome in run(shown, directory, self._env) if (found := trouble(outcome))]


def main() -> int:
    """Tries the pages that are named, or all; the number of commands that went otherwise."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--bin", type=Path, default=Path(sys.executable).parent)
    parser.add_argument("pages", nargs="*", default=pages())
    asked = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as place:
        kept = ("SS_MODEL_CACHE_DIR", "SEMBLE_GRAMMARS_CACHE_DIR")
        more = {name: os.environ[name] for name in kept if name in os.environ}
        stage = Stage(Path(place), asked.bin.absolute(), more)
        for page in asked.pages:
            found = stage.troubles(page)
            every = commands(page)
            ran = sum(not command.needs for command in every)
            print(f"{page}: {ran} commands run, {len(every) - ran} not, {len(found)} otherwise than shown")
            for text in found:
                print(text)
            bad += len(found)
    return min(bad, 100)


if __name__ == "__main__":
    sys.exit(main())
