"""What a hudi catalog holds. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from catalog.metastore.client import MetastoreClient
from catalog.metastore.definitions import MetastoreDefinitions, location_uri
from catalog.metastore.factory import Metastore
from catalog.metastore.model import Table
from connector_spi.errors import InternalError, InvalidArgumentError, NotSupportedError, SchemaNotFoundError
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.metadata import ConnectorMetadata, FilterApplication, TableVersion
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.optional.changes import ChangeRange, TableChanges, with_change_columns
from connector_spi.optional.definitions import TableDefinition
from connector_spi.optional.streaming import StreamStart
from connector_spi.predicate import Constraint, TupleDomain, Value
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.statistics import TableStatistics
from connector_spi.system_tables import SystemTable
from connectors.hudi.changes.handles import FEED_COLUMNS, HudiChangesHandle
from connectors.hudi.config import READ_OPTIMIZED, index_use
from connectors.hudi.error_codes import HUDI_PARTITION_VALUE
from connectors.hudi.file_group.slices import data_files
from connectors.hudi.handles import HIDDEN_COLUMNS, HudiTableHandle, IndexUse
from connectors.hudi.read_options import STREAM_START, parse_read_options
from connectors.hudi.registration.register import register_table
from connectors.hudi.registration.registered_table import hudi_location, is_read_optimized, keys_shown_last
from connectors.hudi.schema.table_schema import PARTITION_PATH, RECORD_KEY
from connectors.hudi.snapshots.schema_commits import read_schema_history
from connectors.hudi.snapshots.snapshot import HudiSnapshot, trimmed
from connectors.hudi.statistics.column_statistics import exact_column_statistics
from connectors.hudi.statistics.table_statistics import scan_statistics
from connectors.hudi.streaming import initial_offset, latest_offset
from connectors.hudi.system_tables import SYSTEM_TABLES, TableOnStorage
from connectors.hudi.transaction import HudiTransaction
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HudiMetadata"]


class HudiMetadata(MetastoreDefinitions, ConnectorMetadata):
    """Tables of a metastore, as far as they are Hudi's.

    All tables of a schema are listed, since telling their kind would ask for each; one of another kind is refused
    when it is used.

    Args:
        metastore: The metastore.
        files: Storage.
        transaction: The transaction that the answers belong to.
        columns_to_hide: Lower-case names of columns that ``SELECT *`` leaves out.
        defined_in: Where tables are defined: what changes it is done at once.
    """

    def __init__(
        self,
        metastore: MetastoreClient,
        files: FileSystem,
        transaction: HudiTransaction,
        columns_to_hide: frozenset[str],
        defined_in: Metastore,
    ) -> None:
        super().__init__(defined_in, files.delete_folder)
        self._metastore = metastore
        self._files = files
        self._transaction = transaction
        self._columns_to_hide = columns_to_hide

    def list_schema_names(self, session: ConnectorSession) -> Sequence[str]:
        return self._metastore.get_databases()

    def schema_exists(self, session: ConnectorSession, schema: str) -> bool:
        return self._metastore.get_database(schema) is not None

    def get_schema_properties(self, session: ConnectorSession, schema: str) -> Mapping[str, str]:
        database = self._metastore.get_database(schema)
        if database is None:
            return {}
        told = {"comment": database.description, "location": database.location}
        return {key: value for key, value in told.items() if value}

    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        if not self.schema_exists(session, schema):
            return ()
        return [SchemaTableName(schema, name) for name in self._metastore.get_table_names(schema)]

    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> HudiTableHandle | None:
        table = self._metastore.get_table(name.schema, name.table)
        if table is None:
            return None
        return self._handle(session, name, table, self._transaction.open(hudi_location(table, self._files)))

    def get_table_handle_at(
        self, session: ConnectorSession, name: SchemaTableName, version: TableVersion
    ) -> HudiTableHandle | None:
        """The columns, too, are those of that time."""
        table = self._metastore.get_table(name.schema, name.table)
        if table is None:
            return None
        location = hudi_location(table, self._files)
        snapshot = self._transaction.open_at(location, version, session.time_zone)
        # What the metastore knows of partitions is of today.
        return replace(self._handle(session, name, table, snapshot), metastore_partitions=False)

    def apply_read_options(
        self, session: ConnectorSession, table: TableHandle, options: Mapping[str, str]
    ) -> HudiTableHandle | HudiChangesHandle:
        """Under the names that Hudi's own data source has."""
        handle = _hudi(table)
        return self._transaction.with_options(handle, parse_read_options(handle.name, options), session.time_zone)

    def get_changes(self, session: ConnectorSession, table: TableHandle, change_range: ChangeRange) -> TableChanges:
        """Between instants; a row is told by its record key and partition path."""
        handle = _hudi(table)
        changes = self._transaction.changes(replace(handle, read_optimized=False), change_range, session.time_zone)
        self.get_table_metadata(session, changes)
        return TableChanges(changes, row_id=_row_id(handle), pairs_updates=True)

    @property
    def stream_option_names(self) -> Mapping[str, str]:
        return {STREAM_START: "startingoffset"}

    def get_initial_offset(self, session: ConnectorSession, name: SchemaTableName, start: StreamStart) -> str | None:
        snapshot = self._newest(name)
        return None if snapshot is None else initial_offset(snapshot, name, start, session.time_zone)

    def get_latest_offset(
        self,
        session: ConnectorSession,
        name: SchemaTableName,
        offset: str,
        max_versions: int | None = None,
        until: str | None = None,
    ) -> str | None:
        snapshot = self._newest(name)
        return None if snapshot is None else latest_offset(snapshot, name, offset, max_versions, until)

    def get_stream_batch(
        self, session: ConnectorSession, name: SchemaTableName, start: str, end: str, *, changes: bool
    ) -> HudiTableHandle | HudiChangesHandle | None:
        """The newest state, at the end, of the rows that the writes wrote; of a merge-on-read table, too."""
        handle = self.get_table_handle(session, name)
        if handle is None:
            return None
        made = self._transaction.stream_batch(handle, start, end, session.time_zone, changes=changes)
        self.get_table_metadata(session, made)
        return made

    def get_table_metadata(self, session: ConnectorSession, table: TableHandle) -> TableMetadata:
        if isinstance(table, HudiChangesHandle) and table.is_feed:
            columns = tuple(ColumnMetadata(name, arrow) for name, arrow in FEED_COLUMNS)
            return TableMetadata(table.table.name, columns)
        if isinstance(table, HudiChangesHandle):
            return with_change_columns(self.get_table_metadata(session, table.table), pa.string())
        handle = _hudi(table)
        shown = [
            ColumnMetadata(field.name, field.type, hidden=field.name.lower() in self._columns_to_hide)
            for field in handle.schema
        ]
        places = {name: place for place, name in enumerate(handle.keys_last)}
        shown.sort(key=lambda column: (column.hidden, places.get(column.name.lower(), -1)))
        shown += [ColumnMetadata(name, arrow, nullable=False, hidden=True) for name, arrow in HIDDEN_COLUMNS]
        config = handle.config
        properties = {
            "location": handle.location,
            "format": config.base_format,
            "type": "merge_on_read" if config.merge_on_read else "copy_on_write",
            "table_version": str(config.version),
        }
        return TableMetadata(handle.name, tuple(shown), _keys(handle), None, tuple(properties.items()))

    def get_column_handles(self, session: ConnectorSession, table: TableHandle) -> Mapping[str, ColumnHandle]:
        columns = self.get_table_metadata(session, table).columns
        return {column.name: ColumnHandle(column.name, column.type) for column in columns}

    def get_system_table(self, session: ConnectorSession, name: SystemTableName) -> SystemTable | None:
        make = SYSTEM_TABLES.get(name.kind)
        table = self._metastore.get_table(name.base.schema, name.base.table) if make is not None else None
        if make is None or table is None:
            return None
        location = hudi_location(table, self._files)
        return make(TableOnStorage(name.base, location, self._files, self._transaction, table.access))

    def list_system_table_kinds(self) -> Sequence[str]:
        return sorted(SYSTEM_TABLES)

    def apply_filter(
        self, session: ConnectorSession, table: TableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        handle = table if isinstance(table, HudiChangesHandle) else _hudi(table)
        combined = handle.constraint.intersect(constraint.summary)
        if combined == handle.constraint:
            return None
        # Row groups and partitions are only skipped, so every row has to be checked again.
        return FilterApplication(replace(handle, constraint=combined), constraint.summary)

    def get_table_statistics(self, session: ConnectorSession, table: TableHandle) -> TableStatistics:
        """Bytes and rows of the data files. Planned once for the scan too."""
        if isinstance(table, HudiChangesHandle):
            return TableStatistics()
        handle = _hudi(table)
        if handle.constraint.is_none:
            return TableStatistics(0, 0)
        plan = self._transaction.plan(handle, handle.constraint)
        if handle.written_in is not None:
            files = (file for file_slice in plan.slices for file in data_files(file_slice))
            return TableStatistics(size_bytes=sum(file.size for file in files))
        snapshot = self._transaction.snapshot(handle)
        return scan_statistics(snapshot, plan, self._transaction.metadata_table(handle))

    def get_column_statistics(self, session: ConnectorSession, table: TableHandle) -> TableStatistics:
        """With the columns that the metadata table tells exactly."""
        found = self.get_table_statistics(session, table)
        if isinstance(table, HudiChangesHandle):
            return found
        handle = _hudi(table)
        if handle.constraint.is_none or handle.written_in is not None or not handle.indexes.column_stats:
            return found
        metadata = self._transaction.metadata_table(handle)
        if metadata is None:
            return found
        plan = self._transaction.plan(handle, handle.constraint)
        return replace(found, columns=exact_column_statistics(metadata, plan, handle.schema))

    def list_partitions(
        self, session: ConnectorSession, table: TableHandle, constraint: TupleDomain[str]
    ) -> Sequence[tuple[object, ...]]:
        handle = _hudi(table.table if isinstance(table, HudiChangesHandle) else table)
        if constraint.is_none:
            return ()
        columns = {ColumnHandle(key, domain.type): domain for key, domain in dict(constraint.domains or {}).items()}
        plan = self._transaction.plan(handle, TupleDomain.with_column_domains(columns))
        return [self._key_values(handle, partition.path) for partition in plan.partitions if partition.slices]

    def create_table(self, session: ConnectorSession, definition: TableDefinition) -> None:
        """Registers the Hudi table at the location, as ``register_table`` does: the table itself tells all else."""
        if definition.location is None or definition.provider not in (None, "hudi"):
            raise InvalidArgumentError(
                f"CREATE TABLE {definition.name} in a catalog of the hudi connector is for a table that is there: say "
                "USING hudi LOCATION and its folder"
            )
        told = definition.columns or definition.properties or definition.storage or definition.comment
        if told or definition.partitioned_by:
            raise InvalidArgumentError(
                f"CREATE TABLE {definition.name} says more than the LOCATION of a Hudi table, which tells its columns, "
                "partitions and properties itself"
            )
        metastore = self.metastore.as_user(session.user)
        if metastore.reads.get_database(definition.name.schema) is None:
            raise SchemaNotFoundError(f"the metastore has no database {definition.name.schema}")
        location = location_uri(definition.location)
        register_table(metastore.reads, metastore.writes, self._files, session, definition.name, location)

    def _newest(self, name: SchemaTableName) -> HudiSnapshot | None:
        table = self._metastore.get_table(name.schema, name.table)
        return None if table is None else self._transaction.open(hudi_location(table, self._files))

    def _handle(
        self, session: ConnectorSession, name: SchemaTableName, table: Table, snapshot: HudiSnapshot
    ) -> HudiTableHandle:
        merge_on_read = snapshot.config.merge_on_read
        schema = snapshot.table_schema()
        history = read_schema_history(snapshot, schema)
        indexes = index_use(session)
        read_optimized = merge_on_read and (is_read_optimized(table) or session.flag(READ_OPTIMIZED))
        return HudiTableHandle(
            name=name,
            location=snapshot.location,
            config=trimmed(snapshot.config),
            view=snapshot.view,
            schema=schema,
            keys_last=keys_shown_last(table),
            metastore_partitions=bool(table.partition_keys),
            read_optimized=read_optimized,
            # Statistics and keys go by names, which may have meant other columns.
            indexes=indexes if history is None else IndexUse(files=indexes.files),
            history=history,
        )

    def _key_values(self, handle: HudiTableHandle, path: str) -> tuple[Value | None, ...]:
        values = handle.partition_paths.values(path)
        keys = _keys(handle)
        unknown = [key for key in keys if key not in values]
        if unknown:
            raise NotSupportedError(
                f"the path of partition '{path}' of {handle.name} does not tell the value of {', '.join(unknown)} for "
                f"certain; select the values from the table, or the paths from `{handle.name.table}$partitions`",
                HUDI_PARTITION_VALUE,
            )
        return tuple(values[key] for key in keys)


def _keys(handle: HudiTableHandle) -> tuple[str, ...]:
    """The partition fields, where the partitions' paths tell their values; else the table shows none."""
    paths = handle.partition_paths
    return tuple(name for name, _ in paths.fields) if paths.tells_values else ()


def _row_id(handle: HudiTableHandle) -> tuple[str, ...]:
    """The columns that tell a row; none where there are none."""
    config = handle.config
    if config.populate_meta_fields:
        return (RECORD_KEY, PARTITION_PATH)
    named = (*config.record_key_fields, *config.partition_fields)
    return tuple(dict.fromkeys(named)) if set(named) <= set(handle.schema.names) else ()


def _hudi(table: TableHandle) -> HudiTableHandle:
    if not isinstance(table, HudiTableHandle):
        raise InternalError(f"expected a Hudi table, met {type(table).__name__}")
    return table
