"""The `.git` entry of a directory: a repository's own directory, or a file that points to one."""

from __future__ import annotations

import os

_MAX_BYTES = 65_536


def find_marker(directory: str) -> str | None:
    """The nearest `.git` in `directory` or above it, or None."""
    while True:
        marker = os.path.join(directory, ".git")
        if os.path.lexists(marker):
            return marker
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent


def git_directory(marker: str) -> str | None:
    """The repository's directory that the `.git` entry `marker` stands for; None when it points nowhere."""
    if os.path.isdir(marker):
        return marker
    content = _line(marker)
    if content is None or not content.startswith("gitdir:"):
        return None
    return os.path.normpath(os.path.join(os.path.dirname(marker), content.removeprefix("gitdir:").strip()))


def main_repository(marker: str) -> str | None:
    """The shared repository directory if `marker` is a linked worktree (git-worktree(1)), else None."""
    if os.path.isdir(marker):
        return None
    directory = git_directory(marker)
    if directory is None or os.path.basename(os.path.dirname(directory)) != "worktrees":
        return None
    common = _line(os.path.join(directory, "commondir")) or "../.."
    return os.path.realpath(os.path.join(directory, common))


def may_redirect(directory: str) -> bool:
    """Whether the configuration in a repository's directory could name another working tree.

    `core.worktree` is read from that file alone, so its absence there saves asking git.
    """
    try:
        with open(os.path.join(directory, "config"), "rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError:
        return True
    return len(content) > _MAX_BYTES or b"worktree" in content.lower()


def is_bare_repository(names: set[str]) -> bool:
    """Whether a directory with these entries is a repository's own directory rather than somebody's files."""
    return {"HEAD", "objects", "refs", "config"} <= names


def _line(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(_MAX_BYTES)).strip("\r\n")
    except OSError:
        return None
