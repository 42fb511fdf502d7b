"""The parent's side of one child process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from .frames import BrokenFrame, read_frame, write_frame

_START_LIMIT = 60.0
_DYING_LIMIT = 5.0
_PACKAGE = __name__.rpartition(".")[0]
_ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * len(_PACKAGE.split("."))))
_BOOT = (
    "import sys; memory = int(sys.argv[1]); sys.path += sys.argv[2:]; from {module} import main; main(memory)"
)
# On Windows a child that another thread starts at this moment would inherit this one's pipes.
_STARTING = threading.Lock()


@dataclass(frozen=True, slots=True)
class Task:
    """What an extraction child is to do: the module whose `extract` to call, with which arguments."""

    target: str
    seconds: float
    options: Mapping[str, Any]


class Died(Exception):
    """The child ended without an answer."""

    def __init__(self, status: int, *, expired: bool) -> None:
        super().__init__(status, expired)
        self.status = status
        self.expired = expired


class Unstarted(Exception):
    """The child did not come to life; says why."""


class Worker:
    """One child, for extraction by default. Serves one request at a time; not for use by two threads at once.

    `memory` is what `main` of `module` is started with, for extraction the address space in bytes. Raises
    `Unstarted` when the child cannot be started. After `Died` from `ask` it must only be closed.
    """

    def __init__(self, memory: int, path: Sequence[str], *, module: str = f"{_PACKAGE}.child") -> None:
        self.served = 0
        boot = _BOOT.format(module=module)
        command = [sys.executable, "-P", "-c", boot, str(memory), _ROOT, *path]
        own_group: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            own_group = {
                "creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW,
            }
        try:
            # Its own group: Ctrl-C is for the parent, which may want the document at hand finished.
            with _STARTING:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    **own_group,
                )
        except (OSError, ValueError, TypeError) as error:
            raise Unstarted(str(error)) from error
        try:
            hello = self.exchange(None, b"", _START_LIMIT)
        except BaseException as error:
            self.close()
            if isinstance(error, Died):
                raise Unstarted(f"it ended with status {error.status}") from error
            raise
        if hello[0].get("ready") is not True:
            self.close()
            raise Unstarted("it does not speak the protocol")

    def ask(self, task: Task, data: bytes) -> tuple[dict[str, Any], bytes]:
        """The child's answer about `data`, as a frame. Raises `Died` when it gives none in time."""
        self.served += 1
        header = {"target": task.target, "seconds": task.seconds, "options": dict(task.options)}
        return self.exchange(header, data, task.seconds)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def kill(self) -> None:
        """End the child and what it started. The thread that waits for its answer gets `Died`."""
        if sys.platform == "win32":
            self._process.kill()
        elif self._process.returncode is None:
            # It leads a group of its own. Once it was waited for, its number may be another's.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the child, wait for it, and close its pipes."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self.kill()
        self._process.wait()
        # A request that never reached the child is still in the buffer, and is written once more here.
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()

    def exchange(
        self, header: dict[str, Any] | None, data: bytes, seconds: float
    ) -> tuple[dict[str, Any], bytes]:
        """The child's next frame, after a frame was sent to it where `header` is one. Raises `Died`."""
        expired = threading.Event()

        def end() -> None:
            expired.set()
            self.kill()

        clock = threading.Timer(seconds, end)
        clock.daemon = True
        clock.start()
        answer = None
        try:
            if header is not None:
                write_frame(cast(BinaryIO, self._process.stdin), header, data)
            answer = read_frame(cast(BinaryIO, self._process.stdout))
        except BrokenFrame:
            self.kill()
        except OSError:
            pass
        finally:
            clock.cancel()
            clock.join()
        if answer is None or expired.is_set():
            raise Died(self._status(), expired=expired.is_set())
        return answer

    def _status(self) -> int:
        """How the child ended. One that only closed its pipe is ended first."""
        try:
            return self._process.wait(_DYING_LIMIT)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait()
