"""What can be wrong with an index, in the same words whichever store it is of."""

from __future__ import annotations

from ..errors import IndexBusy, IndexDamaged, IndexOutdated, IndexTooNew, StoreError


def damaged(path: str, why: object) -> IndexDamaged:
    """What it holds cannot be read."""
    return IndexDamaged(
        f"the index {path} is damaged ({why}): run `semantic-search index --force` to build it afresh"
    )


def busy(path: str) -> IndexBusy:
    """Another process writes and did not let us."""
    return IndexBusy(f"the index {path} is being written by another process; try again when it is done")


def disk_full(path: str) -> StoreError:
    """There is no room to write, or to read beside others."""
    return StoreError(
        f"the disk is full: nothing that was indexed is lost; free some space for {path} and run again"
    )


def check_version(path: str, written: str, known: int, *, any_version: bool) -> None:
    """Refuses an index with another schema than `known`; an older one not with `any_version`.

    `written` is what stands in the index. Raises IndexDamaged where that is no version, IndexTooNew,
    IndexOutdated.
    """
    if not written.isdecimal():
        raise damaged(path, "its version is missing")
    version = int(written)
    if version > known:
        raise IndexTooNew(
            f"the index was written by a newer version (schema {version}, this one knows {known}): "
            "upgrade semantic-search-mcp, or point SS_INDEX_DIR elsewhere"
        )
    if version < known and not any_version:
        raise IndexOutdated(
            "the index was written by an older version: run `semantic-search index` to renew it"
        )
