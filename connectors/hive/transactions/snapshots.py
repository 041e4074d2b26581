"""Snapshots of transactional tables: the metastore transaction behind one statement. Driver side."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, replace

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.client import TransactionClient
from catalog.metastore.transactions import ValidTransactions, ValidWriteIds
from connector_spi.errors import FileMissingError, MetastoreError, NotSupportedError
from connector_spi.names import SchemaTableName
from connectors.hive import error_codes
from connectors.hive.acid.directories.metastore_marks import ListedFolder
from connectors.hive.acid.valid_ids import ALL_VALID, AcidSnapshot, ValidIds
from connectors.hive.transactions.heartbeats import Heartbeat, Heartbeats
from connectors.hive.transactions.locks import TableKey, TableLocks

__all__ = ["SnapshotPolicy", "StatementSnapshots"]


@dataclass(frozen=True, slots=True)
class SnapshotPolicy:
    """How a statement reads transactional tables.

    Attributes:
        lock: Read inside of a metastore transaction, under a shared lock; else with the lists of valid ids alone, which
            the metastore's cleaner does not know of.
        lock_max_wait: Seconds to wait for a lock.
        assume_committed: Where the metastore has no write ids, take all that is on disk as committed.
        user: Who reads.
        agent: What reads: the query's id, shown by ``SHOW LOCKS`` and ``SHOW TRANSACTIONS``.
    """

    lock: bool
    lock_max_wait: float
    assume_committed: bool
    user: str
    agent: str


class _Held:
    """An open metastore transaction with the tables that it has locked."""

    __slots__ = ("heartbeat", "locked", "transaction")

    def __init__(self, transaction: int, heartbeat: Heartbeat) -> None:
        self.transaction = transaction
        self.heartbeat = heartbeat
        self.locked: set[TableKey] = set()


class StatementSnapshots:
    """Snapshots of one statement's tables, all of one moment.

    The order is Trino's (``HiveTransaction.getValidWriteIds``): open a transaction at the first table, lock, and only
    then ask for the valid transactions: a list from before the lock could name files that the cleaner takes meanwhile.
    The list is asked for once; a table that is met later gets the write ids that belong to the same list, so that no
    transaction is half seen. The open transaction keeps Hive 4's cleaner off all tables, the lock Hive 3's.

    The lock is on the whole table, since it has to be held before the snapshot and the snapshot is fixed in the table
    handle, when no filter has chosen partitions yet. It may wait for more than it needs; it never protects less.

    Args:
        client: The metastore.
        heartbeats: Keeps the transaction alive.
        policy: How to read.

    Attributes:
        waits: How many locks were not free at once: what was known of their tables may be old.
    """

    def __init__(self, client: TransactionClient, heartbeats: Heartbeats, policy: SnapshotPolicy) -> None:
        self.waits = 0
        self._client = client
        self._heartbeats = heartbeats
        self._policy = policy
        self._guard = threading.RLock()
        self._asking = threading.Lock()
        # The highest write id that the metastore was seen to have given out for a table, after the snapshot.
        self._newest: dict[TableKey, int] = {}
        self._ended = threading.Event()
        self._locks = TableLocks(client, policy.lock_max_wait, policy.user, policy.agent, self._ended)
        self._held: _Held | None = None
        self._snapshots: dict[TableKey, AcidSnapshot] = {}
        self._valid: ValidTransactions | None = None
        self._compactions = ALL_VALID
        self._has_write_ids = True
        self._released = False

    def snapshot(self, name: SchemaTableName) -> AcidSnapshot:
        """What the statement sees of a transactional table; asked again, the same.

        Raises:
            NotSupportedError: The metastore has no write ids, and no property says to take all as committed.
            MetastoreError: No lock within the time, the metastore has given the transaction up, or another failure.
        """
        key = _key(name)
        with self._guard:
            self.check()
            if key not in self._snapshots:
                self._protect(key)
                self._snapshots[key] = self._take(key)
            return self._snapshots[key]

    def write_ids(self, name: SchemaTableName) -> ValidIds:
        """The write ids of a transactional table as they are now, of no snapshot and under no lock.

        Raises:
            NotSupportedError: The metastore has no write ids.
        """
        [write_ids] = self._client.get_valid_write_ids([_key(name)], self._client.get_valid_transactions())
        return _valid_ids(write_ids)

    def protect(self, name: SchemaTableName, snapshot: AcidSnapshot) -> AcidSnapshot:
        """Sees to it that the lock is held, before folders are listed; the write ids of the snapshot never change.

        Returns:
            The snapshot. Where the lock was released meanwhile, or there is none, it comes with new transactions: the
            inputs of a compaction that has committed since may be gone, and its output holds the same rows.
        """
        with self._guard:
            self.check()
            protected = self._policy.lock and not self._released
            self._protect(_key(name))
            if protected or not self._has_write_ids:
                return snapshot
            if self._held is None:
                self._compactions = self._transactions_now()
            return replace(snapshot, transactions=self._compactions)

    def confirm(self, name: SchemaTableName, listed: ListedFolder) -> None:
        """To be called after a folder was listed.

        Without a lock, a compaction may have ended meanwhile. And Hive passes over what it knows as later than the
        snapshot, so that the folder of another metastore's table, copied below one of this, comes with fewer rows or
        none (HIVE-21213): here it is refused.

        Raises:
            FileMissingError: A compaction has committed since the snapshot: its inputs may have been gone before the
                listing.
            NotSupportedError: The metastore has not come to a transaction or write id in the folder yet, so that it
                was another's (code ``HIVE_ACID_LAYOUT``).
        """
        if not self._has_write_ids:
            return
        key = _key(name)
        with self._asking:
            if listed.newest > self._newest.get(key, 0):
                self._newest[key] = self.write_ids(name).high_watermark
                listed.check_write_ids(name, self._newest[key])
        known = -1 if self._valid is None else self._valid.high_watermark
        if not listed.running or (self._held is not None and max(listed.running) <= known):
            return
        now = self._transactions_now()
        listed.check_transactions(now.high_watermark)
        if self._held is None and any(now.is_valid(one) for one in listed.running):
            raise FileMissingError(
                f"{listed.location} was compacted while it was read without a lock; read again",
                error_codes.HIVE_FILE_CLEANED,
            )

    def check(self) -> None:
        """Says so if the metastore has given the transaction up.

        Raises:
            MetastoreError: It has; files of the snapshot may be gone any time.
        """
        held = self._held
        if held is not None and held.heartbeat.lost is not None:
            raise MetastoreError(
                f"the metastore has given up transaction {held.transaction} of query {self._policy.agent}, under which "
                f"its tables are read ({held.heartbeat.lost.message}); run the statement again",
                error_codes.HIVE_TRANSACTION_LOST,
            )

    @property
    def takes_locks(self) -> bool:
        """Whether a table was met that is read under a lock."""
        return self._policy.lock and (self._held is not None or bool(self._snapshots))

    def release(self, *, failed: bool) -> None:
        """Releases transaction and locks while nothing reads; they are taken again when something does.

        Args:
            failed: The transaction is aborted, not committed.
        """
        with self._guard:
            self._end(commit=not failed)

    def end(self, *, commit: bool) -> None:
        """Ends the transaction, if one is open, by exactly one of commit and abort."""
        self._ended.set()
        with self._guard:
            self._end(commit=commit)

    def _end(self, *, commit: bool) -> None:
        held, self._held = self._held, None
        if held is None:
            return
        self._released = True
        self._heartbeats.remove(held.heartbeat)
        try:
            (self._client.commit if commit else self._client.abort)(held.transaction)
        except MetastoreError as error:
            if error.code != metastore_codes.TRANSACTION_ENDED:
                self._end_again(held)

    def _end_again(self, held: _Held) -> None:
        """After a connection broke, when it is not known whether the transaction has ended: over another connection.

        It wrote nothing, so that to abort it is as good. What cannot be ended is ended by the metastore's timeout.
        """
        with suppress(MetastoreError):
            # Hive 2 keeps its own database locked where a transaction that has ended is aborted.
            locks = (lock for key in held.locked for lock in self._client.show_locks(*key))
            if any(lock.transaction == held.transaction for lock in locks):
                self._client.abort(held.transaction)

    def _protect(self, key: TableKey) -> None:
        if not self._policy.lock:
            return
        if self._held is None:
            transaction = self._client.open_transaction(self._policy.user, self._policy.agent)
            self._held = _Held(transaction, self._heartbeats.add(transaction, self._client))
        if key in self._held.locked:
            return
        # Before the answer, which may be lost: whoever ends the transaction has to look for the lock.
        self._held.locked.add(key)
        try:
            self.waits += self._locks.acquire(self._held.transaction, key)
        except BaseException:
            # A request that waits would keep others out.
            self._end(commit=False)
            raise
        if self._released and len(self._held.locked) == 1 and self._has_write_ids:
            self._compactions = self._transactions_now()

    def _take(self, key: TableKey) -> AcidSnapshot:
        if self._valid is None and self._has_write_ids:
            try:
                self._valid = self._client.get_valid_transactions()
            except NotSupportedError as error:
                self._assume_committed(key, error)
        if self._valid is None:
            return AcidSnapshot(ALL_VALID, ALL_VALID)
        [write_ids] = self._client.get_valid_write_ids([key], self._valid)
        known = _valid_ids(self._valid) if self._client.numbers_compactions else ALL_VALID
        return AcidSnapshot(_valid_ids(write_ids), known)

    def _assume_committed(self, key: TableKey, error: NotSupportedError) -> None:
        if error.code != metastore_codes.NO_WRITE_IDS:
            raise error
        if not self._policy.assume_committed:
            raise NotSupportedError(
                f"cannot read the transactional table {'.'.join(key)}: its metastore is of Hive 2 or older, which does "
                "not know which write ids are committed; expected Hive 3 or later, or the catalog property "
                "hive.assume-committed-write-ids=true, which takes all that is on disk as committed",
                metastore_codes.NO_WRITE_IDS,
            ) from error
        self._has_write_ids = False

    def _transactions_now(self) -> ValidIds:
        if not self._client.numbers_compactions:
            return ALL_VALID
        return _valid_ids(self._client.get_valid_transactions())


def _key(name: SchemaTableName) -> TableKey:
    return name.schema.lower(), name.table.lower()


def _valid_ids(ids: ValidTransactions | ValidWriteIds) -> ValidIds:
    return ValidIds(ids.high_watermark, ids.open, ids.aborted, ids.minimum_open)
