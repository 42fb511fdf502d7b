"""Where indexed files are kept: the protocol of a store, and the stores there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from ..errors import StoreError
from .rows import EVERYTHING, Filter, FolderCounts, Indexed, Kept, Known, Passage, SkippedFile, Stored

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..types import Skipped, SourceFile

__all__ = [
    "EVERYTHING",
    "STORES",
    "Filter",
    "FolderCounts",
    "Indexed",
    "Kept",
    "Known",
    "Passage",
    "SkippedFile",
    "Store",
    "Stored",
    "open_store",
]


class Store(Protocol):
    """Files with their stamps and reasons, passages, terms and vectors.

    One process writes at a time (the caller holds the index lock); any number read meanwhile, and see
    every call's effect whole or not at all. Folders are absolute paths, files paths relative to them.
    """

    path: str

    def snapshot(self) -> AbstractContextManager[None]:
        """A span within which every read sees one and the same state."""

    def meta(self, key: str) -> str:
        """A remembered value, empty when there is none."""

    def set_meta(self, key: str, value: str) -> None:
        """Remembers a value."""

    def folders(self) -> list[str]:
        """Paths of every folder that has been indexed."""

    def known(self, folder: str) -> dict[str, Known]:
        """What is remembered of each file of a folder, by path."""

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
        """Replaces files whole, records skips, and renews the stamps of unchanged ones, all or nothing.

        A skipped file loses its passages unless `keep_passages` is set (the cause is thought to pass).
        """

    def forget(self, folder: str, paths: Sequence[str]) -> None:
        """Removes files with everything of theirs."""

    def move_files(self, source: str, target: str, prefix: str) -> None:
        """Gives a folder's files to another folder that holds it, as `prefix` + path."""

    def remove_folder(self, folder: str) -> None:
        """Removes a folder and all its files."""

    def record_run(self, folder: str, when: str) -> None:
        """Notes the time (ISO 8601, UTC) at which a run over a folder ended."""

    def pending(self, limit: int, wanted: Filter = EVERYTHING) -> list[tuple[int, str]]:
        """Up to `limit` texts of wanted files that wait for a vector, as (embedding id, text the model shall
        see), in the order of their ids."""

    def has_vectors(self) -> bool:
        """Whether any passage has a vector."""

    def pending_count(self, wanted: Filter = EVERYTHING) -> int:
        """How many distinct texts of wanted files wait for a vector."""

    def put_vectors(self, ids: Sequence[int], vectors: npt.NDArray[np.float32]) -> None:
        """Keeps unit vectors, float32 (n, dimension), for embedding ids."""

    def adopt_vectors(self, path: str) -> None:
        """Takes over the vectors of another index file: what was embedded once is not embedded again.

        Raises StoreError of that file; what was taken until then stays.
        """

    def contents(self, folder: str) -> Iterator[Kept]:
        """Every file of a folder with all that is kept of it. Call it within a snapshot."""

    def stored_vectors(self) -> Iterator[tuple[list[bytes], list[str], npt.NDArray[np.float32]]]:
        """Every vector there is, in batches of (keys, scripts of their passages, float32 (n, dimension)).

        A script is empty where no passage has the text any more. Call it within a snapshot.
        """

    def take_vectors(
        self, keys: Sequence[bytes], scripts: Sequence[str], vectors: npt.NDArray[np.float32]
    ) -> None:
        """Keeps vectors by the keys of their texts; those that are there stay as they are."""

    def match(self, terms: Sequence[str], wanted: Filter, k: int) -> list[tuple[int, float]]:
        """The k best passages by BM25 over any of the terms, as (passage id, score), best first."""

    def match_files(
        self, terms: Sequence[str], wanted: Filter, k: int
    ) -> list[tuple[tuple[str, str], float]]:
        """The k best whole files by BM25 over any of the terms, as ((folder, path), score), best first."""

    def frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many passages each term occurs."""

    def passage_count(self) -> int:
        """How many passages there are."""

    def symbols(self, files: Sequence[tuple[str, str]]) -> dict[tuple[str, str], list[str]]:
        """The symbols of each file's passages, in their order, by (folder, path)."""

    def nearest(self, vector: npt.NDArray[np.float32], wanted: Filter, k: int) -> list[tuple[int, float]]:
        """The k passages nearest to a unit vector, as (passage id, cosine), nearest first."""

    def passages(self, ids: Sequence[int]) -> dict[int, Passage]:
        """Passages by id; ids that are gone are left out."""

    def passages_of(self, folder: str, path: str) -> list[Passage]:
        """The passages of a file, in their order."""

    def vector_of(self, passage: int) -> npt.NDArray[np.float32] | None:
        """The vector of a passage, float32 (dimension) of about unit length, None while it has none."""

    def document(self, folder: str, path: str) -> Stored | None:
        """The stored text of a file, None where it has none."""

    def counts(self) -> list[FolderCounts]:
        """Numbers for each folder."""

    def skipped(self) -> list[SkippedFile]:
        """Every file that has no passages, with its reason."""

    def check(self) -> str:
        """What is wrong with the store, empty when it is sound. Reads everything.

        Raises StoreError where it cannot be read for now: that says nothing of what is in it.
        """

    def tidy(self) -> None:
        """Drops what nothing refers to any more and gives free space back."""

    def close(self) -> None:
        """Ends the use of the store."""


def _sqlite(path: str, *, create: bool, any_version: bool) -> Store:
    from .sqlite import SqliteStore

    return SqliteStore(path, create=create, any_version=any_version)


def _lancedb(path: str, *, create: bool, any_version: bool) -> Store:
    try:
        from .lance.store import LanceStore
    except ImportError as error:
        raise StoreError(
            f"the store lancedb is not installed ({error}): pip install 'semantic-search-mcp[lancedb]', "
            "or choose the store sqlite"
        ) from error

    return LanceStore(path, create=create, any_version=any_version)


STORES: Mapping[str, Callable[..., Store]] = {"sqlite": _sqlite, "lancedb": _lancedb}


def open_store(backend: str, path: str, *, create: bool = False, any_version: bool = False) -> Store:
    """Opens the store of a backend at a path, with `create` made where there is none.

    With `any_version` also one that an older release wrote: only its `meta` and `folders` may be asked, and
    its vectors adopted. Raises NoIndex, IndexDamaged, IndexOutdated, IndexTooNew, and StoreError where it
    cannot be opened for another reason.
    """
    return STORES[backend](path, create=create, any_version=any_version)
