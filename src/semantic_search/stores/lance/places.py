"""Indexes at a URI: LanceDB is asked which tables there are."""

from __future__ import annotations

import lancedb

from .failures import translated
from .session import connect_to, table_names
from .tables import ENTRIES, META, VECTORS

_BEGINNING = "index-"


def indexes(location: str) -> list[tuple[str, float]]:
    """Fingerprints of the indexes at a URI, each with its last change in seconds of the epoch."""
    with translated(location):
        db = connect_to(location)
        names = [
            name for name in table_names(db) if name.startswith(_BEGINNING) and name.endswith("-" + META)
        ]
        found = [name.removeprefix(_BEGINNING).removesuffix("-" + META) for name in names]
        if len(found) < 2:
            return [(fingerprint, 0.0) for fingerprint in found]
        return [(each, _changed(db, name)) for each, name in zip(found, names, strict=True)]


def _changed(db: lancedb.DBConnection, name: str) -> float:
    return float(db.open_table(name).list_versions()[-1]["timestamp"].timestamp())


def is_there(path: str) -> bool:
    """Whether an index is there."""
    location, _, prefix = path.partition("#")
    with translated(path):
        return f"{prefix}-{META}" in table_names(connect_to(location))


def drop(path: str) -> None:
    """Removes an index. `meta` goes first: without it the rest is no index."""
    location, _, prefix = path.partition("#")
    with translated(path):
        db = connect_to(location)
        there = table_names(db)
        for table in (META, ENTRIES, VECTORS):
            if f"{prefix}-{table}" in there:
                db.drop_table(f"{prefix}-{table}")
