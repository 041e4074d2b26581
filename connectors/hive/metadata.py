"""Metadata of the hive connector: names, columns, pushdown. Driver side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import pyarrow as pa

from catalog.metastore.factory import Metastore
from catalog.metastore.kinds import metastore_kinds
from catalog.metastore.model import Table
from catalog.metastore.views import view_definition
from connector_spi.errors import ConnectorError, NotSupportedError, SchemaNotFoundError
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import (
    ConnectorMetadata,
    FilterApplication,
    ProjectionApplication,
    TableRedirection,
    TableVersion,
)
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.optional.aggregation import Aggregation, AggregationApplication
from connector_spi.optional.changes import ChangeRange, TableChanges, with_change_columns
from connector_spi.optional.definitions import ViewDefinition, ViewDialect
from connector_spi.optional.streaming import StreamStart
from connector_spi.optional.top_n import SortItem, TopNApplication
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import Constraint, TupleDomain
from connector_spi.properties import PropertyValues
from connector_spi.schema import TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.system_tables import SystemTable
from connectors.hive.acid.changes import change_span
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS, ROW_ID
from connectors.hive.acid.valid_ids import ALL_VALID, AcidSnapshot, ValidIds
from connectors.hive.config import FOOTER_CACHE, SHARED_PROPERTIES, VIEWS_AS_INVOKER
from connectors.hive.definitions.columns import make_handle, make_metadata
from connectors.hive.definitions.table_formats import is_hudi, is_transactional
from connectors.hive.handles import HiveTableHandle, TopN
from connectors.hive.listing.acid_table import AcidTable, version_write_id
from connectors.hive.listing.first_rows import is_ordered_by_statistics
from connectors.hive.listing.table_partitioning import HivePartitioning
from connectors.hive.partitions.alternatives import key_alternatives
from connectors.hive.partitions.selection import prune_partitions
from connectors.hive.statistics.hive_statistics import HiveStatistics
from connectors.hive.streaming import initial_offset, latest_offset, streamed_rows
from connectors.hive.system_tables import PartitionsTable, PropertiesTable
from connectors.hive.table_definitions import HiveDefinitions
from connectors.hive.transaction import HiveTransaction
from connectors.hive.transactions.compactions import CompactionsTable
from connectors.hive.write.insertion import HiveInsertion
from connectors.toolkit.read.aggregation import aggregated_columns, is_aggregated_by_footers
from connectors.toolkit.read.pruning import MOST_FILTER_VALUES
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HiveMetadata"]

_WITH_FOOTERS = ("parquet", "orc")


class HiveMetadata(
    HiveDefinitions, HiveInsertion, HivePartitioning, HiveStatistics, ConnectorMetadata[HiveTableHandle]
):
    """Metadata within one transaction, with statistics, partition listing, redirection to Hudi, views and definitions.

    Args:
        config: The catalog's settings.
        files: Storage.
        transaction: The transaction.
        metastore: The metastore to define tables in.
        pages: Reads first rows of files.
    """

    def __init__(
        self,
        config: PropertyValues,
        files: FileSystem,
        transaction: HiveTransaction,
        metastore: Metastore,
        pages: PageSourceProvider,
    ) -> None:
        HiveDefinitions.__init__(self, metastore, files, transaction)
        HiveInsertion.__init__(self, metastore, files, transaction)
        HivePartitioning.__init__(self, files, transaction, pages, FOOTER_CACHE)
        HiveStatistics.__init__(self, metastore, files, transaction, pages, FOOTER_CACHE)
        self._config = config
        self._not_hudi: dict[SchemaTableName, Table] = {}

    def list_schema_names(self, session: ConnectorSession) -> Sequence[str]:
        return self._transaction.client.get_databases()

    def schema_exists(self, session: ConnectorSession, schema: str) -> bool:
        return self._transaction.client.get_database(schema) is not None

    def get_schema_properties(self, session: ConnectorSession, schema: str) -> Mapping[str, str]:
        database = self._transaction.client.get_database(schema)
        if database is None:
            return {}
        fields = {"comment": database.description, "location": database.location, "owner": database.owner}
        return {**database.parameters, **{key: value for key, value in fields.items() if value}}

    def list_tables(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        try:
            names = self._transaction.client.get_table_names(schema)
        except SchemaNotFoundError:
            return ()
        return [SchemaTableName(schema, name) for name in names]

    def get_table_handle(self, session: ConnectorSession, name: SchemaTableName) -> HiveTableHandle | None:
        entry = self._transaction.client.get_table(name.schema, name.table)
        return None if entry is None else self._handle(entry)

    def get_table_handle_at(
        self, session: ConnectorSession, name: SchemaTableName, version: TableVersion
    ) -> HiveTableHandle | None:
        """A transactional table as of a write id, as long as compaction and the cleaner have kept its files."""
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

    def get_changes(self, session: ConnectorSession, table: HiveTableHandle, change_range: ChangeRange) -> TableChanges:
        """The changes of committed write ids, as long as compaction and the cleaner have kept their files.

        Hive gives an updated row a new row id, so an update is a delete and an insert. A row that was inserted and
        deleted within the range is reported as both.
        """
        if table.snapshot is None:
            raise NotSupportedError(f"the changes of {table.name} cannot be read: it is not transactional")
        span = change_span(table.name, change_range, table.snapshot.write_ids)
        changes = replace(table, changes=span)
        self.get_table_metadata(session, changes)
        return TableChanges(changes, row_id=(ROW_ID,) if table.full_acid else ())

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
    ) -> HiveTableHandle | None:
        """Rows that committed write ids inserted: new rows of updates, and rows deleted since, are included."""
        entry = self._transaction.client.get_table(name.schema, name.table)
        if entry is None:
            return None
        handle = self._handle(entry)
        if handle.snapshot is None:
            raise _no_stream(name)
        rows = streamed_rows(name, handle.snapshot, start, end, changes=changes)
        made = replace(handle, snapshot=rows.snapshot, changes=rows.changes)
        if rows.changes is not None:
            # Also where the columns are hidden: the reader uses their names.
            with_change_columns(make_metadata(self._transaction.table(name), made), pa.int64())
        return made

    def get_view(self, session: ConnectorSession, name: SchemaTableName) -> ViewDefinition | None:
        """Of the transaction's own entry, which a read has asked for or is about to."""
        entry = self._transaction.client.get_table(name.schema, name.table)
        view = None if entry is None else view_definition(entry)
        if view is None or view.dialect is ViewDialect.TRINO or not self._config.get(VIEWS_AS_INVOKER):
            return view
        return replace(view, run_as_invoker=True)

    def redirect_table(self, session: ConnectorSession, name: SchemaTableName) -> TableRedirection | None:
        """Redirects a Hudi table to the hudi connector, over the same metastore and storage."""
        entry = self._transaction.client.get_table(name.schema, name.table)
        if entry is None:
            return None
        if not is_hudi(entry, self._files):
            # The handle, which is asked for next, needs not ask storage again.
            self._not_hudi[name] = entry
            return None
        return TableRedirection("hudi", name, self._config.texts((*metastore_kinds().properties, *SHARED_PROPERTIES)))

    def get_table_metadata(self, session: ConnectorSession, table: HiveTableHandle) -> TableMetadata:
        metadata = make_metadata(self._transaction.table(table.name), table)
        if table.changes is None or table.changes.inserts_only:
            return metadata
        return with_change_columns(metadata, pa.int64())

    def list_table_metadata(
        self, session: ConnectorSession, schema: str, names: Sequence[str]
    ) -> Iterator[TableMetadata | ViewDefinition]:
        """Tables without their snapshots; Hudi tables, which have their columns elsewhere, are left out."""
        for entry in self._transaction.client.get_tables(schema, names):
            # Whoever asks for the one table gets its error.
            with suppress(ConnectorError):
                view = view_definition(entry)
                if view is not None:
                    yield view
                elif not is_hudi(entry, self._files):
                    handle = make_handle(entry, self._files, may_be_hudi=False)
                    if is_transactional(entry.parameters):
                        # Whether there is a snapshot tells the columns; which one does not.
                        handle = replace(handle, snapshot=AcidSnapshot(ALL_VALID))
                    yield make_metadata(entry, handle)

    def get_column_handles(self, session: ConnectorSession, table: HiveTableHandle) -> Mapping[str, ColumnHandle]:
        return {column.name: column for column in table.all_columns}

    def get_system_table(self, session: ConnectorSession, name: SystemTableName) -> SystemTable | None:
        entry = self._transaction.client.get_table(name.base.schema, name.base.table)
        if entry is None:
            return None
        properties = {**entry.parameters, **entry.access.properties()}
        if name.kind == PropertiesTable.kind and properties:
            return PropertiesTable(name, properties)
        if name.kind == AcidTable.kind:
            return AcidTable(name, self._transaction, self._files, self._handle(entry))
        if name.kind == CompactionsTable.kind:
            return CompactionsTable(name, self.metastore, transactional=is_transactional(entry.parameters))
        if name.kind == PartitionsTable.kind and entry.partition_keys:
            return PartitionsTable(name, self._transaction.client, make_handle(entry, self._files))
        return None

    def list_system_table_kinds(self) -> Sequence[str]:
        return (AcidTable.kind, CompactionsTable.kind, PartitionsTable.kind, PropertiesTable.kind)

    @property
    def most_filter_values(self) -> int:
        return MOST_FILTER_VALUES

    def apply_filter(
        self, session: ConnectorSession, table: HiveTableHandle, constraint: Constraint
    ) -> FilterApplication | None:
        """Applies filters on partition keys fully; filters on other columns select files and parts of files."""
        if table.aggregation is not None:
            return None
        whole = set(table.all_columns).difference(ACID_HIDDEN_COLUMNS if table.full_acid else ())
        taken = table.constraint.intersect(constraint.summary.keep(lambda column: column in whole))
        either = table.alternatives or key_alternatives(table.partition_keys, constraint.expressions)
        new = tuple(one for one in dict.fromkeys(constraint.expressions) if one not in table.conditions)
        conditions = (*table.conditions, *new)
        if taken == table.constraint and either == table.alternatives and not new:
            return None
        keys = set(table.partition_keys)
        remaining = constraint.summary.keep(lambda column: column not in keys)
        return FilterApplication(
            replace(table, constraint=taken, alternatives=either, conditions=conditions), remaining
        )

    def apply_projection(
        self, session: ConnectorSession, table: HiveTableHandle, columns: tuple[ColumnHandle, ...]
    ) -> ProjectionApplication | None:
        if table.columns == columns or table.aggregation is not None:
            return None
        return ProjectionApplication(replace(table, columns=columns), columns)

    def apply_aggregation(
        self, session: ConnectorSession, table: HiveTableHandle, aggregation: Aggregation
    ) -> AggregationApplication | None:
        """Counts and bounds of Parquet and ORC files; grouped by partition keys at most.

        By footers, and by reading the files with rows that may be deleted or not visible.
        """
        if not _is_aggregated_by_footers(table, aggregation):
            return None
        return AggregationApplication(
            replace(table, aggregation=aggregation), aggregated_columns(aggregation), complete=False
        )

    def apply_top_n(
        self, session: ConnectorSession, table: HiveTableHandle, count: int, order: tuple[SortItem, ...]
    ) -> TopNApplication | None:
        """Leaves out files whose footers, or partition keys, say that they hold none of the first rows."""
        if table.top_n is not None or count < 1 or not is_ordered_by_statistics(table, order[0]):
            return None
        return TopNApplication(replace(table, top_n=TopN(count, order[0])), guaranteed=False)

    def list_partitions(
        self, session: ConnectorSession, table: HiveTableHandle, constraint: TupleDomain[str]
    ) -> Sequence[tuple[object, ...]]:
        keys = {key.name: key for key in table.partition_keys}
        if not keys:
            return ()
        wanted = constraint.transform_keys(keys.get)
        kept = prune_partitions(self._transaction.client, table, wanted).kept
        return [tuple(value for _, value in partition.values) for partition in kept]

    def _write_ids(self, name: SchemaTableName, entry: Table) -> ValidIds:
        if not is_transactional(entry.parameters):
            raise _no_stream(name)
        return self._transaction.write_ids(name)

    def _handle(self, entry: Table) -> HiveTableHandle:
        """The handle with the snapshot of a transactional table."""
        name = SchemaTableName(entry.database, entry.name)
        handle = make_handle(entry, self._files, may_be_hudi=self._not_hudi.get(name) is not entry)
        if not is_transactional(entry.parameters):
            return handle
        snapshot = self._transaction.snapshot(handle.name)
        # The table may have changed while its lock was waited for; usually the entry is the known one.
        now = self._transaction.table(handle.name)
        return replace(handle if now is entry else make_handle(now, self._files), snapshot=snapshot)


def _is_aggregated_by_footers(table: HiveTableHandle, aggregation: Aggregation) -> bool:
    keys = frozenset(table.partition_keys)
    is_plain = table.changes is None and table.aggregation is None
    knows_filter = keys.issuperset(table.constraint.domains or ()) and not table.constraint.is_none
    knows_filter = knows_filter and not table.alternatives and not table.conditions
    if not is_plain or not knows_filter or table.format not in _WITH_FOOTERS:
        return False
    known = {*table.data_columns, *keys, None}
    if any(function.column not in known for function in aggregation.functions):
        return False
    return is_aggregated_by_footers(aggregation, keys)


def _no_stream(name: SchemaTableName) -> NotSupportedError:
    return NotSupportedError(
        f"{name} cannot be read as a stream: it is not transactional, so new rows cannot be identified"
    )
