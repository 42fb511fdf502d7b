"""Asking git: one child process, bytes in and out, no configuration of the repository that runs a program.

A repository is data that somebody else may have written. `core.fsmonitor` and hooks name programs, a promisor
remote can make git fetch through one, `core.worktree` points anywhere: the flags and the environment below
switch the first three off, and `discover` compares the last with where the repository was found.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from enum import Enum, auto

from .markers import find_marker, git_directory

_FLAGS = (
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.quotepath=false"),
)
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_CHILD = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
    "LC_ALL": "C",
    "LANGUAGE": "C",
}
_DUBIOUS = re.compile(rb"(?:dubious ownership in|unsafe) repository (?:at )?\(?'(.+?)'")
_UNREAD = re.compile(rb"^warning: (could not open directory|unable to access) '(.+)': ", re.MULTILINE)


class GitFailed(Exception):
    """Git could not answer. The text is cause and remedy."""


class Kind(Enum):
    """What a folder is to git."""

    REPOSITORY = auto()
    NONE = auto()
    IGNORED = auto()
    REDIRECTED = auto()


@dataclass(frozen=True, slots=True)
class Place:
    """What a folder is to git; `top` is the working tree's absolute path (empty outside of one)."""

    kind: Kind
    top: str = ""


@dataclass(frozen=True, slots=True)
class Listed:
    """Paths relative to the directory asked about, `/` between parts.

    `paths` end with `/` where a nested repository stands. `unread` are directories git could not open,
    `unruled` those whose `.gitignore` it could not read ("" is the directory itself or one above it).
    """

    paths: list[str]
    unread: list[str]
    unruled: list[str]


def discover(directory: str, timeout: float) -> Place:
    """What an absolute, resolved directory is to git. Raises GitFailed."""
    marker = find_marker(directory)
    if marker is None:
        return Place(Kind.NONE)
    code, out, err = _run(directory, ("rev-parse", "--show-toplevel", "--absolute-git-dir"), timeout)
    answer = os.fsdecode(out).removesuffix("\n").split("\n")
    if code != 0 and b"must be run in a work tree" in err:
        return Place(Kind.REDIRECTED)
    if code != 0 or len(answer) != 2:
        raise GitFailed(_explain(err, code, marker))
    top, found = answer
    own = git_directory(os.path.join(top, ".git"))
    if own is None or not _same(own, found) or not _inside(directory, top):
        return Place(Kind.REDIRECTED)
    if not _same(directory, top) and _is_ignored(directory, top, timeout):
        return Place(Kind.IGNORED, top)
    return Place(Kind.REPOSITORY, os.path.realpath(top))


def list_paths(directory: str, top: str, timeout: float) -> Listed:
    """What git tracks or would not ignore below `directory`, in the working tree `top`. Raises GitFailed."""
    arguments = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    code, out, err = _run(directory, arguments, timeout)
    if code != 0:
        raise GitFailed(_explain(err, code, directory))
    # Unmerged paths come once for each stage; `--deduplicate` would need git 2.31.
    paths = list(dict.fromkeys(os.fsdecode(out).split("\0")))
    prefix = os.path.relpath(directory, top).replace(os.sep, "/")
    listed = Listed([path for path in paths if path], [], [])
    for problem, raw in _UNREAD.findall(err):
        path = os.fsdecode(raw)
        if problem == b"could not open directory":
            listed.unread.append(_relative(path.rstrip("/"), prefix))
        elif not os.path.isabs(path):
            listed.unruled.append(_relative(path.rpartition("/")[0], prefix))
    return listed


def _relative(path: str, prefix: str) -> str:
    """A path of the working tree relative to `prefix` in it; "" for one that is not below."""
    if prefix == ".":
        return path
    return path[len(prefix) + 1 :] if path.startswith(f"{prefix}/") else ""


def _is_ignored(directory: str, top: str, timeout: float) -> bool:
    """Whether the working tree's rules ignore a directory in it, whatever is tracked below."""
    relative = os.path.relpath(os.path.realpath(directory), os.path.realpath(top)).replace(os.sep, "/")
    code, _, err = _run(top, ("check-ignore", "-q", "--no-index", "--", f"./{relative}"), timeout)
    if code not in (0, 1):
        raise GitFailed(_explain(err, code, top))
    return code == 0


def _same(left: str, right: str) -> bool:
    return os.path.normcase(os.path.realpath(left)) == os.path.normcase(os.path.realpath(right))


def _inside(directory: str, top: str) -> bool:
    inner = os.path.normcase(os.path.join(os.path.realpath(directory), ""))
    return inner.startswith(os.path.normcase(os.path.join(os.path.realpath(top), "")))


def _explain(err: bytes, code: int, place: str) -> str:
    if dubious := _DUBIOUS.search(err):
        top = os.fsdecode(dubious.group(1))
        return (
            f"git refuses the repository {top}: another user owns it. If you trust it, run: "
            f"git config --global --add safe.directory {shlex.quote(top)}"
        )
    said = os.fsdecode(err).strip().split("\n")[0] or f"exit status {code}"
    return (
        f"git cannot list the repository at {place} ({said}). Repair it (`git status` there must work), "
        "or move its .git away if it is no repository. It is not walked: that would index what git ignores"
    )


def _environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.upper().startswith("GIT_") or k in _KEPT}
    return kept | _CHILD


def _run(directory: str, arguments: tuple[str, ...], timeout: float) -> tuple[int, bytes, bytes]:
    """Exit status, output and error output of git run in `directory`."""
    environment = _environment()
    program = shutil.which("git", path=environment.get("PATH", os.defpath))
    if program is None:
        raise GitFailed(
            "this is a git repository, and git is not installed or not on PATH. Install git: "
            "without it nobody knows which files the repository ignores"
        )
    try:
        process = subprocess.Popen(
            [os.path.abspath(program), *_FLAGS, *arguments],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=None if sys.platform == "win32" else 0,
        )
    except OSError as error:
        raise GitFailed(f"git cannot be run in {directory} ({error.strerror}). Check {program}") from error
    with process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            _kill(process)
            raise GitFailed(
                f"git {arguments[0]} did not finish in {timeout:g} s. Run `git status` there: "
                "a stalled network file system or a lock is the usual cause"
            ) from None
        except BaseException:
            _kill(process)
            raise
    return process.returncode, out, err


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End git and whatever it started: a grandchild would keep the pipes open."""
    if sys.platform == "win32":
        process.kill()
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
