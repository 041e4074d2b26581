"""One statement's view of the metastore. Driver side."""

from __future__ import annotations

from catalog.metastore.cache.metastore import CachingMetastore
from catalog.metastore.calls.statistics import CallStatistics
from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import Table
from connector_spi.connector_transaction import ConnectorTransaction, TransactionState
from connector_spi.errors import InternalError, TableNotFoundError
from connector_spi.metadata import ConnectorMetadata
from connector_spi.names import SchemaTableName
from connectors.hive.acid.directories.metastore_marks import ListedFolder
from connectors.hive.acid.valid_ids import AcidSnapshot, ValidIds
from connectors.hive.transactions.snapshots import StatementSnapshots

__all__ = ["HiveTransaction", "hive_transaction"]


class HiveTransaction(ConnectorTransaction):
    """Asks the metastore each thing once, so that a statement sees one state of it.

    Args:
        client: The metastore; shared, not closed.
        snapshots: Of transactional tables; ended with the transaction.
        calls: Counts what the transaction reads of the metastore; its own if not given.

    Attributes:
        calls: What the transaction has read of the metastore so far, but for snapshots and locks.
        metadata: What the connector answers with inside of the transaction, once it was asked for.
    """

    def __init__(
        self, client: MetastoreClient, snapshots: StatementSnapshots, calls: CallStatistics | None = None
    ) -> None:
        super().__init__()
        self._snapshots = snapshots
        self.calls = calls or CallStatistics()
        self._client = CachingMetastore(client, self.calls)
        self.metadata: ConnectorMetadata | None = None

    @property
    def client(self) -> MetastoreClient:
        """The metastore as this transaction sees it.

        Raises:
            InternalError: The transaction has ended.
            MetastoreError: The metastore has given up the transaction under which transactional tables are read.
        """
        self._need_open()
        self._snapshots.check()
        return self._client

    def table(self, name: SchemaTableName) -> Table:
        """The metastore's entry of a table.

        Raises:
            TableNotFoundError: There is none.
        """
        found = self.client.get_table(name.schema, name.table)
        if found is None:
            raise TableNotFoundError(f"table {name} is not in the metastore")
        return found

    def snapshot(self, name: SchemaTableName) -> AcidSnapshot:
        """What this statement sees of a transactional table: locked first, of one moment with its other tables.

        Ask ``table`` after it: where the lock had to be waited for, the metastore's entries are asked for again.

        Args:
            name: A table that is transactional; of others there is no snapshot.

        Raises:
            NotSupportedError: The metastore has no write ids, and no property says to take all as committed.
            MetastoreError: No lock within the time, or the metastore failed.
        """
        self._need_open()
        waits = self._snapshots.waits
        snapshot = self._snapshots.snapshot(name)
        if self._snapshots.waits > waits:
            # Whoever held the lock may have changed the table.
            self._client.close()
        return snapshot

    def write_ids(self, name: SchemaTableName) -> ValidIds:
        """The write ids of a transactional table as they are now, of no snapshot and under no lock.

        Raises:
            NotSupportedError: The metastore has no write ids.
        """
        self._need_open()
        return self._snapshots.write_ids(name)

    def protect(self, name: SchemaTableName, snapshot: AcidSnapshot) -> AcidSnapshot:
        """To be called before the folders of a transactional table are listed: takes the lock again if it was released.

        Returns:
            The snapshot to choose files by; its write ids are those of ``snapshot``.
        """
        self._need_open()
        return self._snapshots.protect(name, snapshot)

    def confirm(self, name: SchemaTableName, listed: ListedFolder) -> None:
        """To be called after a folder of a transactional table was listed.

        Raises:
            FileMissingError: A compaction has committed since the snapshot, and there is no lock: rows may be missing
                (code ``HIVE_FILE_CLEANED``).
            NotSupportedError: The folder was written under another metastore.
        """
        self._snapshots.confirm(name, listed)

    @property
    def takes_locks(self) -> bool:
        return self._snapshots.takes_locks

    def on_release(self, failed: bool) -> None:
        self._snapshots.release(failed=failed)

    def on_commit(self) -> None:
        self._client.close()
        self._snapshots.end(commit=True)

    def on_rollback(self) -> None:
        self._client.close()
        self._snapshots.end(commit=False)

    def _need_open(self) -> None:
        if self.state is not TransactionState.OPEN:
            raise InternalError(f"the transaction is {self.state.value}; it cannot be asked any more")


def hive_transaction(transaction: ConnectorTransaction) -> HiveTransaction:
    """The transaction as one of this connector.

    Raises:
        InternalError: It is another connector's.
    """
    if not isinstance(transaction, HiveTransaction):
        raise InternalError(f"expected a HiveTransaction, met a {type(transaction).__qualname__}")
    return transaction
