"""The installed command as a child process, and what a test may want to do to it and to its index."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import terminal

PROGRAM = (
    shutil.which("semantic-search", path=os.path.dirname(os.path.abspath(sys.executable)))
    or "semantic-search"
)
# Far beyond what any command here takes: a command that waits for ever fails instead of hanging the run.
PATIENCE = 120.0

Environment = Mapping[str, "str | None"]


@dataclass(frozen=True, slots=True)
class Result:
    """What a command wrote, and its exit status."""

    stdout: str
    stderr: str
    returncode: int

    @property
    def document(self) -> Any:
        """The one JSON document that is the whole of stdout."""
        assert self.stdout.endswith("\n"), self
        return json.loads(self.stdout)

    @property
    def summary(self) -> dict[str, Any]:
        """The JSON object on the last line of stdout."""
        found = json.loads(self.lines[-1])
        assert isinstance(found, dict)
        return found

    @property
    def lines(self) -> list[str]:
        """The lines of stdout."""
        return self.stdout.split("\n")[:-1]

    @property
    def paths(self) -> list[str]:
        """The files that `search --json` found, best first, each once, relative to their folder."""
        return list(dict.fromkeys(hit["path"] for hit in self.document))


class Command:
    """Runs the command. `prefix` is what runs it, such as a program that takes rights away."""

    def __init__(self, prefix: Sequence[str] = ()) -> None:
        self._prefix = list(prefix)

    def argv(self, *args: str | os.PathLike[str] | bytes) -> list[str | os.PathLike[str] | bytes]:
        """The whole argument list of a command."""
        return [*self._prefix, PROGRAM, *args]

    def __call__(
        self,
        *args: str | os.PathLike[str] | bytes,
        status: int | None = 0,
        cwd: Path | None = None,
        input: str | None = None,
        env: Environment | None = None,
    ) -> Result:
        """Runs a command to its end and checks its exit status (None: any)."""
        done = subprocess.run(
            self.argv(*args),
            cwd=cwd,
            env=environment(env),
            input=None if input is None else input.encode(),
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        # Strict: whatever is in a file or a name, both streams are valid UTF-8.
        result = Result(done.stdout.decode(), done.stderr.decode(), done.returncode)
        assert "Traceback" not in result.stderr, result.stderr
        assert status is None or result.returncode == status, result
        return result

    def start(
        self, *args: str | os.PathLike[str], env: Environment | None = None, cwd: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Starts a command whose streams the caller reads."""
        return subprocess.Popen(
            self.argv(*args),
            env=environment(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def search(self, query: str, *args: str | os.PathLike[str], env: Environment | None = None) -> list[str]:
        """The paths that a search finds, best first; empty when it finds nothing."""
        result = self("search", "--json", "-k", "50", *args, query, status=None, env=env)
        assert result.returncode in (0, 1), result
        return result.paths

    def texts(self, query: str, *args: str | os.PathLike[str]) -> str:
        """The text of every passage that a search finds."""
        result = self("search", "--json", "-k", "50", *args, query, status=None)
        assert result.returncode in (0, 1), result
        return "\n".join(hit["text"] for hit in result.document)


def bound_by_permissions() -> Command:
    """Runs the command so that modes of files hold, also when root runs the tests."""
    dropped = "-dac_override,-dac_read_search"
    rights = ["setpriv", f"--bounding-set={dropped}", f"--inh-caps={dropped}"]
    return Command(rights if os.geteuid() == 0 else [])


def works(*prefix: str) -> bool:
    """Whether a program can be run this way here."""
    return (
        shutil.which(prefix[0]) is not None
        and subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    )


ALONE = ("unshare", "--map-root-user", "--net")


def without_a_network() -> Command:
    """Runs the command without a network; the test is skipped where nobody may be taken one away."""
    if not works(*ALONE):
        pytest.skip(f"a network of its own needs rights that this user has not ({' '.join(ALONE)})")
    return Command(ALONE)


def environment(changes: Environment | None) -> dict[str, str]:
    """This process's environment with variables set, or taken out where the value is None."""
    env = dict(os.environ)
    for name, value in (changes or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def on_terminal(
    argv: Sequence[Any], env: Environment | None = None, *, columns: int = 120
) -> tuple[str, int]:
    """Runs a program with a pseudo-terminal for stdout and stderr; what it showed, and its exit status."""
    return terminal.show(argv, environment({"TERM": "xterm-256color", **(env or {})}), columns=columns)


def index_directory(home: Path) -> Path:
    """Where the index of a test is."""
    return Path(os.environ.get("SS_INDEX_DIR") or home / "data" / "semantic-search")


def index_file(home: Path) -> Path:
    """The one index file of a test."""
    (found,) = index_directory(home).glob("index-*.sqlite3")
    return found


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """An index file as a database; what was changed is committed."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def let_time_pass(home: Path) -> None:
    """Makes every look at a file ten seconds later than it was.

    A file that was written just before it was read is read again at the next look, in case its clock did not
    tick between the two; this takes the place of waiting until that is over.
    """
    with opened(index_file(home)) as db:
        db.execute("UPDATE files SET seen_ns = seen_ns + 10000000000")


def looks(home: Path) -> dict[str, int]:
    """When each file was read last (nanoseconds of the epoch), by path."""
    with opened(index_file(home)) as db:
        return {os.fsdecode(path): seen for path, seen in db.execute("SELECT path, seen_ns FROM files")}


def contents(index: Path) -> list[tuple[Any, ...]]:
    """Everything that a search can find: each passage with its place in its folder, header, text, terms and
    vector, in order."""
    import zlib

    with opened(index) as db:
        rows = db.execute(
            'SELECT f.path, f.sha256, p.start, p."end", p.first_line, p.heading, p.symbol, e.vector, t.text, '
            "t.terms FROM passages p JOIN files f ON f.id = p.file_id "
            "JOIN embeddings e ON e.id = p.embedding_id JOIN documents t ON t.file_id = f.id"
        ).fetchall()
    return sorted((*row[:7], row[7] or b"", *map(zlib.decompress, row[8:])) for row in rows)


def apart(place: Path, model_cache: Path) -> dict[str, str | None]:
    """Variables of an environment at a place of its own, for fixtures that outlive a test."""
    return {
        "HOME": str(place),
        "SS_CONFIG_PATH": str(place / "config.json"),
        "SS_INDEX_DIR": str(place / "index"),
        "SS_MODEL_CACHE_DIR": str(model_cache),
        "SEMBLE_GRAMMARS_CACHE_DIR": str(model_cache / "grammars"),
    }


def wait_until(true: Callable[[], bool]) -> None:
    """Comes back when something is so. Fails when it is not so after a long time."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.005)
