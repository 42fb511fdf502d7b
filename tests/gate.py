"""A place in a command's work where it waits for the test: what comes between two steps is then no race."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from builders import write_tree
from command_line import wait_until

# A named pipe is open for reading once somebody has it open for writing, and read to its end once nobody has.
# That a file is opened, the interpreter announces; a passage is one run of the model's session.
_SITE = """
import importlib.util, os, sys
passed = []
def wait():
    if not passed:
        passed.append(True)
        with open(os.environ["GATE"], "rb") as pipe:
            pipe.read()
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        if os.path.basename(os.fsdecode(arguments[0])) == os.environ["GATE_FILE"]:
            wait()
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "onnxruntime":
            return None
        sys.meta_path.remove(Finder)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module
        def with_gate(module):
            execute(module)
            run, runs = module.InferenceSession.run, []
            def waits(self, *args, **named):
                runs.append(True)
                if len(runs) == int(os.environ["GATE_RUN"]):
                    wait()
                return run(self, *args, **named)
            module.InferenceSession.run = waits
        spec.loader.exec_module = with_gate
        return spec
if os.environ.get("GATE_FILE"):
    sys.addaudithook(hook)
if os.environ.get("GATE_RUN"):
    sys.meta_path.insert(0, Finder)
"""


class Gate:
    """Holds one command back, at a file that it opens or at a passage that it embeds."""

    def __init__(self, place: Path, *, file: str = "", passage: int = 0) -> None:
        """A gate before the first opening of a file of that name, or before a passage (1 is the first)."""
        site = write_tree(place / "gate", {"sitecustomize.py": _SITE})
        self._pipe = site / "pipe"
        os.mkfifo(self._pipe)
        self.env = {
            "PYTHONPATH": str(site),
            "GATE": str(self._pipe),
            "GATE_FILE": file,
            "GATE_RUN": str(passage or ""),
        }

    @contextlib.contextmanager
    def held(self, child: subprocess.Popen[bytes]) -> Iterator[None]:
        """Comes when the command stands at the gate, and lets it go on at the end."""
        pipes: list[int] = []

        def stands_there() -> bool:
            assert child.poll() is None, "the command ended before it came to the gate"
            with contextlib.suppress(OSError):  # nobody reads it yet
                pipes.append(os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK))
            return bool(pipes)

        wait_until(stands_there)
        try:
            yield
        finally:
            os.close(pipes[0])
