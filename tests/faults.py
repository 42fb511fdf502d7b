"""Calls that fail: the N-th of a kind raises an error, or ends the process, in a process made for that.

Nothing of ours is replaced. What fails is a call to the system or to a library: opening, listing, reading,
renaming, locking, a statement of SQLite, a run of the model.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

HOOKS = (
    "list",
    "git",
    "open",
    "read",
    "extract",
    "embed",
    "query",
    "write",
    "commit",
    "database",
    "config",
    "lock",
    "rename",
    "own files",
    "model",
)
ERRORS = ("EIO", "ENOSPC", "EACCES", "MemoryError")
KILL = "SIGKILL"


@dataclass(frozen=True, slots=True)
class Places:
    """Whose files are where: indexed folders, the directories of config file, index and models."""

    folders: tuple[str, ...]
    config: str
    index: str
    models: str


class Faults:
    """Counts calls by kind; the `number`-th of `hook` fails as `how` says. `fired` is whether it did."""

    def __init__(self, places: Places, hook: str, number: int, how: str) -> None:
        self.places, self.hook, self.number, self.how = places, hook, number, how
        self.counted: dict[str, int] = {}

    @property
    def fired(self) -> bool:
        return self.counted.get(self.hook, 0) >= self.number

    def call(self, hook: str, path: str = "", *, sqlite: bool = False) -> None:
        """A call is about to be made."""
        self.counted[hook] = self.counted.get(hook, 0) + 1
        if hook == self.hook and self.counted[hook] == self.number:
            if self.how == KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            raise error_of(self.how, path, sqlite=sqlite)

    def install(self) -> None:
        """From now on calls are counted, in this process for the rest of its life."""
        sys.addaudithook(self._audit)
        io.FileIO = _reading(self)  # type: ignore[misc]
        _connect = sqlite3.connect

        def connect(*args: Any, **named: Any) -> sqlite3.Connection:
            self.call("database", sqlite=True)
            connection: sqlite3.Connection = _connect(*args, **{**named, "factory": _connection(self)})
            return connection

        sqlite3.connect = connect  # type: ignore[assignment]

    def watch_model(self) -> None:
        """Counts runs of models too. Loads their runtime."""
        from semantic_search.models.embedder import _quiet_runtime

        session = _quiet_runtime().InferenceSession
        run = session.run

        def counted(*args: Any, **named: Any) -> Any:
            try:
                self.call("embed")
            except OSError as error:
                raise RuntimeError(str(error)) from error  # the runtime's errors derive from it
            return run(*args, **named)

        session.run = counted

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        where = _EVENTS.get(event)
        if where is not None:
            hook = where(self.places, args)
            if hook:
                self.call(hook, str(args[0]) if args else "")


def error_of(how: str, path: str, *, sqlite: bool) -> BaseException:
    """The error that a call fails with."""
    if how == "MemoryError":
        return MemoryError()
    if not sqlite:
        number = getattr(errno, how)
        return OSError(number, os.strerror(number), path or None)
    text, code = {
        "EIO": ("disk I/O error", sqlite3.SQLITE_IOERR),
        "ENOSPC": ("database or disk is full", sqlite3.SQLITE_FULL),
        "EACCES": ("unable to open database file", sqlite3.SQLITE_CANTOPEN),
    }[how]
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


def _text(path: object) -> str:
    return os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""


def _below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory + os.sep)


def _of_path(places: Places, path: str, of_folder: str) -> str:
    if path.endswith(".lock"):
        return "lock"
    if _below(path, places.config):
        return "config"
    if _below(path, places.models):
        return "model"
    if _below(path, places.index):
        return "own files"
    if any(_below(path, folder) for folder in places.folders):
        return of_folder
    return ""


def _opened(places: Places, args: tuple[Any, ...]) -> str:
    path = _text(args[0])
    # Part by part, each below the directory opened before it.
    if path and os.sep not in path and path != os.devnull:
        return "open"
    return _of_path(places, path, "open")


def _started(places: Places, args: tuple[Any, ...]) -> str:
    command = " ".join(map(_text, args[1]))
    if "formats.child" in command or "workers.child" in command:
        return "extract"
    return "git" if command.startswith("git ") or "/git " in command else ""


_EVENTS: dict[str, Callable[[Places, tuple[Any, ...]], str]] = {
    "open": _opened,
    "os.scandir": lambda places, args: _of_path(places, _text(args[0]), "list"),
    "os.listdir": lambda places, args: _of_path(places, _text(args[0]), "list"),
    "os.rename": lambda places, args: "rename",
    "os.mkdir": lambda places, args: _of_path(places, _text(args[0]), ""),
    "os.remove": lambda places, args: _of_path(places, _text(args[0]), ""),
    "os.chmod": lambda places, args: _of_path(places, _text(args[0]), ""),
    "fcntl.flock": lambda places, args: "lock",
    "subprocess.Popen": _started,
}


def _reading(faults: Faults) -> type[io.FileIO]:
    class Reading(io.FileIO):
        def read(self, *args: Any) -> Any:
            faults.call("read")
            return super().read(*args)

    return Reading


def _connection(faults: Faults) -> type[sqlite3.Connection]:
    def told(sql: str) -> None:
        first = sql.lstrip().split(None, 1)[0].upper().rstrip(";")
        if first == "COMMIT":
            faults.call("commit", sqlite=True)
        elif first in ("INSERT", "UPDATE", "DELETE"):
            faults.call("write", sqlite=True)
        elif first != "ROLLBACK":
            faults.call("query", sqlite=True)

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
            told(sql)
            return super().execute(sql, *args)

        def executemany(self, sql: str, *args: Any) -> sqlite3.Cursor:
            told(sql)
            return super().executemany(sql, *args)

        def executescript(self, sql: str) -> sqlite3.Cursor:
            for statement in sql.split(";"):
                if statement.strip():
                    told(statement)
            return super().executescript(sql)

    return Connection
