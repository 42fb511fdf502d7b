"""The LanceDB store: tables of files, passages and vectors in a directory or at a URI."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...errors import IndexDamaged, IndexReplaced
from ...types import Skip, Skipped, SourceFile
from ..rows import FolderCounts, Indexed, Known, SkippedFile, Stored
from ..sqlite_rows import unpacked
from ..trouble import damaged
from .changes import Changes, File
from .failures import translated
from .session import make_indexes, merged
from .tables import (
    ENTRIES,
    FILE,
    FILE_COLUMNS,
    FOLDER_KEY,
    META,
    PASSAGE,
    VECTORS,
    Row,
    any_of,
    file_of,
    file_row_id,
    known_of,
    name_to_text,
    quoted,
    stamp_of,
    stored_of,
    table_of,
    text_to_name,
)
from .upkeep import LanceUpkeep

# How many files are moved in one commit.
_SLICE = 500


class LanceStore(LanceUpkeep):
    """See `Store`. What is remembered and written is here, the arms and the tables below it."""

    # What this process wrote last, and the numbers and passages of the files there are then.
    _written: tuple[int, dict[File, tuple[int, int]], int] | None = None

    # What is remembered

    def folders(self) -> list[str]:
        """See `Store`."""
        return sorted(self._folders())

    def _folders(self) -> dict[str, str]:
        with self._reading(), translated(self.path):
            self._meta.checkout_latest()
            rows = self._rows(["key", "value"], f"starts_with(key, {quoted(FOLDER_KEY)})", self._meta)
        return {text_to_name(row["key"][len(FOLDER_KEY) :]): row["value"] or "" for row in rows}

    def _make_folder(self, folder: str) -> None:
        if folder not in self._folders():
            self._set_folder(folder, "")

    def _set_folder(self, folder: str, last_run: str) -> None:
        self.set_meta(FOLDER_KEY + name_to_text(folder), last_run)

    def known(self, folder: str) -> dict[str, Known]:
        """See `Store`."""
        with self.snapshot():
            rows = self._rows(FILE_COLUMNS, f"kind = {FILE} AND folder = {quoted(name_to_text(folder))}")
        return {text_to_name(row["path"]): known_of(row) for row in rows}

    def document(self, folder: str, path: str) -> Stored | None:
        """See `Store`."""
        with self.snapshot():
            numbers = self._numbers([(folder, path)])
            if not numbers:
                return None
            ids = [file_row_id(number) for number in numbers.values()]
            (row,) = self._rows([*FILE_COLUMNS, "pages", "text"], any_of("id", ids))
        with translated(self.path):
            return stored_of(row, unpacked(row["text"])) if row["text"] is not None else None

    def counts(self) -> list[FolderCounts]:
        """See `Store`."""
        with self.snapshot():
            folders = self._folders()
            rows = self._rows(["file", "folder", "reason", "chunks"], f"kind = {FILE}")
            waiting = self._waiting_passages()
        of_file = {row["file"]: text_to_name(row["folder"]) for row in rows}
        found = {path: [0, 0, 0] for path in folders}
        skipped: dict[str, dict[str, int]] = {path: {} for path in folders}
        for row in rows:
            folder = of_file[row["file"]]
            totals = found.setdefault(folder, [0, 0, 0])
            totals[0] += row["chunks"] > 0
            totals[1] += row["chunks"]
            if row["reason"]:
                reasons = skipped.setdefault(folder, {})
                reasons[row["reason"]] = reasons.get(row["reason"], 0) + 1
        for id_ in waiting:
            found[of_file[file_of(id_)]][2] += 1
        return [
            FolderCounts(path, files, chunks, pending, skipped[path], folders.get(path, ""))
            for path, (files, chunks, pending) in sorted(found.items())
        ]

    def skipped(self) -> list[SkippedFile]:
        """See `Store`."""
        with self.snapshot():
            rows = self._rows(["folder", "path", "reason", "detail"], f"kind = {FILE} AND reason != ''")
        found = [
            SkippedFile(
                text_to_name(row["folder"]), text_to_name(row["path"]), Skip(row["reason"]), row["detail"]
            )
            for row in rows
        ]
        return sorted(found, key=lambda file: (file.folder, file.path))

    def check(self) -> str:
        """See `Store`."""
        try:
            with self.snapshot():
                return self._check()
        except (IndexDamaged, IndexReplaced) as error:  # what is missing may be so for good
            return str(error)

    def _check(self) -> str:
        said: dict[int, int] = {}
        there: dict[int, int] = {}
        with translated(self.path):
            for batch in self._entries.search().limit(None).to_batches(2048):
                for row in batch.select(["file", "kind", "chunks", "text"]).to_pylist():
                    if row["kind"] == FILE:
                        said[row["file"]] = row["chunks"]
                        if row["text"] is not None:
                            unpacked(row["text"])  # it carries a checksum
                    elif row["kind"] == PASSAGE:
                        there[row["file"]] = there.get(row["file"], 0) + 1
            if self._vectors is not None:
                for batch in self._vectors.search().limit(None).to_batches(8192):
                    rows = np.stack(batch["vector"].to_numpy(zero_copy_only=False))
                    if not np.isfinite(rows).all():
                        return f"the index {self.path} is damaged: some vectors are none"
        wrong = [file for file in {*said, *there} if said.get(file, 0) != there.get(file, 0)]
        return f"{len(wrong)} files have other passages than they should" if wrong else ""

    # Writes

    def write(
        self,
        folder: str,
        indexed: Sequence[Indexed] = (),
        skipped: Sequence[Skipped] = (),
        touched: Sequence[SourceFile] = (),
        *,
        seen_ns: int,
        keep_passages: bool = False,
    ) -> None:
        """See `Store`."""
        with self._lock:
            self._make_folder(folder)
            changes = Changes(*self._take_files())
            for item in indexed:
                changes.replace(folder, item, seen_ns)
            kept = self._own_rows(folder, [source.path for source in touched])
            if keep_passages:
                kept |= self._own_rows(folder, [skip.source.path for skip in skipped])
            for skip in skipped:
                row = kept.get(skip.source.path)
                if keep_passages and row and row["chunks"]:
                    reason = {"reason": skip.reason.value, "detail": skip.detail}
                    changes.keep({**row, **stamp_of(skip.source, seen_ns), **reason})
                else:
                    changes.skip(folder, skip, seen_ns)
            for source in touched:
                if source.path in kept:
                    changes.keep({**kept[source.path], **stamp_of(source, seen_ns)})
            self._apply(changes)

    def _own_rows(self, folder: str, paths: Sequence[str]) -> dict[str, Row]:
        """The whole rows of files, by path."""
        if not paths:
            return {}
        self._refresh()
        numbers = self._numbers([(folder, path) for path in paths])
        if not numbers:
            return {}
        ids = [file_row_id(number) for number in numbers.values()]
        rows = self._rows([field.name for field in self._entries.schema], any_of("id", ids))
        return {text_to_name(row["path"]): row for row in rows}

    def _files_written(self) -> tuple[dict[File, tuple[int, int]], int]:
        """Number and passages of each file, and the next number; from the index unless we wrote it last."""
        with translated(self.path):
            self._entries.checkout_latest()
            version = int(self._entries.version)
        if self._written is None or self._written[0] != version:
            rows = self._rows(["file", "folder", "path", "chunks"], f"kind = {FILE}")
            files = {
                (text_to_name(row["folder"]), text_to_name(row["path"])): (
                    int(row["file"]),
                    int(row["chunks"]),
                )
                for row in rows
            }
            numbers = self._table(["file"])["file"]
            self._written = (version, files, (pc.max(numbers).as_py() or 0) + 1)
        return self._written[1], self._written[2]

    def _take_files(self) -> tuple[dict[File, tuple[int, int]], int]:
        """The same, for somebody to change: they are read from the index again unless that is committed."""
        found = self._files_written()
        self._written = None
        return found

    def _apply(self, changes: Changes) -> None:
        if not changes.rows:
            return
        rows = table_of(changes.rows)
        before = self._waiting_now()
        if changes.all_new:
            self._commit(self._entries, lambda: self._entries.add(rows))
        else:
            self._update(rows, changes.replaced)
        with translated(self.path):
            self._written = (int(self._entries.version), changes.files, changes.next_file)
        self._carry_waiting(before, changes.rows)
        self._committed(ENTRIES)

    def _update(self, rows: pa.Table, replaced: int) -> None:
        """Replaces rows by id. Raises IndexDamaged where some were not there: they would be twice."""
        for again in (True, False):
            before = int(self._entries.version)
            found = self._commit(self._entries, lambda: merged(self._entries, "id", rows))
            changed = found.num_updated_rows
            if changed >= replaced and changed + found.num_inserted_rows == rows.num_rows:
                return
            with translated(self.path):
                self._entries.restore(before)
                if again:
                    make_indexes(self._entries)
        raise damaged(self.path, f"of {replaced} rows to be replaced only {changed} were found")

    def forget(self, folder: str, paths: Sequence[str]) -> None:
        """See `Store`."""
        with self._lock:
            files, _ = self._files_written()
            numbers = [files[folder, path][0] for path in paths if (folder, path) in files]
            self._remove(numbers)

    def _remove(self, numbers: Sequence[int]) -> None:
        if numbers:
            self._written = None
            before = self._waiting_now()
            condition = any_of("file", numbers)
            self._commit(self._entries, lambda: self._entries.delete(condition))
            if not before:
                self._carry_waiting(before, [])

    def move_files(self, source: str, target: str, prefix: str) -> None:
        """See `Store`. Each file moves whole; a killed process may leave some that did not move yet."""
        with self._lock:
            self._refresh()
            self._make_folder(target)
            ids = self._table(["id"], f"kind = {FILE} AND folder = {quoted(name_to_text(source))}")["id"]
            names = [field.name for field in self._entries.schema]
            for start in range(0, len(ids), _SLICE):
                part = ids[start : start + _SLICE].to_pylist()
                changes = Changes(*self._take_files())
                for row in self._rows(names, any_of("id", part)):
                    moved = prefix + text_to_name(row["path"])
                    changes.give(source, text_to_name(row["path"]), target, moved, row)
                self._apply(changes)
            self._drop_folder(source)

    def remove_folder(self, folder: str) -> None:
        """See `Store`."""
        with self._lock:
            files, _ = self._files_written()
            self._remove([number for (owner, _), (number, _) in files.items() if owner == folder])
            self._drop_folder(folder)
            # Somebody who removes a folder means to leave nothing of it behind.
            self._drop_orphans()
            for name in (ENTRIES, VECTORS, META):
                table, _ = self._named_table(name)
                if table is not None:
                    self._optimize(table, timedelta(0), unverified=True)

    def _drop_folder(self, folder: str) -> None:
        condition = f"key = {quoted(FOLDER_KEY + name_to_text(folder))}"
        self._commit(self._meta, lambda: self._meta.delete(condition))

    def record_run(self, folder: str, when: str) -> None:
        """See `Store`."""
        self._set_folder(folder, when)
