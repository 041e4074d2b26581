"""Snapshots of transactional tables: the metastore transaction behind one statement. Driver side."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, replace

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.client import TransactionClient
from catalog.metastore.transactions import LockComponent, ValidTransactions, ValidWriteIds
from connector_spi.errors import FileMissingError, MetastoreError, NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.hive import error_codes
from connectors.hive.acid.directories.unknown_ids import UnknownIds
from connectors.hive.acid.valid_ids import ALL_VALID, AcidSnapshot, ValidIds
from connectors.hive.transactions.heartbeats import Heartbeat, Heartbeats
from connectors.hive.transactions.locks import TableKey, TableLocks

__all__ = ["SnapshotPolicy", "StatementSnapshots"]


@dataclass(frozen=True, slots=True)
class SnapshotPolicy:
    """How a statement reads transactional tables.

    Attributes:
        lock: Read within a metastore transaction, under a shared lock; else with the lists of valid ids alone, of which
            the metastore's cleaner does not know.
        lock_max_wait: Seconds to wait for a lock.
        assume_committed: Where the metastore has no write ids, take all files as committed.
        user: The user who reads.
        agent: The query's id, shown by ``SHOW LOCKS`` and ``SHOW TRANSACTIONS``.
    """

    lock: bool
    lock_max_wait: float
    assume_committed: bool
    user: str
    agent: str


class _OpenTransaction:
    """An open metastore transaction and the tables that it has locked."""

    __slots__ = ("heartbeat", "locked", "transaction")

    def __init__(self, transaction: int, heartbeat: Heartbeat) -> None:
        self.transaction = transaction
        self.heartbeat = heartbeat
        self.locked: set[TableKey] = set()


class StatementSnapshots:
    """Snapshots of one statement's tables, all of the same moment.

    The order is Trino's (``HiveTransaction.getValidWriteIds``): open a transaction at the first table, lock, and only
    then get the valid transactions: the cleaner could remove files of a list from before the lock. The list is
    requested once; later tables get the write ids of the same list, so that no transaction is partly visible. The open
    transaction blocks Hive 4's cleaner for all tables, the lock blocks Hive 3's.

    The lock is on the whole table: it must be acquired before the snapshot, and the snapshot is fixed in the table
    handle, before a filter has selected partitions. It may wait longer than necessary, but never protects too little.

    Args:
        client: The metastore.
        heartbeats: Keeps the transaction alive.
        policy: How to read.

    Attributes:
        waits: Number of locks that had to be waited for; entries of their tables may be outdated.
    """

    def __init__(self, client: TransactionClient, heartbeats: Heartbeats, policy: SnapshotPolicy) -> None:
        self.waits = 0
        self._client = client
        self._heartbeats = heartbeats
        self._policy = policy
        self._guard = threading.RLock()
        self._asking = threading.Lock()
        # The highest write id known to be allocated for a table, read after the snapshot.
        self._newest: dict[TableKey, int] = {}
        self._ended = threading.Event()
        self._locks = TableLocks(client, policy.lock_max_wait, policy.user, policy.agent, self._ended)
        self._open: _OpenTransaction | None = None
        self._snapshots: dict[TableKey, AcidSnapshot] = {}
        self._valid: ValidTransactions | None = None
        self._compactions: ValidTransactions | None = None
        self._has_write_ids = True
        self._released = False

    def snapshot(self, name: SchemaTableName) -> AcidSnapshot:
        """What the statement sees of a transactional table; the same at every call.

        Raises:
            NotSupportedError: The metastore has no write ids, and the catalog does not take all as committed.
            MetastoreError: The lock was not acquired in time, the metastore has ended the transaction, or it failed.
        """
        key = _key(name)
        with self._guard:
            self.check()
            if key not in self._snapshots:
                self._protect(key)
                self._snapshots[key] = self._take(key)
            return self._snapshots[key]

    def write_ids(self, name: SchemaTableName) -> ValidIds:
        """The current write ids of a transactional table, outside any snapshot and without a lock.

        Raises:
            NotSupportedError: The metastore has no write ids.
        """
        [write_ids] = self._client.get_valid_write_ids([_key(name)], self._client.get_valid_transactions())
        return _valid_ids(write_ids)

    def protect(self, name: SchemaTableName, snapshot: AcidSnapshot) -> AcidSnapshot:
        """Makes sure that the lock is acquired before locations are listed; write ids of the snapshot never change.

        Returns:
            The snapshot. Where the lock was released meanwhile, or there is none, it has the current transactions: the
            inputs of a compaction committed since may be missing, and its output holds the same rows.
        """
        with self._guard:
            self.check()
            protected = self._policy.lock and not self._released
            self._protect(_key(name))
            if protected or not self._has_write_ids:
                return snapshot
            if self._open is None:
                self._compactions = self._client.get_valid_transactions()
            return replace(snapshot, transactions=self._known(self._compactions))

    def confirm(self, name: SchemaTableName, unknown: UnknownIds) -> None:
        """Call after listing a location.

        Without a lock, a compaction may have ended meanwhile. And Hive skips what is later than the snapshot, so the
        directory of another metastore's table, copied into this one, would give fewer rows or none (HIVE-21213): it is
        refused here.

        Raises:
            FileMissingError: A compaction has committed since the snapshot: its inputs may have been removed before the
                listing.
            NotSupportedError: The metastore has not allocated a transaction or write id in the location, so another
                metastore did (code ``HIVE_ACID_LAYOUT``).
        """
        if not self._has_write_ids:
            return
        key = _key(name)
        with self._asking:
            if unknown.newest > self._newest.get(key, 0):
                self._newest[key] = self.write_ids(name).high_watermark
                unknown.check_write_ids(name, self._newest[key])
        known = -1 if self._valid is None else self._valid.high_watermark
        if not unknown.running or (self._open is not None and max(unknown.running) <= known):
            return
        now = self._known(self._client.get_valid_transactions())
        unknown.check_transactions(now.high_watermark)
        if self._open is None and any(now.is_valid(one) for one in unknown.running):
            raise FileMissingError(
                f"{unknown.location} was compacted while it was read without a lock; read again",
                error_codes.HIVE_FILE_CLEANED,
            )

    def check(self) -> None:
        """Checks that the metastore still knows the transaction as open.

        Raises:
            MetastoreError: The metastore has ended it; files of the snapshot may be removed any time.
        """
        current = self._open
        if current is not None and current.heartbeat.lost is not None:
            raise MetastoreError(
                f"the metastore has ended transaction {current.transaction} of query {self._policy.agent}, which "
                f"protects its tables ({current.heartbeat.lost.message}); run the statement again",
                error_codes.HIVE_TRANSACTION_LOST,
            )

    @property
    def takes_locks(self) -> bool:
        """Whether the statement reads a table under a lock."""
        return self._policy.lock and (self._open is not None or bool(self._snapshots))

    def release(self, *, failed: bool) -> None:
        """Releases transaction and locks while nothing is read; the next read acquires them again.

        Args:
            failed: The transaction is aborted, not committed.
        """
        with self._guard:
            self._end(commit=not failed)

    def end(self, *, commit: bool) -> None:
        """Ends the transaction, if one is open, with exactly one commit or abort."""
        self._ended.set()
        with self._guard:
            self._end(commit=commit)

    def _end(self, *, commit: bool) -> None:
        current, self._open = self._open, None
        if current is None:
            return
        self._released = True
        self._heartbeats.remove(current.heartbeat)
        try:
            (self._client.commit if commit else self._client.abort)(current.transaction)
        except MetastoreError as error:
            if error.code != metastore_codes.TRANSACTION_ENDED:
                self._end_again(current)

    def _end_again(self, current: _OpenTransaction) -> None:
        """Ends the transaction over another connection, after a connection broke and its state is unknown.

        It wrote nothing, so an abort is as good as a commit. The metastore's timeout ends what this cannot.
        """
        with suppress(MetastoreError):
            # Hive 2 keeps its own database locked where a transaction that has ended is aborted.
            locks = (lock for key in current.locked for lock in self._client.show_locks(*key))
            if any(lock.transaction == current.transaction for lock in locks):
                self._client.abort(current.transaction)

    def _protect(self, key: TableKey) -> None:
        if not self._policy.lock:
            return
        if self._open is None:
            transaction = self._client.open_transaction(self._policy.user, self._policy.agent)
            self._open = _OpenTransaction(transaction, self._heartbeats.add(transaction, self._client))
        if key in self._open.locked:
            return
        # Before the response, which may be lost: ending the transaction has to look for the lock.
        self._open.locked.add(key)
        try:
            self.waits += self._locks.acquire(self._open.transaction, LockComponent(*key))
        except BaseException:
            # A waiting request would block others.
            self._end(commit=False)
            raise
        if self._released and len(self._open.locked) == 1 and self._has_write_ids:
            self._compactions = self._client.get_valid_transactions()

    def _take(self, key: TableKey) -> AcidSnapshot:
        if self._valid is None and self._has_write_ids:
            try:
                self._valid = self._client.get_valid_transactions()
            except NotSupportedError as error:
                self._assume_committed(key, error)
        if self._valid is None:
            return AcidSnapshot(ALL_VALID, ALL_VALID)
        [write_ids] = self._client.get_valid_write_ids([key], self._valid)
        return AcidSnapshot(_valid_ids(write_ids), self._known(self._valid))

    def _assume_committed(self, key: TableKey, error: NotSupportedError) -> None:
        if error.code != metastore_codes.NO_WRITE_IDS:
            raise error
        if not self._policy.assume_committed:
            raise NotSupportedError(
                f"cannot read the transactional table {'.'.join(key)}: its metastore is Hive 2 or older, which does "
                "not know which write ids are committed; expected Hive 3 or later, or the catalog property "
                "hive.assume-committed-write-ids=true, which takes all files as committed",
                metastore_codes.NO_WRITE_IDS,
            ) from error
        self._has_write_ids = False

    def _known(self, transactions: ValidTransactions | None) -> ValidIds:
        return ALL_VALID if transactions is None else _valid_ids(self._client.known_compactions(transactions))


def _key(name: SchemaTableName) -> TableKey:
    return name.schema.lower(), name.table.lower()


def _valid_ids(ids: ValidTransactions | ValidWriteIds) -> ValidIds:
    return ValidIds(ids.high_watermark, ids.open, ids.aborted, ids.minimum_open)
