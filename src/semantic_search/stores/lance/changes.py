"""What one commit to `entries` is made of."""

from __future__ import annotations

from ...types import Skipped
from ..rows import Indexed
from .tables import Row, gone_file, gone_rows, indexed_rows, name_to_text, skip_row

File = tuple[str, str]
"""Folder and path."""


class Changes:
    """Rows of one commit, and the numbers of files once it is made. `replaced` is how many rows that are
    there the commit is to replace, at least. `files` is changed in place: they may be many to copy."""

    def __init__(self, files: dict[File, tuple[int, int]], next_file: int) -> None:
        self.files, self.next_file = files, next_file
        self.rows: list[Row] = []
        self.replaced = 0

    @property
    def all_new(self) -> bool:
        """Whether nothing that is there is replaced."""
        return not self.replaced

    def _number(self, file: File, passages: int) -> int:
        if file in self.files:
            number, before = self.files[file]
            self.rows += gone_rows(number, passages, before)
            self.replaced += 1 + before
        else:
            number = self.next_file
            self.next_file += 1
        self.files[file] = (number, passages)
        return number

    def replace(self, folder: str, item: Indexed, seen_ns: int) -> None:
        """A file with its passages, in the place of what was there."""
        number = self._number((folder, item.document.source.path), len(item.chunks))
        self.rows += indexed_rows(number, folder, item, seen_ns)

    def skip(self, folder: str, skipped: Skipped, seen_ns: int) -> None:
        """A file without passages, and why."""
        number = self._number((folder, skipped.source.path), 0)
        self.rows.append(skip_row(number, folder, skipped, seen_ns))

    def keep(self, row: Row) -> None:
        """A file's row with other values in it; its passages stay."""
        self.replaced += 1
        self.rows.append(row)

    def give(self, folder: str, path: str, target: str, moved: str, row: Row) -> None:
        """A file's row moves to another folder, in the place of what was there."""
        self.replaced += 1
        if (target, moved) in self.files:
            gone = gone_file(*self.files.pop((target, moved)))
            self.rows += gone
            self.replaced += len(gone)
        self.files[target, moved] = self.files.pop((folder, path))
        self.rows.append({**row, "folder": name_to_text(target), "path": name_to_text(moved)})
