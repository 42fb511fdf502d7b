"""Commands in processes forked from one that has all modules loaded: hundreds of them cost little.

`Forks` is the test's side. Run as a program this file is the other: it reads requests, a line of JSON each,
and runs each in a process of its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from faults import Faults, Places


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit status (negative: a signal), what it wrote, the seconds of CPU it took,
    and how many calls of each kind it made (empty when it was killed)."""

    status: int
    stdout: str
    stderr: str
    cpu: float
    calls: dict[str, int]


class Forks:
    """Runs commands, one after another."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
        )

    def __call__(
        self,
        *args: str | os.PathLike[str],
        env: Mapping[str, str],
        cpu: float = 0.0,
        places: Places | None = None,
        hook: str = "",
        number: int = 0,
        how: str = "",
    ) -> Ended:
        """Runs a command to its end.

        With `cpu` it is killed after so many seconds of CPU; with `places` calls are counted, and the
        `number`-th of `hook` fails as `how` says.
        """
        request = {
            "args": [os.fspath(arg) for arg in args],
            "env": dict(env),
            "cpu": cpu,
            "places": asdict(places) if places else None,
            "fault": [hook, number, how],
        }
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(json.dumps(request) + "\n")
        self._child.stdin.flush()
        return Ended(**json.loads(self._child.stdout.readline()))

    def close(self) -> None:
        """Ends the process that forks."""
        self._child.communicate()


def main() -> None:
    """Serves requests until the input ends."""
    _load()
    for line in sys.stdin:
        request = json.loads(line)
        with tempfile.TemporaryDirectory(prefix="forked-") as place:
            pid = os.fork()
            if pid == 0:
                _become(request, Path(place))
            _, status, usage = os.wait4(pid, 0)
            calls = Path(place, "calls")
            ended = Ended(
                os.waitstatus_to_exitcode(status),
                Path(place, "stdout").read_text(encoding="utf-8", errors="replace"),
                Path(place, "stderr").read_text(encoding="utf-8", errors="replace"),
                usage.ru_utime + usage.ru_stime,
                json.loads(calls.read_text()) if calls.exists() else {},
            )
        print(json.dumps(asdict(ended)), flush=True)


def _load() -> None:
    """Imports what commands import; nothing of it starts a thread."""
    import filelock
    import numpy as np

    import semantic_search.__main__
    import semantic_search.chunking.code
    import semantic_search.chunking.markup
    import semantic_search.cli.folders
    import semantic_search.cli.index
    import semantic_search.embedding
    import semantic_search.encodings
    import semantic_search.formats.pool
    import semantic_search.freshness
    import semantic_search.listing.git
    import semantic_search.listing.repository
    import semantic_search.listing.walk
    import semantic_search.models.embedder
    import semantic_search.models.opening
    import semantic_search.passages
    import semantic_search.reading
    import semantic_search.stores.sqlite
    import semantic_search.stores.vectors
    import semantic_search.tools.folders
    import semantic_search.tools.index
    import semantic_search.workers.pool

    assert filelock and np and semantic_search
    assert len(os.listdir("/proc/self/task")) == 1 if os.path.isdir("/proc/self/task") else True


def _become(request: dict[str, Any], place: Path) -> None:
    """Is the command from now on, and ends."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        opened = os.open(place / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, number)
        os.close(opened)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout = open(1, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", buffering=1, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = ["semantic-search", *request["args"]]
    faults = None
    if request["places"]:
        places = {**request["places"], "folders": tuple(request["places"]["folders"])}
        faults = Faults(Places(**places), *request["fault"])
        if request["fault"][0] == "embed" or not request["fault"][0]:
            faults.watch_model()
        faults.install()
    status: Any = 1
    try:
        if request["cpu"]:
            # The system ends the process when its time is over; as with SIGKILL nothing of it runs any more.
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, request["cpu"])
        from semantic_search.__main__ import main as command

        command()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        if faults:
            faults.how = ""
            faults.hook = ""
            (place / "calls").write_text(json.dumps(faults.counted))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status if isinstance(status, int) else 1)


if __name__ == "__main__":
    main()
