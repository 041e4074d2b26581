"""Assembly of the memory connector, and the Python interface that makes its tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from connector_spi.connector import SPI_VERSION, Connector, ConnectorContext, ConnectorFactory, Plugin
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InternalError, InvalidArgumentError
from connector_spi.metadata import ConnectorMetadata
from connector_spi.names import SchemaTableName
from connector_spi.optional.page_sink import PageSinkProvider
from connector_spi.optional.procedures import Procedure, ProcedureArgument
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import Value
from connector_spi.properties import PropertyMetadata, PropertyValues
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.splits import SplitManager
from connectors.memory.chunks import Chunk, cut_into_chunks, merged_chunks
from connectors.memory.config import CONFIG_PROPERTIES, MAX_DATA_SIZE
from connectors.memory.insertion import with_hidden_columns
from connectors.memory.metadata import MemoryTransaction
from connectors.memory.page_sink import MemoryPageSinkProvider
from connectors.memory.page_source import MemoryPageSourceProvider
from connectors.memory.snapshots import Snapshot
from connectors.memory.splits import MemorySplitManager
from connectors.memory.store import MemoryStore, TransactionCounts

__all__ = ["MemoryConnector", "MemoryFactory", "MemoryPlugin"]


class MemoryConnector(Connector):
    """Tables of this process. They live until the catalog is dropped or the session ends.

    Every method may be called from any thread.
    """

    def __init__(self, config: PropertyValues) -> None:
        self._config = config
        self._store = MemoryStore(config.get(MAX_DATA_SIZE))
        self._split_manager = MemorySplitManager()
        self._page_source_provider = MemoryPageSourceProvider()
        self._page_sink_provider = MemoryPageSinkProvider()

    def create_schema(self, schema: str) -> None:
        """Adds a schema, unless it is there."""
        self._store.create_schema(schema)

    def create_table(
        self,
        name: SchemaTableName,
        data: pa.Table,
        partitioned_by: Sequence[str] = (),
        *,
        chunk_rows: int | None = None,
        comment: str | None = None,
    ) -> None:
        """Adds a table, and its schema where that is missing.

        Args:
            name: Lower case.
            data: Columns and first rows. ``comment`` in a field's metadata becomes the column's comment.
            partitioned_by: Partition keys; filters on them are exact.
            chunk_rows: Most rows of a chunk, the unit that filters on other columns choose by; ``None`` makes one
                chunk of each partition.
            comment: What the table is.

        Raises:
            InvalidArgumentError: The table is there already, a name is not lower case, two columns have one name, or
                a partition key is not an orderable column.
            ResourceError: The catalog would hold more than ``memory.max-data-size``.
        """
        table = TableMetadata(name, _columns(data.schema), tuple(partitioned_by), comment)
        self._store.create_table(table, cut_into_chunks(self._store.new_rows(data), partitioned_by, chunk_rows))

    def insert(self, name: SchemaTableName, data: pa.Table, *, chunk_rows: int | None = None) -> int:
        """Adds rows in a new snapshot.

        Args:
            name: The table.
            data: Rows with the table's columns, in any order.
            chunk_rows: Most rows of a chunk.

        Returns:
            The version of the new snapshot.

        Raises:
            TableNotFoundError: No such table.
            InvalidArgumentError: The columns are others than the table's.
            ResourceError: The catalog would hold more than ``memory.max-data-size``.
        """
        table = self._store.newest(name).table
        rows = self._store.new_rows(_same_columns(table, data))
        chunks = cut_into_chunks(rows, table.partitioned_by, chunk_rows)
        return self._store.add_snapshot(name, "insert", lambda newest: (*newest.chunks, *chunks)).version

    def merge(self, name: SchemaTableName, key: str, rows: pa.Table, deletes: Sequence[Value] = ()) -> int:
        """Updates, inserts and deletes rows in one new snapshot.

        Args:
            name: The table.
            key: A column that identifies its rows, and is never NULL.
            rows: Rows with the table's columns: each replaces the row of its key, or is added where there is none.
            deletes: Keys of rows to take away; those that are not there are passed over.

        Returns:
            The version of the new snapshot.

        Raises:
            TableNotFoundError: No such table.
            InvalidArgumentError: The columns are others than the table's, or a key is there twice.
            ResourceError: The catalog would hold more than ``memory.max-data-size``.
        """
        given = _same_columns(self._store.newest(name).table, rows)

        def chunks(newest: Snapshot) -> Sequence[Chunk]:
            return merged_chunks(newest.chunks, newest.table, key, self._store.new_rows(given), deletes)

        return self._store.add_snapshot(name, "merge", chunks).version

    def expire(self, name: SchemaTableName, keep: int) -> None:
        """Forgets all but the newest ``keep`` snapshots of a table; transactions that met others still read them.

        Raises:
            TableNotFoundError: No such table.
        """
        self._store.expire(name, keep)

    def drop_table(self, name: SchemaTableName) -> None:
        """Takes a table away; queries that run still read it.

        Raises:
            TableNotFoundError: No such table.
        """
        self._store.drop_table(name)

    @property
    def transactions(self) -> TransactionCounts:
        """How many transactions began, and how they ended; changes while they do."""
        return self._store.counts

    def begin_transaction(self, session: ConnectorSession) -> ConnectorTransaction:
        return MemoryTransaction(self._store)

    def get_metadata(self, transaction: ConnectorTransaction) -> ConnectorMetadata:
        if not isinstance(transaction, MemoryTransaction):
            raise InternalError(f"expected a MemoryTransaction, met a {type(transaction).__qualname__}")
        return transaction.metadata

    @property
    def split_manager(self) -> SplitManager:
        return self._split_manager

    @property
    def page_source_provider(self) -> PageSourceProvider:
        return self._page_source_provider

    @property
    def page_sink_provider(self) -> PageSinkProvider:
        return self._page_sink_provider

    @property
    def procedures(self) -> Sequence[Procedure]:
        return (
            Procedure(
                schema="system",
                name="rollback_to_version",
                description="Makes an older state of a table the newest one.",
                arguments=(
                    ProcedureArgument("schema_name", pa.string(), "Schema of the table."),
                    ProcedureArgument("table_name", pa.string(), "The table."),
                    ProcedureArgument("version", pa.int64(), "A version of the table's $snapshots."),
                ),
                result=pa.schema([("version", pa.int64())]),
                function=self._rollback_to_version,
            ),
        )

    @property
    def session_properties(self) -> Sequence[PropertyMetadata[object]]:
        return self._config.session_properties(CONFIG_PROPERTIES)

    def shutdown(self) -> None:
        self._store.clear()

    def _rollback_to_version(self, session: ConnectorSession, arguments: Mapping[str, Value | None]) -> pa.Table:
        name = SchemaTableName(str(arguments["schema_name"]).lower(), str(arguments["table_name"]).lower())
        wanted = [found for found in self._store.snapshots(name) if found.version == arguments["version"]]
        if not wanted:
            newest = self._store.newest(name)
            raise InvalidArgumentError(
                f"table {name} has no version {arguments['version']}; "
                f"it has {self._store.snapshots(name)[0].version} to {newest.version}"
            )
        made = self._store.add_snapshot(name, "rollback", lambda _: wanted[0].chunks)
        return pa.table({"version": pa.array([made.version], pa.int64())})


class MemoryFactory(ConnectorFactory):
    """``connector.name=memory``."""

    spi_version = SPI_VERSION

    @property
    def name(self) -> str:
        return "memory"

    @property
    def config_properties(self) -> Sequence[PropertyMetadata[object]]:
        return CONFIG_PROPERTIES

    def create(self, catalog: str, properties: PropertyValues, context: ConnectorContext) -> MemoryConnector:
        return MemoryConnector(properties)


class MemoryPlugin(Plugin):
    """Brings the memory connector."""

    spi_version = SPI_VERSION

    def connector_factories(self) -> Iterable[ConnectorFactory]:
        return (MemoryFactory(),)


def _same_columns(table: TableMetadata, data: pa.Table) -> pa.Table:
    columns = {column.name: column.type for column in table.visible_columns()}
    if dict(zip(data.schema.names, data.schema.types, strict=True)) != columns:
        raise InvalidArgumentError(f"table {table.name} has the columns {columns}; met {data.schema}")
    return data.select(list(columns))


def _columns(schema: pa.Schema) -> tuple[ColumnMetadata, ...]:
    return with_hidden_columns(
        [
            ColumnMetadata(
                field.name, field.type, field.nullable, (field.metadata or {}).get(b"comment", b"").decode() or None
            )
            for field in schema
        ]
    )
