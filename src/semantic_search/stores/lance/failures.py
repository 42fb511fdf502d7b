"""What went wrong in LanceDB, in the user's words."""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Iterator

import pyarrow as pa

from ...errors import IndexReplaced, StoreError, is_panic
from ..trouble import busy, damaged, disk_full

# LanceDB tells of failures by words alone.
CONFLICTS = ("commit conflict", "concurrent commit", "incompatible transaction")
_VANISHED = ("not found", "no such file")
_FULL = ("no space left", "disk quota")
# Where in the library's own source an error came up tells a user nothing.
_SOURCE = re.compile(r", \S+\.rs:\d+:\d+")
_SYSTEM_SAID = re.compile(r'(?:message|error): "([^"]+)"')
_SERVER = re.compile(r"uri: Some\((\w+://[^/)]+)")
TROUBLE: tuple[type[Exception], ...] = (RuntimeError, ValueError, OSError, pa.ArrowException, zlib.error)


def told(error: BaseException, path: str) -> StoreError:
    """An error of LanceDB as one of ours that says what to do. Only a damaged index is called damaged."""
    first = str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
    first = _SOURCE.sub("", first)
    said = str(error).lower()

    def says(*words: str) -> bool:
        return any(each in said for each in words)

    if says("nosuchbucket", "containernotfound"):
        return StoreError(f"there is no such bucket or container: {path}")
    if says(*_FULL):
        return disk_full(path)
    if says(*CONFLICTS):
        return busy(path)
    if says("credential", "forbidden", "access denied", "unauthorized", "status 403"):
        return StoreError(
            f"the index {path} may not be used: {first}. Credentials come from the environment or the "
            "provider's own files, see docs/stores.md"
        )
    if "://" in path and says("connect", "timed out", "timeout", "dns", "resolve"):
        return StoreError(f"the index {path} cannot be reached: {_cause(error) or first}")
    if says(*_VANISHED):
        return IndexReplaced(
            f"the index {path} was changed by another process meanwhile, or is damaged ({first}): try again, "
            "and run `semantic-search index` where that does not help"
        )
    if isinstance(error, OSError):
        return StoreError(f"the index {path} cannot be used: {first}")
    return damaged(path, first)


def _cause(error: BaseException) -> str:
    """What the system said of a connection, and whose it was: the core of a long nest of errors."""
    causes = _SYSTEM_SAID.findall(str(error))
    server = _SERVER.search(str(error))
    return f"{server[1]}: {causes[-1]}" if causes and server else causes[-1] if causes else ""


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """A span in which errors of LanceDB become StoreErrors that say what to do."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, TROUBLE) and not is_panic(error):
            raise
        raise told(error, path) from error
