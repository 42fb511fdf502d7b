"""A connection to an index file: transactions, snapshots, and errors in the user's words."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from .schema import connect, told


class SqliteSession:
    """One connection; calls from several threads take turns. See `Store` for the public methods."""

    def __init__(self, path: str, *, create: bool, any_version: bool = False) -> None:
        self.path = path
        self._connection = connect(path, create=create, any_version=any_version)
        self._lock = threading.RLock()
        self._depth = 0
        self._writes = 0

    def close(self) -> None:
        """Ends the use of the store."""
        with self._lock:
            self._connection.close()

    # Transactions

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, translated(self.path):
            if self._depth:
                yield self._connection
                return
            self._connection.execute(begin)
            self._depth += 1
            try:
                yield self._connection
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise
            else:
                self._connection.execute("COMMIT")
            finally:
                self._depth -= 1

    def snapshot(self) -> contextlib.AbstractContextManager[None]:
        """See `Store`."""
        return self._snapshot()

    @contextlib.contextmanager
    def _snapshot(self) -> Iterator[None]:
        with self._transaction("BEGIN"):
            yield

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._transaction("BEGIN IMMEDIATE") as db:
            self._writes += 1
            yield db

    def _state(self) -> tuple[int, int]:
        """Differs from an earlier one when anybody wrote since. Not `total_changes`: that counts the
        temporary table of a filter too."""
        with self._lock, translated(self.path):
            version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        return int(version), self._writes

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock, translated(self.path):
            return self._connection.execute(sql, values).fetchall()

    def _batches(self, sql: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query, so many at a time. Call it within a snapshot, and use all of it there."""
        with self._lock, translated(self.path):
            cursor = self._connection.execute(sql)
            while rows := cursor.fetchmany(size):
                yield rows


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """A span in which errors of SQLite become StoreErrors that say what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise told(error, path) from error
