"""What a hudi catalog holds. Driver side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from catalog.metastore.client import MetastoreClient
from catalog.metastore.definitions import MetastoreDefinitions, is_managed, location_uri
from catalog.metastore.factory import Metastore
from catalog.metastore.views import view_definition
from connector_spi.errors import InternalError, InvalidArgumentError, SchemaNotFoundError
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.metadata import ConnectorMetadata, FilterApplication, TableVersion
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.optional.aggregation import Aggregation, AggregationApplication
from connector_spi.optional.changes import ChangeRange, TableChanges, with_change_columns
from connector_spi.optional.definitions import TableDefinition, ViewDefinition
from connector_spi.optional.streaming import StreamStart
from connector_spi.optional.top_n import SortItem, TopNApplication
from connector_spi.predicate import Constraint, TupleDomain
from connector_spi.schema import ColumnMetadata, TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.statistics import TableStatistics
from connector_spi.system_tables import SystemTable
from connectors.hudi.changes.change_ranges import changes_handle
from connectors.hudi.changes.handles import FEED_COLUMNS, HudiChangesHandle
from connectors.hudi.changes.options import with_read_options
from connectors.hudi.file_group.slices import data_files
from connectors.hudi.handles import HudiTableHandle, TopN
from connectors.hudi.hidden_columns import HIDDEN_COLUMNS
from connectors.hudi.metadata_table.opening import usable_metadata_table
from connectors.hudi.planning.file_slice_plan import FileSlicePlan
from connectors.hudi.planning.first_slices import is_ordered_by_statistics
from connectors.hudi.planning.planner import plan_table
from connectors.hudi.read_options import STREAM_START, parse_read_options
from connectors.hudi.registration.definition_check import check_definition
from connectors.hudi.registration.register import register_table
from connectors.hudi.registration.registered_table import READ_OPTIMIZED_TABLE, hudi_location, metastore_table
from connectors.hudi.registration.table_handle import partition_keys, partition_values, row_id, table_handle
from connectors.hudi.snapshots.opening import newest_snapshot, snapshot_as_of, snapshot_of
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.statistics.column_statistics import ColumnStatisticsKey, exact_column_statistics
from connectors.hudi.statistics.table_statistics import StatisticsKey, scan_statistics
from connectors.hudi.streaming import batch_handle, initial_offset, latest_offset
from connectors.hudi.system_tables import SYSTEM_TABLES, TableOnStorage
from connectors.hudi.transaction import HudiTransaction
from connectors.toolkit.read.aggregation import aggregated_columns, is_aggregated_by_footers
from connectors.toolkit.read.pruning import MOST_FILTER_VALUES
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HudiMetadata"]


class HudiMetadata(MetastoreDefinitions, ConnectorMetadata):
    """Tables of a metastore, as far as they are Hudi's.

    All tables of a schema are listed, since their kind is known only after a call for each; one of another kind is
    refused when it is used.

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
        properties = {"comment": database.description, "location": database.location}
        return {key: value for key, value in properties.items() if value}

    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        if not self.schema_exists(session, schema):
            return ()
        return [SchemaTableName(schema, name) for name in self._metastore.get_table_names(schema)]

    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> HudiTableHandle | None:
        table = self._metastore.get_table(name.schema, name.table)
        if table is None:
            return None
        return table_handle(session, name, table, newest_snapshot(self._transaction, hudi_location(table, self._files)))

    def get_view(self, session: ConnectorSession, name: SchemaTableName) -> ViewDefinition | None:
        """Of the transaction's own entry, which a read has asked for or is about to."""
        table = self._metastore.get_table(name.schema, name.table)
        return None if table is None else view_definition(table)

    def get_table_handle_at(
        self, session: ConnectorSession, name: SchemaTableName, version: TableVersion
    ) -> HudiTableHandle | None:
        """The columns, too, are those of that time."""
        table = self._metastore.get_table(name.schema, name.table)
        if table is None:
            return None
        location = hudi_location(table, self._files)
        snapshot = snapshot_as_of(self._transaction, location, version, session.time_zone)
        # What the metastore knows of partitions is of today.
        return replace(table_handle(session, name, table, snapshot), metastore_partitions=False)

    def apply_read_options(
        self, session: ConnectorSession, table: TableHandle, options: Mapping[str, str]
    ) -> HudiTableHandle | HudiChangesHandle:
        """Under the names that Hudi's own data source has."""
        handle = _hudi(table)
        read_options = parse_read_options(handle.name, options)
        return with_read_options(self._transaction, handle, read_options, session.time_zone)

    def get_changes(self, session: ConnectorSession, table: TableHandle, change_range: ChangeRange) -> TableChanges:
        """Between instants; a row is identified by its record key and partition path."""
        handle = _hudi(table)
        merged = replace(handle, read_optimized=False)
        snapshot = snapshot_of(self._transaction, merged)
        changes = changes_handle(snapshot, merged, change_range, session.time_zone)
        self.get_table_metadata(session, changes)
        return TableChanges(changes, row_id=row_id(handle), pairs_updates=True)

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
        snapshot = snapshot_of(self._transaction, handle)
        made = batch_handle(snapshot, handle, start, end, session.time_zone, changes=changes)
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
        positions = {name: position for position, name in enumerate(handle.keys_last)}
        shown.sort(key=lambda column: (column.hidden, positions.get(column.name.lower(), -1)))
        shown += [ColumnMetadata(name, arrow, nullable=False, hidden=True) for name, arrow in HIDDEN_COLUMNS]
        config = handle.config
        entry = self._metastore.get_table(handle.name.schema, handle.name.table)
        properties = {
            "provider": "hudi",
            "location": handle.location,
            **({} if entry is not None and is_managed(entry) else {"external": "true"}),
            "format": config.base_format,
            "type": "merge_on_read" if config.merge_on_read else "copy_on_write",
            "table_version": str(config.version),
            **({READ_OPTIMIZED_TABLE: "true"} if handle.read_optimized else {}),
        }
        return TableMetadata(handle.name, tuple(shown), partition_keys(handle), None, tuple(properties.items()))

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

    @property
    def most_filter_values(self) -> int:
        return MOST_FILTER_VALUES

    def apply_filter(
        self, session: ConnectorSession, table: TableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        # Row groups and partitions are only skipped, so every row has to be checked again.
        if isinstance(table, HudiChangesHandle):
            combined = table.constraint.intersect(constraint.summary)
            if combined == table.constraint:
                return None
            return FilterApplication(replace(table, constraint=combined), constraint.summary)
        handle = _hudi(table)
        combined = handle.constraint.intersect(constraint.summary)
        conditions = tuple(dict.fromkeys((*handle.conditions, *constraint.expressions)))
        if handle.aggregation is not None or (combined == handle.constraint and conditions == handle.conditions):
            return None
        return FilterApplication(replace(handle, constraint=combined, conditions=conditions), constraint.summary)

    def apply_aggregation(
        self, session: ConnectorSession, table: TableHandle, aggregation: Aggregation
    ) -> AggregationApplication | None:
        """Counts and bounds without keys; by footers of base files, and by reading the slices that have logs."""
        if not isinstance(table, HudiTableHandle) or table.aggregation is not None:
            return None
        if not table.constraint.is_all or table.conditions:
            return None
        known = {ColumnHandle(field.name, field.type) for field in table.schema}
        fields = frozenset(ColumnHandle(*field) for field in table.partition_paths.fields)
        columns = {function.column for function in aggregation.functions} - {None}
        is_plain = table.written_in is None and table.history is None and not aggregation.keys
        if not is_plain or not known.issuperset(columns) or not is_aggregated_by_footers(aggregation, fields):
            return None
        return AggregationApplication(
            replace(table, aggregation=aggregation), aggregated_columns(aggregation), complete=False
        )

    def apply_top_n(
        self, session: ConnectorSession, table: TableHandle, count: int, order: tuple[SortItem, ...]
    ) -> TopNApplication | None:
        """Leaves out file slices whose column statistics say that they hold none of the first rows."""
        if not isinstance(table, HudiTableHandle) or table.top_n is not None or count < 1:
            return None
        if not is_ordered_by_statistics(table, order[0]):
            return None
        return TopNApplication(replace(table, top_n=TopN(count, order[0])), guaranteed=False)

    def get_table_statistics(self, session: ConnectorSession, table: TableHandle) -> TableStatistics:
        """Bytes and rows of the data files. Planned once for the scan too."""
        if isinstance(table, HudiChangesHandle):
            return TableStatistics()
        handle = _hudi(table)
        if handle.constraint.is_none:
            return TableStatistics(0, 0)
        plan = plan_table(self._transaction, handle, handle.constraint)
        snapshot = snapshot_of(self._transaction, handle)
        return snapshot.memory.get(StatisticsKey(handle), lambda: self._statistics(snapshot, handle, plan))

    def _statistics(self, snapshot: HudiSnapshot, handle: HudiTableHandle, plan: FileSlicePlan) -> TableStatistics:
        if handle.written_in is not None:
            files = (file for file_slice in plan.slices for file in data_files(file_slice))
            return TableStatistics(size_bytes=sum(file.size for file in files))
        return scan_statistics(snapshot, plan, usable_metadata_table(self._transaction, handle))

    def get_column_statistics(self, session: ConnectorSession, table: TableHandle) -> TableStatistics:
        """With the columns of which the metadata table has exact statistics."""
        found = self.get_table_statistics(session, table)
        if isinstance(table, HudiChangesHandle):
            return found
        handle = _hudi(table)
        if handle.constraint.is_none or handle.written_in is not None or not handle.indexes.column_stats:
            return found
        metadata = usable_metadata_table(self._transaction, handle)
        if metadata is None:
            return found
        plan = plan_table(self._transaction, handle, handle.constraint)
        memory = snapshot_of(self._transaction, handle).memory
        columns = memory.get(
            ColumnStatisticsKey(handle), lambda: exact_column_statistics(metadata, plan, handle.schema)
        )
        return replace(found, columns=columns)

    def list_partitions(
        self, session: ConnectorSession, table: TableHandle, constraint: TupleDomain[str]
    ) -> Sequence[tuple[object, ...]]:
        handle = _hudi(table.table if isinstance(table, HudiChangesHandle) else table)
        if constraint.is_none:
            return ()
        columns = {ColumnHandle(key, domain.type): domain for key, domain in dict(constraint.domains or {}).items()}
        plan = plan_table(self._transaction, handle, TupleDomain.with_column_domains(columns))
        return [partition_values(handle, partition.path) for partition in plan.partitions if partition.slices]

    def create_table(self, session: ConnectorSession, definition: TableDefinition) -> None:
        """Registers the Hudi table at the location, as ``register_table`` does: the rest is read from the table.

        What the definition says of the rest has to be so.
        """
        if definition.location is None or definition.provider not in (None, "hudi"):
            raise InvalidArgumentError(
                f"CREATE TABLE {definition.name} in a catalog of the hudi connector is for a table that is there: say "
                "USING hudi LOCATION and its folder"
            )
        location = location_uri(definition.location)
        snapshot = newest_snapshot(self._transaction, location)
        entry = metastore_table(definition.name, location, snapshot.config, snapshot.table_schema(), session.user)
        handle = table_handle(session, definition.name, entry, snapshot)
        check_definition(definition, entry, self.get_table_metadata(session, handle))
        metastore = self.metastore.as_user(session.user)
        if metastore.reads.get_database(definition.name.schema) is None:
            raise SchemaNotFoundError(f"the metastore has no database {definition.name.schema}")
        register_table(
            metastore=metastore.reads,
            writer=metastore.writes,
            files=self._files,
            session=session,
            name=definition.name,
            folder=location,
        )

    def _newest(self, name: SchemaTableName) -> HudiSnapshot | None:
        table = self._metastore.get_table(name.schema, name.table)
        return None if table is None else newest_snapshot(self._transaction, hudi_location(table, self._files))


def _hudi(table: TableHandle) -> HudiTableHandle:
    if not isinstance(table, HudiTableHandle):
        raise InternalError(f"expected a Hudi table, met {type(table).__name__}")
    return table
