"""Files and directories of ours: private to the user, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator

from .errors import IndexBusy, SettingsError

OWN_NAME = "semantic-search"


def make_private_directory(path: str) -> None:
    """Makes a directory that only the user can enter, where there is none.

    One that is there is narrowed only when it bears our own name: a path from a variable may be anything,
    such as a shared temporary directory. Raises SettingsError where it cannot be made.
    """
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        if os.name == "posix" and os.path.basename(path) == OWN_NAME and os.stat(path).st_mode & 0o077:
            os.chmod(path, 0o700)
    except OSError as error:
        raise SettingsError(f"the directory {path} cannot be made: {error.strerror or error}") from error


def make_private_file(path: str) -> None:
    """Makes an empty file with mode 0600 where there is none, and narrows the mode of one that is there.

    One that is there is never opened: closing any descriptor of it would drop every lock that this process
    holds on it (POSIX), such as those of a database connection.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    try:
        os.close(os.open(path, flags, 0o600))
    except FileExistsError:
        if os.name == "posix" and os.stat(path).st_mode & 0o077:
            os.chmod(path, 0o600)


def write_atomically(path: str, data: bytes) -> None:
    """Writes a file so that a reader, or a crash, sees the old content or the new one.

    Raises SettingsError when it cannot be written; the old file is then untouched.
    """
    directory = os.path.dirname(path)
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".tmp-", dir=directory)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise SettingsError(f"{path} cannot be written: {error.strerror or error}") from error


@contextlib.contextmanager
def locked(path: str, *, what: str, timeout: float = 10.0) -> Iterator[None]:
    """Holds an exclusive lock on a lock file. The system frees it when the process ends, however it ends.

    `timeout` is seconds to wait for another holder; 0 does not wait. Raises IndexBusy after it, SettingsError
    where the lock file cannot be used.
    """
    import filelock

    lock = filelock.FileLock(path, timeout=timeout, mode=0o600)
    try:
        make_private_file(path)
        lock.acquire()
    except filelock.Timeout as error:
        raise IndexBusy(f"another process is writing {what}; try again when it is done") from error
    except OSError as error:
        raise SettingsError(f"{path} cannot be locked: {error.strerror or error}") from error
    try:
        yield
    finally:
        try:
            lock.release()
        except OSError:
            # What was to be done under the lock is done. Once more, or it goes with the process.
            with contextlib.suppress(OSError):
                lock.release(force=True)
