"""The configured folders: which there are, their names, and what lies inside them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .errors import FolderError
from .settings import Settings, update_config
from .suggestions import closest, did_you_mean


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder by its name and its absolute, resolved path."""

    name: str
    path: str

    @property
    def missing(self) -> bool:
        """Whether there is no directory at the path now."""
        return not os.path.isdir(self.path)


def configured_folders(settings: Settings) -> tuple[Folder, ...]:
    """The folders of the config file in its order, each path once."""
    return name_folders(settings.roots)


def name_folders(paths: Iterable[str]) -> tuple[Folder, ...]:
    """Folders with distinct names: the base name, with as many parents as it takes where that is in use."""
    folders: list[Folder] = []
    taken: set[str] = set()
    for path in dict.fromkeys(paths):
        parts = [part for part in path.replace("\\", "/").split("/") if part] or [path]
        name = next(
            (n for size in range(1, len(parts) + 1) if (n := "/".join(parts[-size:])) not in taken), path
        )
        taken.add(name)
        folders.append(Folder(name, path))
    return tuple(folders)


def check_folder(path: str, *, force: bool = False) -> str:
    """The absolute, resolved path of a directory that may be indexed. Raises FolderError.

    The file system's root, a home directory and a drive are refused unless forced: they hold far more
    than anybody means to index.
    """
    absolute = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(absolute):
        raise FolderError(f"{path}: there is no such folder{_sibling_meant(absolute)}")
    if not os.path.isdir(absolute):
        raise FolderError(f"{path}: not a folder; add the folder that holds it")
    resolved = os.path.realpath(absolute)
    if not force and _too_wide(resolved):
        raise FolderError(f"{path}: this is a whole drive or home directory; name a folder in it, or --force")
    if not os.access(resolved, os.R_OK | os.X_OK):
        raise FolderError(f"{path}: the folder cannot be read (permissions)")
    return resolved


def _sibling_meant(absolute: str) -> str:
    parent, name = os.path.split(absolute)
    try:
        with os.scandir(parent) as entries:
            directories = [entry.name for entry in entries if entry.is_dir()]
    except OSError:
        return ""
    meant = closest(name, directories)
    return f" (did you mean {os.path.join(parent, meant)}?)" if meant else ""


def _too_wide(resolved: str) -> bool:
    home = os.path.realpath(os.path.expanduser("~"))
    return os.path.dirname(resolved) == resolved or resolved == home or is_inside(home, resolved)


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder's own or below it, compared by whole parts (`/a/bc` is not in `/a/b`)."""
    folder = folder.rstrip(os.sep) or os.sep
    return path == folder or path.startswith(folder if folder.endswith(os.sep) else folder + os.sep)


@dataclass(frozen=True, slots=True)
class Added:
    """What became of one path given to `add_folders`: added, or already there; nested in or around others."""

    folder: Folder
    new: bool
    inside: str = ""
    around: tuple[str, ...] = ()


def add_folders(settings: Settings, paths: Sequence[str], *, force: bool = False) -> list[Added]:
    """Adds folders to the config file, all or none. Raises FolderError for the first that cannot be."""
    resolved = [check_folder(path, force=force) for path in paths]
    outcome: list[tuple[str, bool]] = []
    roots: list[str] = []

    def change(content: dict[str, Any]) -> None:
        stored = [root for root in content.get("defaultRoots", []) if isinstance(root, str)]
        roots[:] = [os.path.realpath(os.path.expanduser(root)) for root in stored]
        for path in resolved:
            new = path not in roots and not any(_same(path, root) for root in roots)
            outcome.append((path, new))
            if new:
                roots.append(path)
                stored.append(path)
        content["defaultRoots"] = stored

    update_config(settings.paths.config_file, change)
    names = {folder.path: folder for folder in name_folders(roots)}
    added = []
    for path, new in outcome:
        others = [root for root in roots if root != path]
        outer = max((root for root in others if is_inside(path, root)), key=len, default="")
        inner = tuple(root for root in others if is_inside(root, path))
        added.append(Added(names.get(path) or Folder(os.path.basename(path), path), new, outer, inner))
    return added


def _same(first: str, second: str) -> bool:
    # A case-insensitive file system or a bind mount gives one directory two spellings.
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False


def find_folder(folders: Sequence[Folder], name_or_path: str) -> Folder:
    """The folder of a name or path. Raises FolderError listing the names there are."""
    for folder in folders:
        if folder.name == name_or_path:
            return folder
    path = os.path.realpath(os.path.abspath(os.path.expanduser(name_or_path)))
    for folder in folders:
        if folder.path == path:
            return folder
    known = ", ".join(folder.name for folder in folders) or "none yet; add one with: semantic-search add PATH"
    meant = folder_meant(name_or_path, folders)
    raise FolderError(f"{name_or_path}: not a configured folder{meant}. There are: {known}")


def folder_meant(name_or_path: str, folders: Sequence[Folder]) -> str:
    """` (did you mean …?)` for a mistyped folder, with a path where one was given; "" where none is close."""
    if os.sep not in name_or_path and not name_or_path.startswith("~"):
        return did_you_mean(name_or_path, [folder.name for folder in folders])
    path = os.path.abspath(os.path.expanduser(name_or_path))
    return did_you_mean(path, [folder.path for folder in folders]) or did_you_mean(
        name_or_path, [folder.name for folder in folders]
    )


def remove_folders(settings: Settings, names: Sequence[str]) -> list[Folder]:
    """Takes folders out of the config file, all or none; returns them. Raises FolderError."""
    removed: list[Folder] = []

    def change(content: dict[str, Any]) -> None:
        stored = [root for root in content.get("defaultRoots", []) if isinstance(root, str)]
        by_path = {os.path.realpath(os.path.expanduser(root)): root for root in stored}
        folders = name_folders(by_path)
        removed[:] = list(dict.fromkeys(find_folder(folders, name) for name in names))
        gone = {folder.path for folder in removed}
        content["defaultRoots"] = [
            root for root in stored if os.path.realpath(os.path.expanduser(root)) not in gone
        ]

    update_config(settings.paths.config_file, change)
    return removed
