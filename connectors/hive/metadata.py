"""Names, columns and pushdown of the hive connector. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from catalog.metastore.cache.policy import cache_texts
from catalog.metastore.definitions import MetastoreDefinitions, location_uri
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Table
from catalog.metastore.partitions.names import make_partition_name
from catalog.metastore.properties import metastore_properties
from connector_spi.errors import (
    InternalError,
    InvalidArgumentError,
    NotSupportedError,
    SchemaNotFoundError,
    UserError,
)
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.metadata import (
    ConnectorMetadata,
    FilterApplication,
    ProjectionApplication,
    TableRedirection,
    TableVersion,
)
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.optional.changes import ChangeRange, TableChanges, with_change_columns
from connector_spi.optional.definitions import PartitionDefinition, TableDefinition
from connector_spi.optional.streaming import StreamStart
from connector_spi.predicate import Constraint, TupleDomain
from connector_spi.schema import TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.statistics import TableStatistics
from connector_spi.system_tables import SystemTable
from connectors.hive import error_codes
from connectors.hive.acid.changes import change_span
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS, ROW_ID
from connectors.hive.acid.valid_ids import ValidIds
from connectors.hive.config import HiveConfig
from connectors.hive.definitions.columns import make_handle, make_metadata
from connectors.hive.definitions.table_formats import is_hudi, is_transactional
from connectors.hive.handles import HiveTableHandle
from connectors.hive.listing.acid_table import AcidTable, version_write_id
from connectors.hive.partitions.definitions import PartitionDefinitions, value_text
from connectors.hive.partitions.selection import prune_partitions
from connectors.hive.procedures import HiveProcedures
from connectors.hive.registration.creation import external_table
from connectors.hive.statistics.table_statistics import column_statistics, table_statistics
from connectors.hive.streaming import initial_offset, latest_offset, streamed_rows
from connectors.hive.system_tables import PartitionsTable, PropertiesTable
from connectors.hive.transaction import HiveTransaction
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HiveMetadata"]


class HiveMetadata(MetastoreDefinitions, ConnectorMetadata):
    """Answers inside of one transaction. Has statistics, partition listing, redirection to Hudi, views and definitions.

    What defines tables is done at once, and not undone by a rollback.

    Args:
        config: The catalog's settings.
        files: Storage.
        transaction: The transaction.
        metastore: Where tables are defined.
    """

    def __init__(
        self, config: HiveConfig, files: FileSystem, transaction: HiveTransaction, metastore: Metastore
    ) -> None:
        super().__init__(metastore, files.delete_folder)
        self._config = config
        self._files = files
        self._transaction = transaction

    def list_schema_names(self, session: ConnectorSession) -> Sequence[str]:
        return self._transaction.client.get_databases()

    def schema_exists(self, session: ConnectorSession, schema: str) -> bool:
        return self._transaction.client.get_database(schema) is not None

    def get_schema_properties(self, session: ConnectorSession, schema: str) -> Mapping[str, str]:
        database = self._transaction.client.get_database(schema)
        if database is None:
            return {}
        known = {"comment": database.description, "location": database.location, "owner": database.owner}
        return {**database.parameters, **{key: value for key, value in known.items() if value}}

    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        try:
            names = self._transaction.client.get_table_names(schema)
        except SchemaNotFoundError:
            return ()
        return [SchemaTableName(schema, name) for name in names]

    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> TableHandle | None:
        entry = self._transaction.client.get_table(name.schema, name.table)
        return None if entry is None else self._handle(entry)

    def get_table_handle_at(
        self, session: ConnectorSession, name: SchemaTableName, version: TableVersion
    ) -> TableHandle | None:
        """A transactional table as of a write id, as long as compaction and the cleaner have left what it needs."""
        entry = self._transaction.client.get_table(name.schema, name.table)
        if entry is None:
            return None
        handle = self._handle(entry)
        if handle.snapshot is None:
            raise NotSupportedError(
                f"{name} cannot be read at an older state: it is not transactional; leave out VERSION or TIMESTAMP "
                "AS OF"
            )
        write_id = version_write_id(name, version)
        return replace(handle, snapshot=handle.snapshot.at(write_id, name))

    def get_changes(
        self, session: ConnectorSession, name: SchemaTableName, change_range: ChangeRange
    ) -> TableChanges | None:
        """The changes of committed write ids, as long as compaction and the cleaner have left what tells them.

        Hive gives an updated row a new row id: so an update comes as a delete and an insert. An update of a row that
        stays in the range, and a row that came and went in it, come as both.
        """
        entry = self._transaction.client.get_table(name.schema, name.table)
        if entry is None:
            return None
        handle = self._handle(entry)
        if handle.snapshot is None:
            raise NotSupportedError(f"the changes of {name} cannot be read: it is not transactional")
        span = change_span(name, change_range, handle.snapshot.write_ids)
        changes = replace(handle, changes=span)
        self.get_table_metadata(session, changes)
        return TableChanges(changes, row_id=(ROW_ID,) if handle.full_acid else ())

    @property
    def stream_option_names(self) -> Mapping[str, str]:
        return {}

    def get_initial_offset(self, session: ConnectorSession, name: SchemaTableName, start: StreamStart) -> str | None:
        entry = self._transaction.client.get_table(name.schema, name.table)
        return None if entry is None else initial_offset(name, self._write_ids(name, entry), start)

    def get_latest_offset(
        self,
        session: ConnectorSession,
        name: SchemaTableName,
        offset: str,
        max_versions: int | None = None,
        until: str | None = None,
    ) -> str | None:
        entry = self._transaction.client.get_table(name.schema, name.table)
        if entry is None:
            return None
        return latest_offset(name, self._write_ids(name, entry), offset, max_versions, until)

    def get_stream_batch(
        self, session: ConnectorSession, name: SchemaTableName, start: str, end: str, *, changes: bool
    ) -> TableHandle | None:
        """Rows that committed write ids inserted: an update comes as its new row, a row that went again as well."""
        entry = self._transaction.client.get_table(name.schema, name.table)
        if entry is None:
            return None
        handle = self._handle(entry)
        if handle.snapshot is None:
            raise _no_stream(name)
        rows = streamed_rows(name, handle.snapshot, start, end, changes=changes)
        made = replace(handle, snapshot=rows.snapshot, changes=rows.changes)
        if rows.changes is not None:
            # Also where the columns are not shown: what reads the rows knows these names.
            with_change_columns(make_metadata(self._transaction.table(name), made), pa.int64())
        return made

    def redirect_table(self, session: ConnectorSession, name: SchemaTableName) -> TableRedirection | None:
        """A Hudi table is read by the hudi connector over the same metastore and storage."""
        entry = self._transaction.client.get_table(name.schema, name.table)
        if entry is None or not is_hudi(entry, self._files):
            return None
        known = metastore_properties(self._config.metastore)
        properties = (*known, *cache_texts(self._config.cache), *self._config.storage_options)
        return TableRedirection("hudi", name, properties)

    def get_table_metadata(self, session: ConnectorSession, table: TableHandle) -> TableMetadata:
        handle = hive_handle(table)
        metadata = make_metadata(self._transaction.table(handle.name), handle)
        if handle.changes is None or handle.changes.inserts_only:
            return metadata
        return with_change_columns(metadata, pa.int64())

    def get_column_handles(self, session: ConnectorSession, table: TableHandle) -> Mapping[str, ColumnHandle]:
        return {column.name: column for column in hive_handle(table).all_columns}

    def get_system_table(self, session: ConnectorSession, name: SystemTableName) -> SystemTable | None:
        entry = self._transaction.client.get_table(name.base.schema, name.base.table)
        if entry is None:
            return None
        properties = {**entry.parameters, **entry.access.properties()}
        if name.kind == PropertiesTable.kind and properties:
            return PropertiesTable(name, properties)
        if name.kind == AcidTable.kind:
            return AcidTable(name, self._transaction, self._files, self._handle(entry))
        if name.kind == PartitionsTable.kind and entry.partition_keys:
            return PartitionsTable(name, self._transaction.client, make_handle(entry, self._files))
        return None

    def list_system_table_kinds(self) -> Sequence[str]:
        return (AcidTable.kind, PartitionsTable.kind, PropertiesTable.kind)

    def apply_filter(
        self, session: ConnectorSession, table: TableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        """Partition keys are taken over for good, other columns to choose files and their parts by."""
        handle = hive_handle(table)
        whole = set(handle.all_columns).difference(ACID_HIDDEN_COLUMNS if handle.full_acid else ())
        taken = handle.constraint.intersect(constraint.summary.keep(lambda column: column in whole))
        if taken == handle.constraint:
            return None
        keys = set(handle.partition_keys)
        remaining = constraint.summary.keep(lambda column: column not in keys)
        return FilterApplication(replace(handle, constraint=taken), remaining)

    def apply_projection(
        self, session: ConnectorSession, table: TableHandle, columns: tuple[ColumnHandle, ...]
    ) -> ProjectionApplication | None:
        handle = hive_handle(table)
        if handle.columns == columns:
            return None
        return ProjectionApplication(replace(handle, columns=columns), columns)

    def get_table_statistics(self, session: ConnectorSession, table: TableHandle) -> TableStatistics:
        handle = hive_handle(table)
        if handle.changes is not None:
            return TableStatistics()
        return table_statistics(self._transaction.client, handle, self._transaction.table(handle.name))

    def get_column_statistics(self, session: ConnectorSession, table: TableHandle) -> TableStatistics:
        handle = hive_handle(table)
        return column_statistics(self._transaction.client, handle, self._transaction.table(handle.name))

    def list_partitions(
        self, session: ConnectorSession, table: TableHandle, constraint: TupleDomain[str]
    ) -> Sequence[tuple[object, ...]]:
        handle = hive_handle(table)
        keys = {key.name: key for key in handle.partition_keys}
        if not keys:
            return ()
        wanted = constraint.transform_keys(keys.get)
        kept = prune_partitions(self._transaction.client, handle, wanted).kept
        return [tuple(value for _, value in partition.values) for partition in kept]

    def create_table(self, session: ConnectorSession, definition: TableDefinition) -> None:
        """A definition without columns registers the folder, with its partitions, as ``register_table`` does."""
        name = definition.name
        if (definition.provider or "").lower() == "hudi":
            raise NotSupportedError(f"{name} would be a Hudi table: make it in a catalog of the hudi connector")
        if definition.columns or definition.location is None:
            self.metastore.as_user(session.user).writes.create_table(external_table(definition, self._files, session))
            return
        given = definition.properties or definition.storage or definition.comment or definition.partitioned_by
        if given:
            raise InvalidArgumentError(
                f"CREATE TABLE {name} names no columns; with LOCATION alone they come from the files"
            )
        if self.metastore.as_user(session.user).reads.get_database(name.schema) is None:
            raise SchemaNotFoundError(f"the metastore has no database {name.schema}")
        HiveProcedures(self.metastore, self._files).register_table(session, name, location_uri(definition.location))

    def add_partitions(
        self, session: ConnectorSession, name: SchemaTableName, partitions: Sequence[PartitionDefinition]
    ) -> None:
        definitions = PartitionDefinitions(self.metastore.as_user(session.user), self._files)
        definitions.add(session, definitions.table(name), partitions)

    def drop_partitions(
        self, session: ConnectorSession, name: SchemaTableName, partitions: Sequence[tuple[object, ...]]
    ) -> None:
        metastore = self.metastore.as_user(session.user)
        definitions = PartitionDefinitions(metastore, self._files)
        table = definitions.table(name)
        handle = make_handle(table, self._files)
        kept = prune_partitions(metastore.reads, handle, TupleDomain.all()).kept
        names: dict[tuple[object, ...], list[str]] = {}
        for one in kept:
            names.setdefault(tuple(value for _, value in one.values), []).append(one.name)
        keys = [key.name for key in table.partition_keys]
        absent = [values for values in partitions if values not in names]
        if absent:
            partition = make_partition_name(keys, [value_text(value) for value in absent[0]])
            raise UserError(f"{name} has no partition {partition}", error_codes.HIVE_PARTITION_NOT_FOUND)
        definitions.drop(table, [one for values in partitions for one in names[values]])

    def _write_ids(self, name: SchemaTableName, entry: Table) -> ValidIds:
        if not is_transactional(entry.parameters):
            raise _no_stream(name)
        return self._transaction.write_ids(name)

    def _handle(self, entry: Table) -> HiveTableHandle:
        """The handle with the snapshot of a transactional table."""
        handle = make_handle(entry, self._files)
        if not is_transactional(entry.parameters):
            return handle
        snapshot = self._transaction.snapshot(handle.name)
        # Its lock may have been waited for, and the table changed by then; mostly it is the entry that is known.
        now = self._transaction.table(handle.name)
        return replace(handle if now is entry else make_handle(now, self._files), snapshot=snapshot)


def _no_stream(name: SchemaTableName) -> NotSupportedError:
    return NotSupportedError(
        f"{name} cannot be read as a stream: it is not transactional, so nothing tells what is new in it"
    )


def hive_handle(table: TableHandle) -> HiveTableHandle:
    """The handle as one of this connector.

    Raises:
        InternalError: It is another connector's.
    """
    if not isinstance(table, HiveTableHandle):
        raise InternalError(f"expected a HiveTableHandle, met a {type(table).__qualname__}")
    return table
