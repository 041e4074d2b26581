"""Transactions, write ids and locks of the embedded metastore."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence

from catalog.metastore import error_codes
from catalog.metastore.client import TransactionClient
from catalog.metastore.embedded.compactions import EmbeddedCompactions
from catalog.metastore.embedded.sqlite_store import SqliteStore
from catalog.metastore.transactions import (
    NO_MINIMUM,
    HeldLock,
    LockComponent,
    LockedObject,
    LockOperation,
    LockState,
    LockType,
    ValidTransactions,
    ValidWriteIds,
)
from connector_spi.errors import MetastoreError

__all__ = ["EmbeddedTransactions"]

_TIMEOUT_SECONDS = 300.0
_HIGHEST = 2**63 - 1
_READ, _WRITE, _EXCLUSIVE = LockType.SHARED_READ, LockType.SHARED_WRITE, LockType.EXCLUSIVE
# As in Hive 3: readers go with readers and with one writer, nothing goes with an exclusive lock.
_COMPATIBLE = {
    (_READ, _READ),
    (_READ, _WRITE),
    (_WRITE, _READ),
    (_READ, LockType.EXCL_WRITE),
    (LockType.EXCL_WRITE, _READ),
}


class EmbeddedTransactions(EmbeddedCompactions, TransactionClient):
    """Transactions of the embedded metastore.

    A table of which no write id was ever recorded has all its write ids valid. ``record_write_ids`` registers those
    of a table whose files were written under another metastore; without it, the first write id given out is 1.

    Args:
        store: The store that the client of reads closes.
        clock: Seconds; a transaction without a heartbeat for 300 of them is aborted.
    """

    def __init__(self, store: SqliteStore, clock: Callable[[], float] = time.time) -> None:
        super().__init__(store, clock)

    def open_transaction(self, user: str, agent: str) -> int:
        with self._store.write("open_transaction") as connection:
            self._abort_silent(connection)
            return _open(connection, user, agent, self._clock())

    def commit(self, transaction: int) -> None:
        self._end(transaction, "committed")

    def abort(self, transaction: int) -> None:
        self._end(transaction, "aborted")

    def get_valid_transactions(self, current: int = 0) -> ValidTransactions:
        with self._store.write("get_valid_transactions") as connection:
            self._abort_silent(connection)
            highest = int(connection.execute("SELECT coalesce(max(id), 0) FROM transactions").fetchone()[0])
            ids: dict[str, tuple[int, ...]] = {}
            for state in ("open", "aborted"):
                rows = connection.execute("SELECT id FROM transactions WHERE state = ? ORDER BY id", (state,))
                ids[state] = tuple(row[0] for row in rows if not current or row[0] < current)
        bound = min(current, highest) if current else highest
        return ValidTransactions(bound, ids["open"], ids["aborted"], min(ids["open"], default=NO_MINIMUM))

    def get_valid_write_ids(
        self, tables: Sequence[tuple[str, str]], transactions: ValidTransactions
    ) -> list[ValidWriteIds]:
        with self._store.read("get_valid_write_ids") as connection:
            return [_valid_write_ids(connection, d.lower(), t.lower(), transactions) for d, t in tables]

    def allocate_write_ids(self, transactions: Sequence[int], database: str, table: str) -> Mapping[int, int]:
        key = (database.lower(), table.lower())
        allocated: dict[int, int] = {}
        with self._store.write("allocate_write_ids") as connection:
            for transaction in sorted(set(transactions)):
                _need_open(connection, transaction)
                row = connection.execute(
                    "SELECT write_id FROM write_ids WHERE database = ? AND table_name = ? AND txn = ?",
                    (*key, transaction),
                ).fetchone()
                allocated[transaction] = row[0] if row else _next_write_id(connection, key, transaction)
        return allocated

    def add_dynamic_partitions(
        self,
        transaction: int,
        write_id: int,
        table: tuple[str, str],
        partitions: Sequence[str],
        operation: LockOperation = LockOperation.INSERT,
    ) -> None:
        """Checks the transaction alone: nothing here begins compactions by itself, which would want to know."""
        with self._store.read("add_dynamic_partitions") as connection:
            _need_open(connection, transaction)

    def record_write_ids(self, write_ids: ValidWriteIds) -> None:
        """Registers the write ids of a table whose files were written under another metastore.

        Open write ids become those of a new transaction, which its missing heartbeat will abort in time; neither
        open nor aborted ones are ever visible.

        Args:
            write_ids: What the other metastore said of the table.

        Raises:
            MetastoreError: Write ids of the table are recorded already.
        """
        database, _, table = write_ids.table.lower().partition(".")
        with self._store.write("record_write_ids") as connection:
            if connection.execute(
                "SELECT 1 FROM next_write_ids WHERE database = ? AND table_name = ?", (database, table)
            ).fetchone():
                raise MetastoreError(f"write ids of {write_ids.table} are recorded already; drop the table first")
            connection.execute(
                "INSERT INTO next_write_ids VALUES (?, ?, ?)", (database, table, write_ids.high_watermark + 1)
            )
            known = _open(connection, "", "write ids of another metastore", self._clock())
            connection.execute("UPDATE transactions SET state = 'committed' WHERE id = ?", (known,))
            rows = [(database, table, write_ids.high_watermark, known)]
            for ids, state in ((write_ids.open, "open"), (write_ids.aborted, "aborted")):
                for one in ids:
                    transaction = _open(connection, "", "write ids of another metastore", self._clock())
                    connection.execute("UPDATE transactions SET state = ? WHERE id = ?", (state, transaction))
                    rows.append((database, table, one, transaction))
            connection.executemany("INSERT OR REPLACE INTO write_ids VALUES (?, ?, ?, ?)", rows)

    def lock(self, transaction: int, components: Sequence[LockComponent], user: str, agent: str) -> LockedObject:
        with self._store.write("lock") as connection:
            self._abort_silent(connection)
            _need_open(connection, transaction)
            lock = connection.execute("INSERT INTO locks (txn, acquired) VALUES (?, 0)", (transaction,)).lastrowid or 0
            rows = [
                (lock, one.database.lower(), one.table and one.table.lower(), one.partition, one.type.name)
                for one in components
            ]
            connection.executemany("INSERT INTO lock_components VALUES (?, ?, ?, ?, ?)", rows)
            return _try_to_acquire(connection, lock)

    def check_lock(self, lock: int, transaction: int) -> LockedObject:
        with self._store.write("check_lock") as connection:
            self._beat(connection, transaction)
            row = connection.execute("SELECT txn FROM locks WHERE id = ?", (lock,)).fetchone()
            if row is None or row[0] != transaction:
                raise MetastoreError(f"transaction {transaction} has no lock {lock}", error_codes.REFUSED_REQUEST)
            return _try_to_acquire(connection, lock)

    def unlock(self, lock: int) -> None:
        with self._store.read("unlock") as connection:
            row = connection.execute("SELECT txn FROM locks WHERE id = ?", (lock,)).fetchone()
        raise MetastoreError(
            f"there is no lock {lock}"
            if row is None
            else f"lock {lock} belongs to transaction {row[0]} and ends with it",
            error_codes.REFUSED_REQUEST,
        )

    def heartbeat(self, transaction: int) -> None:
        with self._store.write("heartbeat") as connection:
            self._beat(connection, transaction)

    def show_locks(self, database: str, table: str) -> list[HeldLock]:
        with self._store.write("show_locks") as connection:
            self._abort_silent(connection)
            rows = connection.execute(
                "SELECT l.id, l.txn, c.database, c.table_name, c.partition, c.type, l.acquired, t.user, t.agent "
                "FROM locks l JOIN lock_components c ON c.lock = l.id JOIN transactions t ON t.id = l.txn "
                "WHERE c.database = ? AND (c.table_name IS NULL OR c.table_name = ?) ORDER BY l.id",
                (database.lower(), table.lower()),
            ).fetchall()
        return [
            HeldLock(
                lock=lock,
                transaction=transaction,
                database=of,
                table=name,
                partition=partition,
                type=LockType[kind],
                state=LockState.ACQUIRED if acquired else LockState.WAITING,
                user=user,
                host="",
                agent=agent,
            )
            for lock, transaction, of, name, partition, kind, acquired, user, agent in rows
        ]

    def timeout_seconds(self) -> float:
        return _TIMEOUT_SECONDS

    def _beat(self, connection: sqlite3.Connection, transaction: int) -> None:
        self._abort_silent(connection)
        _need_open(connection, transaction)
        connection.execute("UPDATE transactions SET heartbeat = ? WHERE id = ?", (self._clock(), transaction))

    def _end(self, transaction: int, state: str) -> None:
        with self._store.write("commit" if state == "committed" else "abort") as connection:
            self._abort_silent(connection)
            _need_open(connection, transaction)
            connection.execute("UPDATE transactions SET state = ? WHERE id = ?", (state, transaction))
            connection.execute("DELETE FROM locks WHERE txn = ?", (transaction,))
            if state == "committed":
                self.note_commit(connection, transaction)

    def _abort_silent(self, connection: sqlite3.Connection) -> None:
        """Aborts transactions that have sent no heartbeat for too long."""
        connection.execute(
            "UPDATE transactions SET state = 'aborted' WHERE state = 'open' AND heartbeat < ?",
            (self._clock() - _TIMEOUT_SECONDS,),
        )
        connection.execute("DELETE FROM locks WHERE txn IN (SELECT id FROM transactions WHERE state = 'aborted')")


def _open(connection: sqlite3.Connection, user: str, agent: str, now: float) -> int:
    return (
        connection.execute(
            "INSERT INTO transactions (state, user, agent, heartbeat) VALUES ('open', ?, ?, ?)", (user, agent, now)
        ).lastrowid
        or 0
    )


def _need_open(connection: sqlite3.Connection, transaction: int) -> None:
    row = connection.execute("SELECT state FROM transactions WHERE id = ?", (transaction,)).fetchone()
    if row is None or row[0] != "open":
        met = "is not known" if row is None else f"is {row[0]}"
        raise MetastoreError(f"transaction {transaction} {met}; expected an open one", error_codes.TRANSACTION_ENDED)


def _next_write_id(connection: sqlite3.Connection, key: tuple[str, str], transaction: int) -> int:
    connection.execute("INSERT INTO next_write_ids VALUES (?, ?, 1) ON CONFLICT DO NOTHING", key)
    row = connection.execute("SELECT next FROM next_write_ids WHERE database = ? AND table_name = ?", key).fetchone()
    write_id = int(row[0])
    connection.execute("UPDATE next_write_ids SET next = next + 1 WHERE database = ? AND table_name = ?", key)
    connection.execute("INSERT INTO write_ids VALUES (?, ?, ?, ?)", (*key, write_id, transaction))
    return write_id


def _valid_write_ids(
    connection: sqlite3.Connection, database: str, table: str, transactions: ValidTransactions
) -> ValidWriteIds:
    """The rule of ``TxnHandler.getValidWriteIdsForTable``."""
    name, key = f"{database}.{table}", (database, table)
    following = connection.execute(
        "SELECT next FROM next_write_ids WHERE database = ? AND table_name = ?", key
    ).fetchone()
    if following is None:
        return ValidWriteIds(name, _HIGHEST)
    rows = connection.execute(
        "SELECT write_id, txn, state FROM write_ids JOIN transactions ON txn = id "
        "WHERE database = ? AND table_name = ? ORDER BY write_id",
        key,
    ).fetchall()
    seen = [write_id for write_id, transaction, _ in rows if transaction <= transactions.high_watermark]
    highest = max(seen, default=following[0] - 1)
    still_open, aborted = set(transactions.open), set(transactions.aborted)
    invalid = [
        (write_id, transaction in aborted or (transaction not in still_open and state == "aborted"))
        for write_id, transaction, state in rows
        if write_id <= highest and (transaction > transactions.high_watermark or transaction in still_open | aborted)
    ]
    open_ids = tuple(write_id for write_id, is_aborted in invalid if not is_aborted)
    aborted_ids = tuple(write_id for write_id, is_aborted in invalid if is_aborted)
    return ValidWriteIds(name, highest, open_ids, aborted_ids, min(open_ids, default=NO_MINIMUM))


def _try_to_acquire(connection: sqlite3.Connection, lock: int) -> LockedObject:
    """Takes the lock unless a lock asked for before it, of another transaction, excludes it."""
    rows = connection.execute(
        "SELECT mine.type, other.type FROM lock_components mine JOIN lock_components other ON other.lock < mine.lock "
        "JOIN locks o ON o.id = other.lock JOIN locks m ON m.id = mine.lock "
        "WHERE mine.lock = ? AND m.acquired = 0 AND o.txn <> m.txn AND other.database = mine.database "
        "AND (mine.table_name IS NULL OR other.table_name IS NULL OR (mine.table_name = other.table_name "
        "AND (mine.partition IS NULL OR other.partition IS NULL OR mine.partition = other.partition)))",
        (lock,),
    )
    if any((LockType[mine], LockType[other]) not in _COMPATIBLE for mine, other in rows):
        return LockedObject(lock, LockState.WAITING)
    connection.execute("UPDATE locks SET acquired = 1 WHERE id = ?", (lock,))
    return LockedObject(lock, LockState.ACQUIRED)
