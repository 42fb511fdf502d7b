"""Which files a folder holds: one function for the indexer, for grep and for cat."""

from __future__ import annotations

import os
import stat

from ..errors import FolderError, ListingError
from ..types import Listing
from .rules import WALK_IGNORE, ListingRules

__all__ = ["WALK_IGNORE", "ListingRules", "list_files"]


def list_files(folder: str, rules: ListingRules) -> Listing:
    """The files of a folder, in path order, with what is known to have no text and what could not be listed.

    In a git repository these are the files that git tracks or does not ignore, asked of git; elsewhere
    those of a walk that honours `.gitignore` files and asks git in each repository on the way. Ignore
    patterns of the config and `.indexignore` files apply to both. Nothing is followed out of the folder, and
    the only files read are ignore files. A subdirectory that cannot be read, or a nested repository that git
    refuses, is named in `unread`, and the rest goes on.

    Raises FolderError when the folder is missing, unreadable or no directory, ListingError when its
    repository cannot be listed (broken, refused by git, git missing, timeout).
    """
    from .entries import Entries
    from .git import GitFailed
    from .repository import Repositories

    resolved = _resolved(folder)
    entries = Entries(resolved, rules)
    try:
        Repositories(entries).run()
    except GitFailed as failure:
        raise ListingError(f"{resolved}: {failure}") from failure
    listing = entries.listing()
    if not (listing.files or listing.skipped or listing.unread):
        return Listing((), (), (), (*listing.notes, f"{resolved} holds no file that its ignore rules leave"))
    return listing


def _resolved(folder: str) -> str:
    try:
        resolved = os.path.realpath(folder, strict=True)
        if not stat.S_ISDIR(os.stat(resolved).st_mode):
            raise FolderError(f"{folder} is not a directory. Give the directory that holds the file")
        with os.scandir(resolved):
            pass
    except FileNotFoundError as error:
        raise FolderError(
            f"{folder} does not exist. Check the path, or whether its disk is mounted"
        ) from error
    except OSError as error:
        raise FolderError(f"{folder} cannot be read ({error.strerror}). Check its permissions") from error
    except ValueError as error:
        raise FolderError(f"{folder!r} is not a path: it holds a NUL character") from error
    if any(part.lower() == ".git" for part in resolved.split(os.sep)):
        raise FolderError(f"{folder} lies in a .git directory, which is never listed. Give the working tree")
    return resolved
