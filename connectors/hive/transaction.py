"""One statement's view of the metastore. Driver side."""

from __future__ import annotations

from typing import Protocol

from catalog.metastore.cache.metastore import CachingMetastore
from catalog.metastore.calls.statistics import CallStatistics
from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import Table
from connector_spi.connector_transaction import ConnectorTransaction, TransactionState
from connector_spi.errors import InternalError, TableNotFoundError
from connector_spi.metadata import ConnectorMetadata
from connector_spi.names import SchemaTableName
from connectors.hive.acid.directories.unknown_ids import UnknownIds
from connectors.hive.acid.valid_ids import AcidSnapshot, ValidIds
from connectors.hive.transactions.snapshots import StatementSnapshots
from connectors.hive.transactions.writes import WriteTransaction

__all__ = ["HiveTransaction", "PendingInserts", "hive_transaction"]


class PendingInserts(Protocol):
    """Rows that wait for the end of the transaction."""

    def publish(self) -> None:
        """Makes them visible."""

    def discard(self) -> None:
        """Takes them back."""


class HiveTransaction(ConnectorTransaction):
    """Caches what it reads from the metastore, so that a statement sees one state of it.

    Args:
        client: The metastore; shared, not closed.
        snapshots: Snapshots of transactional tables; ended with the transaction.
        writes: What writes to transactional tables.
        calls: Counts the transaction's calls to the metastore; a new counter if not given.

    Attributes:
        calls: Counts the calls to the metastore so far, without those for snapshots and locks.
        metadata: The connector's metadata within the transaction, once it was created.
        writes: The metastore's transaction of writes to transactional tables; ended by ``inserts``.
        inserts: What the transaction publishes when it commits, once something was inserted.
    """

    def __init__(
        self,
        client: MetastoreClient,
        snapshots: StatementSnapshots,
        writes: WriteTransaction,
        calls: CallStatistics | None = None,
    ) -> None:
        super().__init__()
        self._snapshots = snapshots
        self.calls = calls or CallStatistics()
        self._client = CachingMetastore(client, self.calls)
        self.metadata: ConnectorMetadata | None = None
        self.writes = writes
        self.inserts: PendingInserts | None = None

    @property
    def client(self) -> MetastoreClient:
        """The metastore as this transaction sees it.

        Raises:
            InternalError: The transaction has ended.
            MetastoreError: The metastore has ended the transaction that protects transactional tables.
        """
        self._need_open()
        self._snapshots.check()
        return self._client

    def table(self, name: SchemaTableName) -> Table:
        """The metastore's entry of a table.

        Raises:
            TableNotFoundError: The table does not exist.
        """
        found = self.client.get_table(name.schema, name.table)
        if found is None:
            raise TableNotFoundError(f"table {name} is not in the metastore")
        return found

    def snapshot(self, name: SchemaTableName) -> AcidSnapshot:
        """What this statement sees of a transactional table: locked first, and consistent with its other tables.

        Call ``table`` after it: where the lock had to be waited for, the metastore's entries are read again.

        Args:
            name: A transactional table.

        Raises:
            NotSupportedError: The metastore has no write ids, and the catalog does not take all as committed.
            MetastoreError: The lock was not acquired in time, or the metastore failed.
        """
        self._need_open()
        waits = self._snapshots.waits
        snapshot = self._snapshots.snapshot(name)
        if self._snapshots.waits > waits:
            # The holder of the lock may have changed the table.
            self._client.close()
        return snapshot

    def write_ids(self, name: SchemaTableName) -> ValidIds:
        """The current write ids of a transactional table, outside any snapshot and without a lock.

        Raises:
            NotSupportedError: The metastore has no write ids.
        """
        self._need_open()
        return self._snapshots.write_ids(name)

    def protect(self, name: SchemaTableName, snapshot: AcidSnapshot) -> AcidSnapshot:
        """Call before listing locations of a transactional table: acquires the lock again if it was released.

        Returns:
            The snapshot to select files by; its write ids are those of ``snapshot``.
        """
        self._need_open()
        return self._snapshots.protect(name, snapshot)

    def confirm(self, name: SchemaTableName, unknown: UnknownIds) -> None:
        """Call after listing a location of a transactional table.

        Raises:
            FileMissingError: A compaction has committed since the snapshot, and there is no lock: rows may be missing
                (code ``HIVE_FILE_CLEANED``).
            NotSupportedError: The location was written under another metastore.
        """
        self._snapshots.confirm(name, unknown)

    @property
    def takes_locks(self) -> bool:
        return self._snapshots.takes_locks

    def on_release(self, failed: bool) -> None:
        self._snapshots.release(failed=failed)

    def on_commit(self) -> None:
        self._client.close()
        try:
            if self.inserts is not None:
                self.inserts.publish()
        finally:
            self._snapshots.end(commit=True)

    def on_rollback(self) -> None:
        self._client.close()
        try:
            if self.inserts is not None:
                self.inserts.discard()
        finally:
            self._snapshots.end(commit=False)

    def _need_open(self) -> None:
        if self.state is not TransactionState.OPEN:
            raise InternalError(f"the transaction is {self.state.value}; it can no longer be used")


def hive_transaction(transaction: ConnectorTransaction) -> HiveTransaction:
    """The transaction as this connector's type.

    Raises:
        InternalError: The transaction belongs to another connector.
    """
    if not isinstance(transaction, HiveTransaction):
        raise InternalError(f"expected a HiveTransaction, met a {type(transaction).__qualname__}")
    return transaction
