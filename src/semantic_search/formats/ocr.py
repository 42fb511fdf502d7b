"""Text recognition by the `tesseract` program, where it is installed and asked for.

It gets an image on its standard input and an argument list, no shell; it ends with the time it is given, and
with the extraction child.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache

PROGRAM = "tesseract"

_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]{1,30}")


class OcrFailed(Exception):
    """No text can be recognised; says why, in a line for the user."""


@cache
def program() -> str | None:
    """Where `tesseract` is, None where it is not installed."""
    return shutil.which(PROGRAM)


def recognised(image: bytes, languages: Sequence[str], seconds: float) -> str:
    """The text in an image (PNM, PNG …), in languages by tesseract's codes (`eng`, `ukr`).

    Raises `OcrFailed`, also when it takes longer than `seconds`.
    """
    found = program()
    if found is None:
        raise OcrFailed(f"{PROGRAM} is not installed")
    for language in languages:
        if not _LANGUAGE.fullmatch(language):
            raise OcrFailed(f"{language!r} is no language code of {PROGRAM}")
    command = [found, "stdin", "stdout", "-l", "+".join(languages)]
    try:
        # One thread: pages wait for each other anyway, and documents are read side by side.
        done = subprocess.run(
            command,
            input=image,
            capture_output=True,
            timeout=seconds,
            check=False,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired as error:
        raise OcrFailed(f"{PROGRAM} took too long") from error
    except OSError as error:
        raise OcrFailed(f"{PROGRAM} could not be started: {error.strerror or error}") from error
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip().split("\n")
        raise OcrFailed(f"{PROGRAM}: {message[-1] or done.returncode}")
    return done.stdout.decode("utf-8", "replace")
