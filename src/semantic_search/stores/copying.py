"""From one store to another, without reading a file or embedding a text again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from . import Kept, Store

# Files that are written together: bounded in number and in characters of text.
_FILES = 256
_CHARACTERS = 4_000_000


@dataclass(slots=True)
class Copied:
    """How many files, passages and vectors were copied."""

    files: int = 0
    chunks: int = 0
    vectors: int = 0


def copy_index(
    source: Store,
    target: Store,
    folders: Mapping[str, str],
    on_file: Callable[[int], None] = lambda _done: None,
) -> Copied:
    """Copies vectors, and folders, each as the one it is mapped to in the place of what the target has of it.

    Other folders of the target stay. `on_file` is told how many files are done. Raises StoreError; what was
    written until then stays, and every file of it is whole.
    """
    copied = Copied()
    with source.snapshot():
        last_runs = {counts.path: counts.last_run for counts in source.counts()}
        for folder, mapped in folders.items():
            here = set()
            batch: list[Kept] = []
            characters = 0
            for kept in source.contents(folder):
                here.add(kept.source.path)
                batch.append(kept)
                characters += len(kept.indexed.document.text) if kept.indexed else 0
                if len(batch) >= _FILES or characters >= _CHARACTERS:
                    _write(target, mapped, batch, copied)
                    batch, characters = [], 0
                    on_file(copied.files)
            _write(target, mapped, batch, copied)
            gone = [path for path in target.known(mapped) if path not in here]
            if gone:
                target.forget(mapped, gone)
            target.record_run(mapped, last_runs.get(folder, ""))
            on_file(copied.files)
        for keys, scripts, vectors in source.stored_vectors():
            target.take_vectors(keys, scripts, vectors)
            copied.vectors += len(keys)
    return copied


def _write(target: Store, folder: str, batch: list[Kept], copied: Copied) -> None:
    if not batch:
        return
    # The earliest look of all: a file that may have changed since is read again rather than not.
    seen_ns = min(kept.seen_ns for kept in batch)
    indexed = [kept.indexed for kept in batch if kept.indexed]
    skipped = [kept.skipped for kept in batch if kept.skipped and not kept.indexed]
    target.write(folder, indexed, skipped, seen_ns=seen_ns)
    passing = [kept.skipped for kept in batch if kept.skipped and kept.indexed]
    if passing:
        target.write(folder, skipped=passing, seen_ns=seen_ns, keep_passages=True)
    copied.files += len(indexed)
    copied.chunks += sum(len(item.chunks) for item in indexed)
