"""A hudi catalog over an embedded metastore, read without any engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa

from connector_spi.connector import SPI_VERSION, Connector, ConnectorContext
from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.metadata import ConnectorMetadata, SupportsTimeTravel, TableVersion
from connector_spi.names import SchemaTableName
from connector_spi.optional.changes import ChangeRange, SupportsChanges
from connector_spi.optional.read_options import SupportsReadOptions
from connector_spi.predicate import ConnectorExpression, Constraint, TupleDomain
from connector_spi.properties import parse_properties
from connector_spi.serializable import from_json, to_json
from connector_spi.session import ConnectorSession
from connectors.hudi.connector import HudiConnector, HudiFactory

CONTEXT = ConnectorContext(SPI_VERSION, "test")


@dataclass
class HudiCatalog:
    """A live connector and one session of it."""

    connector: HudiConnector
    session: ConnectorSession

    def with_property(self, name: str, value: object) -> HudiCatalog:
        """The same catalog with a session property set."""
        properties = {**dict(self.session.properties), name: value}
        return HudiCatalog(self.connector, replace(self.session, properties=tuple(properties.items())))

    def in_zone(self, zone: str) -> HudiCatalog:
        """The same catalog in a session of another time zone."""
        return HudiCatalog(self.connector, replace(self.session, time_zone=zone))

    def register(self, location: Path | str, name: str = "t", schema: str = "s") -> None:
        """Calls ``register_table``."""
        [procedure] = [found for found in self.connector.procedures if found.name == "register_table"]
        arguments = {"schema_name": schema, "table_name": name, "table_location": str(location)}
        procedure.function(self.session, arguments)

    @contextmanager
    def metadata(self) -> Iterator[tuple[ConnectorTransaction, ConnectorMetadata]]:
        """A transaction and its metadata."""
        transaction = self.connector.begin_transaction(self.session)
        try:
            yield transaction, self.connector.get_metadata(transaction)
        finally:
            transaction.commit()

    def read(
        self,
        name: str = "t",
        schema: str = "s",
        columns: list[str] | None = None,
        constraint: TupleDomain[ColumnHandle] | None = None,
        version: TableVersion | None = None,
        options: Mapping[str, str] | None = None,
        expressions: tuple[ConnectorExpression, ...] = (),
    ) -> pa.Table:
        """All rows of the splits of a table: no filter is applied again."""
        with self.metadata() as (transaction, metadata):
            table: TableHandle | None
            if version is None:
                table = metadata.get_table_handle(self.session, SchemaTableName(schema, name))
            else:
                assert isinstance(metadata, SupportsTimeTravel)
                table = metadata.get_table_handle_at(self.session, SchemaTableName(schema, name), version)
            assert table is not None
            if options is not None:
                assert isinstance(metadata, SupportsReadOptions)
                table = metadata.apply_read_options(self.session, table, options)
            constraint = TupleDomain.all() if constraint is None else constraint
            if expressions or not constraint.is_all:
                asked = Constraint(constraint, tuple(map(str, expressions)), expressions)
                applied = metadata.apply_filter(self.session, table, asked)
                table = applied.table if applied is not None else table
            return self.scan(transaction, metadata, table, columns)

    def changes(self, change_range: ChangeRange, columns: list[str] | None = None, name: str = "t") -> pa.Table:
        """All rows of the splits of a table's changes."""
        with self.metadata() as (transaction, metadata):
            assert isinstance(metadata, SupportsChanges)
            table = metadata.get_table_handle(self.session, SchemaTableName("s", name))
            assert table is not None
            found = metadata.get_changes(self.session, table, change_range)
            return self.scan(transaction, metadata, found.table, columns)

    def scan(
        self,
        transaction: ConnectorTransaction,
        metadata: ConnectorMetadata,
        table: TableHandle,
        columns: list[str] | None = None,
    ) -> pa.Table:
        """All rows of the splits of a handle."""
        handles = metadata.get_column_handles(self.session, table)
        visible = metadata.get_table_metadata(self.session, table).visible_columns()
        names = columns if columns is not None else [column.name for column in visible]
        asked = tuple(handles[column] for column in names)
        splits = self.splits(transaction, table, asked)
        batches: list[pa.RecordBatch] = []
        for split in splits:
            # What a task gets has been pickled or written as JSON.
            sent: Split = from_json(to_json(split), type(split))
            provider = self.connector.page_source_provider
            with provider.create_page_source(self.session, sent, table, asked, TupleDomain.all()) as source:
                batches.extend(source)
        schema = pa.schema([pa.field(column.name, column.type) for column in asked])
        return pa.Table.from_batches(batches, schema)

    def splits(
        self, transaction: ConnectorTransaction, table: TableHandle, columns: tuple[ColumnHandle, ...]
    ) -> list[Split]:
        """The splits of a scan."""
        manager = self.connector.split_manager
        with manager.get_splits(transaction, self.session, table, columns, TupleDomain.all()) as source:
            return [split for batch in source for split in batch]


def make_catalog(folder: Path, **properties: str) -> HudiCatalog:
    """A catalog whose metastore is in ``folder``; property names with ``_`` for ``.`` and ``__`` for ``-``."""
    factory = HudiFactory()
    given = {name.replace("__", "-").replace("_", "."): text for name, text in properties.items()}
    given = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db"), **given}
    typed = parse_properties(factory.config_properties, given, lambda name: f"test, {name}")
    connector = factory.create("hudi", typed, CONTEXT)
    return HudiCatalog(connector, make_session(connector))


def make_session(connector: Connector) -> ConnectorSession:
    """A session with every session property at its default."""
    properties = tuple((prop.name, prop.default) for prop in connector.session_properties)
    return ConnectorSession("q1", "ann", "UTC", datetime(2024, 1, 1, tzinfo=UTC), properties)
