"""One statement's view of the metastore. Driver side."""

from __future__ import annotations

from catalog.metastore.caching import CachingMetastore
from catalog.metastore.client import MetastoreClient
from catalog.metastore.model import Table
from connector_spi.connector_transaction import ConnectorTransaction, TransactionState
from connector_spi.errors import InternalError, TableNotFoundError
from connector_spi.metadata import ConnectorMetadata
from connector_spi.names import SchemaTableName

__all__ = ["HiveTransaction", "hive_transaction"]


class HiveTransaction(ConnectorTransaction):
    """Asks the metastore each thing once, so that a statement sees one state of it.

    Args:
        client: The metastore; shared, not closed.

    Attributes:
        metadata: What the connector answers with inside of the transaction, once it was asked for.
    """

    def __init__(self, client: MetastoreClient) -> None:
        super().__init__()
        self._client = CachingMetastore(client)
        self.metadata: ConnectorMetadata | None = None

    @property
    def client(self) -> MetastoreClient:
        """The metastore as this transaction sees it.

        Raises:
            InternalError: The transaction has ended.
        """
        if self.state is not TransactionState.OPEN:
            raise InternalError(f"the transaction is {self.state.value}; it cannot be asked any more")
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

    def on_commit(self) -> None:
        self._client.close()

    def on_rollback(self) -> None:
        self._client.close()


def hive_transaction(transaction: ConnectorTransaction) -> HiveTransaction:
    """The transaction as one of this connector.

    Raises:
        InternalError: It is another connector's.
    """
    if not isinstance(transaction, HiveTransaction):
        raise InternalError(f"expected a HiveTransaction, met a {type(transaction).__qualname__}")
    return transaction
