"""Metadata that shows and does what an identity may: reading, beyond what every connector has. Driver side."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from catalog.guard.compiler import ACCESS_CONTROL_EXPRESSION
from catalog.guard.handles import GuardedTable
from catalog.guard.metadata import GuardedMetadata, guarded_table
from connector_spi.errors import AccessDeniedError, NotSupportedError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.metadata import (
    LimitApplication,
    SupportsColumnStatistics,
    SupportsFooterStatistics,
    SupportsLimit,
    SupportsPartitionListing,
    SupportsStatistics,
    SupportsTableRedirection,
    SupportsTimeTravel,
    TableRedirection,
    TableVersion,
)
from connector_spi.names import SchemaTableName, SystemTableName
from connector_spi.optional.aggregation import Aggregation, AggregationApplication, SupportsAggregation
from connector_spi.optional.changes import ChangeRange, SupportsChanges, TableChanges
from connector_spi.optional.definitions import SupportsViews, ViewDefinition
from connector_spi.optional.listing import SupportsTableListing
from connector_spi.optional.partitioning import SupportsSortOrder, SupportsTablePartitioning, TablePartitioning
from connector_spi.optional.read_options import SupportsReadOptions
from connector_spi.optional.streaming import StreamStart, SupportsStreaming
from connector_spi.optional.top_n import SortItem, SupportsTopN, TopNApplication
from connector_spi.predicate import TupleDomain, Value
from connector_spi.schema import TableMetadata
from connector_spi.session import ConnectorSession
from connector_spi.statistics import TableStatistics

__all__ = ["READING"]


class _Redirection(GuardedMetadata):
    def redirect_table(self, session: ConnectorSession, name: SchemaTableName) -> TableRedirection | None:
        try:
            self.checks.visible(session.identity, name)
        except AccessDeniedError:
            # Its handle is asked for next, and denied; what this finds on the way may say where the table lies.
            return None
        return cast(SupportsTableRedirection, self.metadata).redirect_table(session, name)


class _Limit(GuardedMetadata):
    def apply_limit(self, session: ConnectorSession, table: TableHandle, limit: int) -> LimitApplication | None:
        guarded = guarded_table(table)
        if guarded.policy is not None:
            return None  # the connector does not know which of its rows are seen
        taken = cast(SupportsLimit, self.metadata).apply_limit(session, guarded.table, limit)
        return None if taken is None else replace(taken, table=guarded.of(taken.table))


class _TopN(GuardedMetadata):
    def apply_top_n(
        self, session: ConnectorSession, table: TableHandle, count: int, order: Sequence[SortItem]
    ) -> TopNApplication | None:
        guarded = guarded_table(table)
        if guarded.policy is not None:
            return None
        taken = cast(SupportsTopN, self.metadata).apply_top_n(session, guarded.table, count, tuple(order))
        return None if taken is None else replace(taken, table=guarded.of(taken.table))


class _Aggregation(GuardedMetadata):
    def apply_aggregation(
        self, session: ConnectorSession, table: TableHandle, aggregation: Aggregation
    ) -> AggregationApplication | None:
        guarded = guarded_table(table)
        if guarded.policy is not None:
            return None
        taken = cast(SupportsAggregation, self.metadata).apply_aggregation(session, guarded.table, aggregation)
        if taken is None:
            return None
        columns = (*aggregation.keys, *(one.column for one in aggregation.functions if one.column is not None))
        names = tuple(column.name for column in columns)
        self.checks.select(session.identity, guarded.name, names)
        return replace(taken, table=replace(guarded, table=taken.table, aggregated=names))


class _Statistics(GuardedMetadata):
    def get_table_statistics(self, session: ConnectorSession, table: TableHandle) -> TableStatistics:
        guarded = guarded_table(table)
        self.checks.select(session.identity, guarded.name, ())
        if guarded.policy is not None:
            return TableStatistics()
        return _shown(guarded, cast(SupportsStatistics, self.metadata).get_table_statistics(session, guarded.table))


class _ColumnStatistics(GuardedMetadata):
    def get_column_statistics(self, session: ConnectorSession, table: TableHandle) -> TableStatistics:
        guarded = guarded_table(table)
        self.checks.select(session.identity, guarded.name, ())
        if guarded.policy is not None:
            return TableStatistics()
        metadata = cast(SupportsColumnStatistics, self.metadata)
        return _shown(guarded, metadata.get_column_statistics(session, guarded.table))


class _FooterStatistics(GuardedMetadata):
    def get_footer_statistics(
        self, session: ConnectorSession, table: TableHandle, splits: Sequence[Split], columns: Sequence[ColumnHandle]
    ) -> TableStatistics | None:
        guarded = guarded_table(table)
        self.checks.select(session.identity, guarded.name, ())
        # Files know nothing of row filters and masks.
        if not guarded.is_whole or guarded.unreadable:
            return None
        metadata = cast(SupportsFooterStatistics, self.metadata)
        return metadata.get_footer_statistics(session, guarded.table, splits, columns)


class _TimeTravel(GuardedMetadata):
    def get_table_handle_at(
        self, session: ConnectorSession, name: SchemaTableName, version: TableVersion
    ) -> TableHandle | None:
        # An error about a version says where the table lies, and which versions there are.
        self.checks.visible(session.identity, name)
        self.checks.select(session.identity, name, ())
        found = cast(SupportsTimeTravel, self.metadata).get_table_handle_at(session, name, version)
        return self.guarded(session, name, found)


class _PartitionListing(GuardedMetadata):
    def list_partitions(
        self, session: ConnectorSession, table: TableHandle, constraint: TupleDomain[str]
    ) -> Sequence[tuple[object, ...]]:
        guarded = guarded_table(table)
        keys = self.metadata.get_table_metadata(session, guarded.table).partitioned_by
        self.checks.select(session.identity, guarded.name, keys)
        if guarded.policy is not None or guarded.hidden.intersection(keys):
            raise AccessDeniedError(
                f"Access Denied: Cannot show partitions of table {self.checks.full(guarded.name)}: rows or values of "
                "it are hidden"
            )
        return cast(SupportsPartitionListing, self.metadata).list_partitions(session, guarded.table, constraint)


class _TablePartitioning(GuardedMetadata):
    def get_table_partitioning(self, session: ConnectorSession, table: TableHandle) -> TablePartitioning | None:
        guarded = guarded_table(table)
        # Keys of splits are values of all rows, without masks.
        if not guarded.is_whole or guarded.unreadable:
            return None
        return cast(SupportsTablePartitioning, self.metadata).get_table_partitioning(session, guarded.table)

    def get_partition_keys(
        self, session: ConnectorSession, table: TableHandle, splits: Sequence[Split], asked: TablePartitioning
    ) -> Sequence[tuple[Value | None, ...]] | None:
        guarded = guarded_table(table)
        if not guarded.is_whole or guarded.unreadable:
            return None
        metadata = cast(SupportsTablePartitioning, self.metadata)
        return metadata.get_partition_keys(session, guarded.table, splits, asked)


class _SortOrder(GuardedMetadata):
    def get_sort_order(
        self, session: ConnectorSession, table: TableHandle, groups: Sequence[Sequence[Split]]
    ) -> Sequence[SortItem]:
        guarded = guarded_table(table)
        # It is the order of the values themselves, without masks.
        if not guarded.is_whole or guarded.unreadable:
            return ()
        return cast(SupportsSortOrder, self.metadata).get_sort_order(session, guarded.table, groups)


class _Changes(GuardedMetadata):
    def get_changes(self, session: ConnectorSession, table: TableHandle, change_range: ChangeRange) -> TableChanges:
        guarded = guarded_table(table)
        self.checks.select(session.identity, guarded.name, ())
        found = cast(SupportsChanges, self.metadata).get_changes(session, guarded.table, change_range)
        changes = self.guarded(session, guarded.name, found.table)
        assert changes is not None
        self.refuse_lost(session, guarded, changes)
        # Net changes go by hidden columns where there are such, which are not shown.
        row_id = () if changes.hidden.intersection(found.row_id) else found.row_id
        return replace(found, table=changes, row_id=row_id)


class _Views(GuardedMetadata):
    def get_view(self, session: ConnectorSession, name: SchemaTableName) -> ViewDefinition | None:
        system = SystemTableName.parse(name)
        self.checks.visible(session.identity, name if system is None else system.base)
        view = cast(SupportsViews, self.metadata).get_view(session, name)
        return None if view is None else self.shown_view(session, view)

    def list_views(self, session: ConnectorSession, schema: str) -> Sequence[SchemaTableName]:
        names = cast(SupportsViews, self.metadata).list_views(session, schema)
        shown = self.checks.tables(session.identity, names)
        return [name for name in names if name in shown]

    def shown_view(self, session: ConnectorSession, view: ViewDefinition) -> ViewDefinition:
        """A view whose rows may be read; the tables below it are checked when they are read, as of who asks."""
        columns = [column.name for column in view.columns]
        self.checks.select(session.identity, view.name, columns)
        _refuse_filtered(self, session, view.name, columns)
        return view


class _TableListing(GuardedMetadata):
    def list_table_metadata(
        self, session: ConnectorSession, schema: str, names: Sequence[str]
    ) -> Iterator[TableMetadata | ViewDefinition]:
        known = [SchemaTableName(schema, name) for name in names]
        shown = self.checks.tables(session.identity, known)
        asked = [name.table for name in known if name in shown]
        listed = cast(SupportsTableListing, self.metadata).list_table_metadata(session, schema, asked)
        for one in listed:
            columns = [column.name for column in one.columns]
            # Whoever sees a part of a table, or no properties, gets that from its own handle.
            if self._is_whole(session, one.name, columns):
                yield one

    def _is_whole(self, session: ConnectorSession, name: SchemaTableName, columns: Collection[str]) -> bool:
        identity = session.identity
        try:
            self.checks.check(lambda control: control.check_can_show_create_table(identity, self.checks.full(name)))
        except AccessDeniedError:
            return False
        filters, masks = self.checks.expressions(identity, name, columns)
        return not filters and not masks and len(self.checks.columns(identity, name, columns)) == len(columns)


class _ReadOptions(GuardedMetadata):
    def apply_read_options(
        self, session: ConnectorSession, table: TableHandle, options: Mapping[str, str]
    ) -> TableHandle:
        guarded = guarded_table(table)
        self.checks.select(session.identity, guarded.name, ())
        found = cast(SupportsReadOptions, self.metadata).apply_read_options(session, guarded.table, options)
        again = self.guarded(session, guarded.name, found)
        assert again is not None
        self.refuse_lost(session, guarded, again)
        return again


class _Streaming(GuardedMetadata):
    @property
    def stream_option_names(self) -> Mapping[str, str]:
        return cast(SupportsStreaming, self.metadata).stream_option_names

    def get_initial_offset(self, session: ConnectorSession, name: SchemaTableName, start: StreamStart) -> str | None:
        self.checks.visible(session.identity, name)
        self.checks.select(session.identity, name, ())
        return cast(SupportsStreaming, self.metadata).get_initial_offset(session, name, start)

    def get_latest_offset(
        self,
        session: ConnectorSession,
        name: SchemaTableName,
        offset: str,
        max_versions: int | None = None,
        until: str | None = None,
    ) -> str | None:
        self.checks.select(session.identity, name, ())
        return cast(SupportsStreaming, self.metadata).get_latest_offset(session, name, offset, max_versions, until)

    def get_stream_batch(
        self, session: ConnectorSession, name: SchemaTableName, start: str, end: str, *, changes: bool
    ) -> TableHandle | None:
        self.checks.visible(session.identity, name)
        self.checks.select(session.identity, name, ())
        found = cast(SupportsStreaming, self.metadata).get_stream_batch(session, name, start, end, changes=changes)
        batch = self.guarded(session, name, found)
        plain = None if batch is None else self.guarded(session, name, self.metadata.get_table_handle(session, name))
        if batch is not None and plain is not None:
            self.refuse_lost(session, plain, batch)
        return batch


def _shown(table: GuardedTable, known: TableStatistics) -> TableStatistics:
    unseen = table.hidden | table.unreadable
    return replace(known, columns=tuple(one for one in known.columns if one[0] not in unseen))


def _refuse_filtered(
    metadata: GuardedMetadata, session: ConnectorSession, name: SchemaTableName, columns: Sequence[str]
) -> None:
    """The engine reads what is below a view: row filters and masks of a view itself would not be looked at."""
    filters, masks = metadata.checks.expressions(session.identity, name, columns)
    if filters or masks or len(metadata.checks.columns(session.identity, name, columns)) < len(columns):
        raise NotSupportedError(
            f"the view {metadata.checks.full(name)} has row filters, column masks or hidden columns in the access "
            "control, which hold for tables only; put them on the tables below it",
            ACCESS_CONTROL_EXPRESSION,
        )


READING: tuple[tuple[type, type[GuardedMetadata]], ...] = (
    (SupportsTableRedirection, _Redirection),
    (SupportsLimit, _Limit),
    (SupportsTopN, _TopN),
    (SupportsAggregation, _Aggregation),
    (SupportsStatistics, _Statistics),
    (SupportsColumnStatistics, _ColumnStatistics),
    (SupportsFooterStatistics, _FooterStatistics),
    (SupportsTimeTravel, _TimeTravel),
    (SupportsPartitionListing, _PartitionListing),
    (SupportsTablePartitioning, _TablePartitioning),
    (SupportsSortOrder, _SortOrder),
    (SupportsChanges, _Changes),
    (SupportsViews, _Views),
    (SupportsTableListing, _TableListing),
    (SupportsReadOptions, _ReadOptions),
    (SupportsStreaming, _Streaming),
)
"""What metadata may offer for reading, and the class that guards it."""
