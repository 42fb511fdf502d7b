"""The extraction child: reads documents from its standard input, answers with their text, one at a time.

Parsers of document formats meet hostile input; some of them crash, hang or eat all memory. They run here,
where that costs one file and nothing else. Started by `worker`; speaks `frames`.

Request: `{"target": module, "seconds": limit, "options": arguments}` and the document's bytes. Answer:
`{"pages", "notes"}` and the text, or `{"refused": reason, "detail"}`; with `"last": true` where the child
ends after it. The first frame is `{"ready": true}`.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import math
import os
import select
import sys
import threading
from typing import IO, Any, BinaryIO

from ..types import Skip
from .frames import BrokenFrame, read_frame, write_frame
from .outcome import Extracted, Refused

GRACE_SECONDS = 5.0
"""How long past the limit the child waits for its parent to end it, before it ends itself."""

_FILES_PER_CHILD = 1000


def main(memory: int) -> None:
    """Serve until standard input ends. `memory` is the limit on address space in bytes."""
    requests, answers, null = take_streams()
    watch_parent(requests.fileno())
    _limit_memory(memory)
    write_frame(answers, {"ready": True})
    with contextlib.suppress(BrokenFrame, OSError):
        for served in range(1, _FILES_PER_CHILD + 1):
            frame = read_frame(requests)
            if frame is None:
                return
            header, data = frame
            _limit_time(float(header["seconds"]), null)
            outcome = _run(str(header["target"]), data, header["options"])
            faulthandler.cancel_dump_traceback_later()
            last = served == _FILES_PER_CHILD or _peak_memory() > memory // 2 or _memory_ran_out(outcome)
            _answer(answers, outcome, last=last)
            if last:
                return


def take_streams() -> tuple[BinaryIO, BinaryIO, IO[str]]:
    """The pipes of the protocol, with descriptors 0 to 2 led to nowhere: libraries write where they like."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    null = open(os.devnull, "r+")  # noqa: SIM115 - for as long as the process lives
    for descriptor in (0, 1, 2):
        os.dup2(null.fileno(), descriptor)
    return requests, answers, null


def watch_parent(descriptor: int) -> None:
    """End this process at once when the parent is gone, also in the middle of a document."""
    if not hasattr(select, "poll"):
        return

    def wait() -> None:
        poll = select.poll()
        poll.register(descriptor, 0)
        if any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll()):
            os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def _limit_memory(memory: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        soft = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _limit_time(seconds: float, null: IO[str]) -> None:
    """Wall clock and CPU limits for the next document. The parent's own clock is the first to strike."""
    faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=null)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        usage = resource.getrusage(resource.RUSAGE_SELF)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        soft = math.ceil(usage.ru_utime + usage.ru_stime + seconds) + 1
        if hard != resource.RLIM_INFINITY:
            soft = min(soft, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _peak_memory() -> int:
    """The most memory this process has held, in bytes; 0 where the system does not tell."""
    # Linux hands a process's ru_maxrss on to the program it becomes: a large parent would make every child
    # seem large. VmHWM begins anew.
    with (
        contextlib.suppress(OSError, ValueError),
        open("/proc/self/status", encoding="ascii", errors="replace") as status,
    ):
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _run(target: str, data: bytes, options: dict[str, Any]) -> Extracted | Refused:
    try:
        extract = importlib.import_module(target).extract
    except (ImportError, OSError) as error:
        return Refused(Skip.UNREADABLE, f"a library is missing: {error}")
    try:
        outcome = extract(data, **options)
    except MemoryError:
        return Refused(Skip.TOO_COMPLEX, _OUT_OF_MEMORY)
    except RecursionError:
        return Refused(Skip.TOO_COMPLEX, "nested too deeply")
    except Exception as error:  # a parser's fault on one file must not become a fault of the run
        return Refused(Skip.DAMAGED, f"{type(error).__name__}: {error}"[:200])
    if not isinstance(outcome, Extracted | Refused):
        return Refused(Skip.UNREADABLE, f"{target} gave a {type(outcome).__name__}")
    return outcome


_OUT_OF_MEMORY = "more memory than the limit"


def _memory_ran_out(outcome: Extracted | Refused) -> bool:
    return isinstance(outcome, Refused) and outcome.detail == _OUT_OF_MEMORY


def _answer(stream: BinaryIO, outcome: Extracted | Refused, *, last: bool) -> None:
    header: dict[str, Any] = {"last": last}
    body = b""
    if isinstance(outcome, Refused):
        header |= {"refused": outcome.reason.value, "detail": outcome.detail}
    else:
        header |= {"pages": outcome.pages, "notes": outcome.notes}
        body = outcome.text.encode("utf-8", "replace")
    write_frame(stream, header, body)
