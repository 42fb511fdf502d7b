"""A LanceDB index opened: its tables, snapshots of them, and commits."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeVar, cast

import lancedb
import pyarrow as pa
from lancedb.index import FTS, Bitmap, BTree
from lancedb.query import MatchQuery

from ...errors import IndexTooNew, NoIndex
from ...private_files import make_private_file
from ..schema import SCHEMA_VERSION
from ..trouble import check_version, damaged
from .failures import CONFLICTS, TROUBLE, told, translated
from .readers import Readers
from .tables import ENTRIES, ENTRIES_SCHEMA, META, META_SCHEMA, VECTORS, quoted

_Result = TypeVar("_Result")

CLUSTER = "db://"

# The name of a file that is there while somebody writes, and afterwards where that did not end well.
UNFINISHED = "unfinished"
_TRIES = 6
# How many bytes of indexes, and of metadata, are kept in memory by a session that writes.
_CACHED = 48 << 20, 16 << 20


class LanceSession:
    """Tables of an index; calls from several threads take turns. See `Store` for the public methods.

    A path is a directory, or a URI whose last part after `#` begins the tables' names, so that several
    indexes share a place that has no directories. Raises what `open_store` does.
    """

    # How long a version stays that somebody may still be reading.
    retention = timedelta(seconds=30)

    def __init__(self, path: str, *, create: bool, any_version: bool = False) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._depth = self._reads = 0
        self._marked = self._left = self._failed = False
        self._cache: tuple[tuple[int, int], dict[str, Any]] = ((-1, -1), {})
        self.remote = "://" in path
        location, _, prefix = path.partition("#") if self.remote else (path, "", "")
        self._prefix = f"{prefix}-" if prefix else ""
        self._claim(location, create=create)
        self._readers = Readers(None if self.remote else location)
        if create:
            self._readers.make()
        with translated(path):
            self._db = connect_to(location, writing=create)
        try:
            if create:
                self._make()
            self._meta = self._open(META)
            self._check_version(any_version=any_version)
            self._entries = self._open(ENTRIES)
            self._vectors: Any = self._open(VECTORS) if self._exists(VECTORS) else None
            if create:
                mend_indexes(self._entries)
        except TROUBLE as error:
            raise told(error, path) from error

    def _claim(self, location: str, *, create: bool) -> None:
        if self.remote:
            return
        if os.path.exists(location) and not os.path.isdir(location):
            raise damaged(location, "not a directory")
        if create:
            os.makedirs(location, mode=0o700, exist_ok=True)
        elif not os.path.isdir(location):
            raise NoIndex(f"there is no index at {location}")

    def _name(self, table: str) -> str:
        return self._prefix + table

    def _exists(self, table: str) -> bool:
        return self._name(table) in table_names(self._db)

    def _open(self, table: str) -> Any:
        try:
            return self._db.open_table(self._name(table))
        except TROUBLE as error:
            if self._exists(table):
                raise
            if table == META:
                raise NoIndex(f"there is no index at {self.path}") from error
            raise damaged(self.path, f"the table {table} is missing") from error

    def _make(self) -> None:
        # `meta` comes last: an index without it is none, whatever a killed process left.
        names = table_names(self._db)
        if self._name(META) in names:
            return
        entries = self._db.create_table(self._name(ENTRIES), schema=ENTRIES_SCHEMA, exist_ok=True)
        make_indexes(entries)
        rows = {"key": ["schema", "lancedb"], "value": [str(SCHEMA_VERSION), lancedb.__version__]}
        self._db.create_table(self._name(META), data=pa.table(rows, schema=META_SCHEMA))

    def _check_version(self, *, any_version: bool) -> None:
        check_version(self.path, self.meta("schema"), SCHEMA_VERSION, any_version=any_version)
        # An older LanceDB appends to what it cannot read, and nobody can read it afterwards.
        written = self.meta("lancedb")
        if _release(written) > _release(lancedb.__version__):
            raise IndexTooNew(
                f"the index was written by LanceDB {written}, newer than the {lancedb.__version__} here: "
                "upgrade with `pip install --upgrade 'semantic-search-mcp[lancedb]'`"
            )

    def close(self) -> None:
        """Ends the use of the store."""
        with self._lock:
            self._cache = ((-1, -1), {})
            if self._marked and not self._left and not self._failed:
                self._mark_finished()

    # Reading

    def snapshot(self) -> contextlib.AbstractContextManager[None]:
        """See `Store`."""
        return self._snapshot()

    @contextlib.contextmanager
    def _snapshot(self) -> Iterator[None]:
        with self._reading():
            if not self._depth:
                self._refresh()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """A span in which others remove nothing of what is the newest version now."""
        with self._lock, contextlib.ExitStack() as held:
            if not self._reads:
                held.enter_context(self._readers.one_more())
            self._reads += 1
            try:
                yield
            finally:
                self._reads -= 1

    def _refresh(self) -> None:
        with translated(self.path):
            # First what passages refer to: a vector that is there too early does no harm.
            self._entries.checkout_latest()
            if self._vectors is None and self._exists(VECTORS):
                self._vectors = self._open(VECTORS)
            elif self._vectors is not None:
                self._vectors.checkout_latest()
            if self.path.startswith(CLUSTER):
                # A cluster answers from its newest version unless it is told which.
                for table in (self._entries, self._vectors):
                    if table is not None:
                        table.checkout(table.version)

    def _state(self) -> tuple[int, int]:
        """Differs from an earlier one when anybody wrote since."""
        with translated(self.path):
            return int(self._entries.version), int(self._vectors.version) if self._vectors is not None else 0

    def _kept(self, name: str, make: Callable[[], _Result]) -> _Result:
        """What `make` returns, kept until somebody writes. Call it within a snapshot."""
        state = self._state()
        if self._cache[0] != state:
            self._cache = (state, {})
        found = self._cache[1]
        if name not in found:
            found[name] = make()
        result: _Result = found[name]
        return result

    def _rows(self, columns: list[str], condition: str, table: Any = None) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._table(columns, condition, table).to_pylist()
        return rows

    def _table(self, columns: list[str], condition: str = "", table: Any = None) -> pa.Table:
        query = (self._entries if table is None else table).search()
        if condition:
            query = query.where(condition)
        return self._found(query.select(columns).limit(None))

    def _found(self, query: Any) -> pa.Table:
        with self._lock, translated(self.path):
            return query.to_arrow()

    def _count(self, condition: str | None = None, table: Any = None) -> int:
        with self._lock, translated(self.path):
            return int((self._entries if table is None else table).count_rows(condition))

    def meta(self, key: str) -> str:
        """See `Store`."""
        with self._reading(), translated(self.path):
            self._meta.checkout_latest()
            rows = self._rows(["value"], f"key = {quoted(key)}", self._meta)
        return str(rows[0]["value"]) if rows else ""

    def set_meta(self, key: str, value: str) -> None:
        """See `Store`."""
        with self._lock:
            if self.meta(key) == value and value:
                return
            row = pa.table({"key": [key], "value": [value]}, schema=META_SCHEMA)
            self._commit(self._meta, lambda: merged(self._meta, "key", row))

    # Writing

    def _commit(self, table: Any, change: Callable[[], _Result]) -> _Result:
        """Makes a change of a table that is one commit; again from the newest version after a conflict."""
        with self._lock, translated(self.path):
            self._mark_unfinished()
            for attempt in range(_TRIES):
                table.checkout_latest()
                try:
                    return change()
                except BaseException as error:
                    # What it wrote until then stays on the disk, and nothing refers to it.
                    self._failed = True
                    again = any(words in str(error).lower() for words in CONFLICTS)
                    if not isinstance(error, TROUBLE) or not again or attempt == _TRIES - 1:
                        raise
                time.sleep(0.05 * 2**attempt)
        raise AssertionError("unreachable")

    def _mark_unfinished(self) -> None:
        """Notes on disk that somebody writes: what a killed process left is looked for by the next `tidy`."""
        if not self.remote and not self._marked:
            self._left = self._left_unfinished()
            self._marked = True
            make_private_file(os.path.join(self.path, UNFINISHED))

    def _left_unfinished(self) -> bool:
        """Whether a process that wrote before this one was killed at it, or failed."""
        if self._marked or self.remote:
            return self._left
        return os.path.exists(os.path.join(self.path, UNFINISHED))

    def _mark_finished(self) -> None:
        self._marked = self._left = self._failed = False
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self.path, UNFINISHED))

    def _optimize(self, table: Any, retention: timedelta, *, unverified: bool = False) -> None:
        """Merges small pieces, brings the indexes up to date and removes versions older than `retention`."""
        import warnings

        def change() -> None:
            with warnings.catch_warnings():
                # It says that others may be reading; they open the newest version and ask again.
                warnings.simplefilter("ignore")
                table.optimize(cleanup_older_than=retention, delete_unverified=unverified)

        self._commit(table, change)


def make_indexes(entries: Any) -> None:
    """Makes every index of `entries`, in the place of those that are there."""
    for column in ("id", "file", "key"):
        entries.create_index(column, config=BTree(), replace=True)
    entries.create_index("kind", config=Bitmap(), replace=True)
    for column in ("words", "whole"):
        entries.create_index(column, config=_words(), replace=True)


def mend_indexes(entries: Any) -> None:
    """Makes the indexes of `entries` again where one cannot be read: the rows are what counts."""
    try:
        for column in ("words", "whole"):
            entries.search(terms_in(column, ["a"]), query_type="fts").select(["id"]).limit(1).to_arrow()
        entries.search().where("id = 0 AND file = 0 AND key = '' AND kind = 0").select(["id"]).to_arrow()
    except TROUBLE as error:
        if "_indices" not in str(error):
            raise
        make_indexes(entries)


def _words() -> FTS:
    # Our own terms, joined by spaces, come through unchanged.
    return FTS(
        base_tokenizer="whitespace",
        lower_case=False,
        stem=False,
        remove_stop_words=False,
        ascii_folding=False,
        max_token_length=None,
        with_position=False,
    )


def terms_in(column: str, terms: Sequence[str]) -> MatchQuery:
    """A query for rows with any of the terms in a column. Terms are words to it, whatever is in them."""
    return cast("Callable[[str, str], MatchQuery]", MatchQuery)(" ".join(terms), column)


def connect_to(location: str, *, writing: bool = False) -> lancedb.DBConnection:
    """A connection whose tables stay at one version until they are told to go on.

    That is what a snapshot is; `_refresh` comes before every read outside of one, so that no search misses
    what another process wrote.
    """
    if location.startswith(CLUSTER):
        return lancedb.connect(
            location,
            region=os.environ.get("LANCEDB_REGION", "us-east-1"),
            host_override=os.environ.get("LANCEDB_HOST_OVERRIDE"),
        )
    # By default up to 7 GB of indexes and metadata stay in memory. For searches that is worth it; the pieces
    # that a run writes are merged away before they are read again.
    session = lancedb.Session(*_CACHED) if writing else None
    return lancedb.connect(location, read_consistency_interval=None, session=session)


def merged(table: Any, column: str, rows: pa.Table) -> Any:
    """Updates rows by a column and adds those that are new, in one commit."""
    return table.merge_insert(column).when_matched_update_all().when_not_matched_insert_all().execute(rows)


def table_names(db: lancedb.DBConnection) -> list[str]:
    """The names of every table at a place."""
    names: list[str] = []
    token: str | None = None
    while True:
        page = db.list_tables(page_token=token) if token else db.list_tables()
        names += page.tables
        token = page.page_token
        if not token:
            return names


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
