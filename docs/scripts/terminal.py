"""What a program shows on a terminal."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def show(
    argv: Sequence[Any],
    env: Mapping[str, str],
    *,
    columns: int,
    directory: Path | None = None,
    stderr: bool = True,
) -> tuple[str, int]:
    """Runs a program with a pseudo-terminal of so many columns for stdout and, if asked, stderr; what it
    showed, with the terminal's codes and line ends, and its exit status."""
    import fcntl
    import pty
    import struct
    import termios

    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen(
        argv,
        env={"TERM": "xterm-256color", **env},
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=inner,
        stderr=inner if stderr else subprocess.DEVNULL,
    ) as child:
        os.close(inner)
        shown = bytearray()
        while True:
            try:
                part = os.read(outer, 65536)
            except OSError as error:  # what Linux says when the other end is closed
                if error.errno != errno.EIO:
                    raise
                part = b""
            if not part:
                break
            shown += part
        os.close(outer)
    return shown.decode(), child.returncode
