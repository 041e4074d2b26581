"""The list of compactions of the embedded metastore, which Lakeport's own worker and cleaner work off."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from catalog.metastore import error_codes
from catalog.metastore.compactions import (
    Compaction,
    CompactionClient,
    CompactionJob,
    CompactionKind,
    RequestedCompaction,
)
from catalog.metastore.embedded.sqlite_store import SqliteStore
from catalog.metastore.transactions import NO_MINIMUM, ValidTransactions
from connector_spi.errors import MetastoreError

__all__ = ["COMPACTIONS", "EmbeddedCompactions", "has_compactions"]

COMPACTIONS = "compactions"
"""Name of the table, which files have from the first compaction on."""
_SCHEMA = f"""CREATE TABLE IF NOT EXISTS {COMPACTIONS} (
    id INTEGER PRIMARY KEY AUTOINCREMENT, database TEXT NOT NULL, table_name TEXT NOT NULL, partition TEXT,
    kind INTEGER NOT NULL, state TEXT NOT NULL, pool TEXT, worker TEXT, started INTEGER, ended INTEGER, error TEXT,
    txn INTEGER, next_txn INTEGER, committed INTEGER, highest INTEGER)"""
_FIRST = 1 << 40
"""Compactions have transactions from here on: files that Hive has compacted are named by ids that it never reaches."""
_INITIATED, _WORKING, _READY = "initiated", "working", "ready for cleaning"
_FAILED, _REFUSED, _SUCCEEDED = "failed", "refused", "succeeded"


class EmbeddedCompactions(CompactionClient):
    """Compactions of the embedded metastore.

    Args:
        store: The store that the client of reads closes.
        clock: Seconds since 1970.
    """

    def __init__(self, store: SqliteStore, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    def request_compaction(
        self, database: str, table: str, partition: str | None, kind: CompactionKind, pool: str | None = None
    ) -> RequestedCompaction:
        key = (database.lower(), table.lower(), partition)
        with self._changed("request_compaction") as connection:
            row = connection.execute(
                f"SELECT id, state FROM {COMPACTIONS} WHERE database = ? AND table_name = ? AND partition IS ? "
                "AND state IN (?, ?)",
                (*key, _INITIATED, _WORKING),
            ).fetchone()
            if row is not None:
                return RequestedCompaction(row[0], row[1], accepted=False)
            made = connection.execute(
                f"INSERT INTO {COMPACTIONS} (database, table_name, partition, kind, state, pool) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*key, kind.value, _INITIATED, pool),
            ).lastrowid
        return RequestedCompaction(made or 0, _INITIATED, accepted=True)

    def show_compactions(self, database: str, table: str) -> list[Compaction]:
        with self._store.read("show_compactions") as connection:
            if not has_compactions(connection):
                return []
            rows = connection.execute(
                "SELECT id, partition, kind, state, worker, started, ended, error, pool, txn, next_txn, committed, "
                f"highest FROM {COMPACTIONS} WHERE database = ? AND table_name = ? ORDER BY id DESC",
                (database.lower(), table.lower()),
            ).fetchall()
        return [replace(Compaction(*row), kind=CompactionKind(row[2]).name.lower()) for row in rows]

    def take_compaction(self, worker: str, pool: str | None) -> CompactionJob | None:
        with self._changed("take_compaction") as connection:
            row = connection.execute(
                f"SELECT id, database, table_name, partition, kind FROM {COMPACTIONS} WHERE state = ? AND pool IS ? "
                "ORDER BY id LIMIT 1",
                (_INITIATED, pool),
            ).fetchone()
            if row is None:
                return None
            connection.execute(
                f"UPDATE {COMPACTIONS} SET state = ?, worker = ?, started = ? WHERE id = ?",
                (_WORKING, worker, self._now(), row[0]),
            )
        return CompactionJob(row[0], row[1], row[2], row[3], CompactionKind(row[4]))

    def open_compaction(self, user: str, agent: str) -> int:
        with self._changed("open_compaction") as connection:
            highest = int(connection.execute("SELECT coalesce(max(id), 0) FROM transactions").fetchone()[0])
            made = max(highest + 1, _FIRST)
            connection.execute(
                "INSERT INTO transactions (id, state, user, agent, heartbeat) VALUES (?, 'open', ?, ?, ?)",
                (made, user, agent, self._clock()),
            )
        return made

    def begin_compaction(self, job: CompactionJob, transaction: int) -> None:
        self._mark(job, state=_WORKING, txn=transaction, highest=job.highest_write_id)

    def mark_compacted(self, job: CompactionJob) -> None:
        self._mark(job, state=_READY)

    def mark_failed(self, job: CompactionJob, why: str) -> None:
        self._mark(job, state=_FAILED, ended=self._now(), error=why)

    def mark_refused(self, job: CompactionJob, why: str) -> None:
        self._mark(job, state=_REFUSED, ended=self._now(), error=why)

    def mark_cleaned(self, job: CompactionJob) -> None:
        self._mark(job, state=_SUCCEEDED, ended=self._now())

    def known_compactions(self, transactions: ValidTransactions) -> ValidTransactions:
        """Those of other metastores are all committed."""
        still_open = tuple(one for one in transactions.open if one >= _FIRST)
        return ValidTransactions(
            max(transactions.high_watermark, _FIRST - 1),
            still_open,
            tuple(one for one in transactions.aborted if one >= _FIRST),
            min(still_open, default=NO_MINIMUM),
        )

    def note_commit(self, connection: sqlite3.Connection, transaction: int) -> None:
        """Notes when a transaction was committed, if a compaction was made in it; within that write."""
        if transaction < _FIRST or not has_compactions(connection):
            return
        connection.execute(
            f"UPDATE {COMPACTIONS} SET next_txn = (SELECT max(id) + 1 FROM transactions), committed = ? WHERE txn = ?",
            (self._now(), transaction),
        )

    def _mark(self, job: CompactionJob, **values: object) -> None:
        with self._changed("mark_compaction") as connection:
            names = ", ".join(f"{name} = ?" for name in values)
            done = connection.execute(
                f"UPDATE {COMPACTIONS} SET {names} WHERE id = ?", (*values.values(), job.compaction)
            )
            if done.rowcount != 1:
                raise MetastoreError(f"there is no compaction {job.compaction}", error_codes.REFUSED_REQUEST)

    @contextmanager
    def _changed(self, method: str) -> Iterator[sqlite3.Connection]:
        with self._store.write(method) as connection:
            connection.execute(_SCHEMA)
            yield connection

    def _now(self) -> int:
        return int(self._clock() * 1000)


def has_compactions(connection: sqlite3.Connection) -> bool:
    """Whether a file has the list: no older ones do."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (COMPACTIONS,))
    return found.fetchone() is not None
