"""What the driver remembers during one transaction: snapshots and scan plans."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InvalidArgumentError
from connector_spi.handles import ColumnHandle
from connector_spi.metadata import ConnectorMetadata, TableVersion, VersionKind
from connector_spi.optional.changes import ChangeRange
from connector_spi.predicate import Domain, TupleDomain
from connectors.hudi.changes.handles import HudiChangesHandle
from connectors.hudi.changes.incremental import incremental_handle, plan_writes
from connectors.hudi.changes.planning import GroupChange, changes_handle, feed_handle, plan_changes
from connectors.hudi.error_codes import HUDI_BAD_OPTION
from connectors.hudi.handles import HudiTableHandle
from connectors.hudi.metadata_table.table import MetadataTable, metadata_errors, open_metadata_table
from connectors.hudi.planning.scan import ScanPlan, plan_scan
from connectors.hudi.read_options import HudiReadOptions, QueryType
from connectors.hudi.snapshots.snapshot import HudiSnapshot, open_snapshot
from connectors.hudi.snapshots.time_travel import instant_of, snapshot_at
from connectors.hudi.streaming import batch_handle
from connectors.hudi.timeline.view import TimelineView
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["HudiTransaction", "partition_domains"]


class HudiTransaction(ConnectorTransaction):
    """One transaction. A table is opened once in it: all its uses see one instant.

    Args:
        files: Storage.
        pool: Folders are listed in it.

    Attributes:
        files: Storage.
        metadata: The connector's answers within the transaction, set by it.
    """

    def __init__(self, files: FileSystem, pool: ThreadPoolExecutor) -> None:
        super().__init__()
        self.files = files
        self._pool = pool
        self._opened: dict[str, HudiSnapshot] = {}
        self._snapshots: dict[tuple[str, TimelineView], HudiSnapshot] = {}
        self._plans: dict[tuple[HudiTableHandle, TupleDomain[str]], ScanPlan] = {}
        self._metadata_tables: dict[tuple[str, TimelineView], MetadataTable] = {}
        self._guard = threading.RLock()
        self.metadata: ConnectorMetadata | None = None

    def open(self, location: str) -> HudiSnapshot:
        """The table at its newest completed write when the transaction first met it."""
        with self._guard:
            found = self._opened.get(location)
            if found is None:
                found = open_snapshot(self.files, location)
                self._opened[location] = found
                self._snapshots[location, found.view] = found
            return found

    def open_at(self, location: str, version: TableVersion, session_zone: str) -> HudiSnapshot:
        """The table as ``VERSION AS OF`` or ``TIMESTAMP AS OF`` says.

        Raises:
            InvalidArgumentError: It names no instant of the table that can still be read; says what is left.
        """
        newest = self.open(location)
        found = snapshot_at(newest, instant_of(newest, version, session_zone))
        with self._guard:
            return self._snapshots.setdefault((location, found.view), found)

    def with_options(
        self, table: HudiTableHandle, options: HudiReadOptions, session_zone: str
    ) -> HudiTableHandle | HudiChangesHandle:
        """The table as read options ask for it; some choose other columns.

        Raises:
            InvalidArgumentError: The options name no instants of the table that can still be read.
            NotSupportedError: The table cannot be read so.
        """
        if options.query_type is not None and table.config.merge_on_read:
            table = replace(table, read_optimized=options.query_type is QueryType.READ_OPTIMIZED)
        wants_time = options.as_of is not None or options.query_type is QueryType.INCREMENTAL
        if wants_time and table.view.until is not None:
            raise InvalidArgumentError(
                f"{table.name} is read AS OF an instant and with options that name another; leave one out",
                HUDI_BAD_OPTION,
            )
        if options.feed:
            whole = replace(table, read_optimized=False)
            return feed_handle(self.snapshot(whole), whole, options, session_zone)
        if options.query_type is QueryType.INCREMENTAL:
            made = incremental_handle(self.snapshot(table), table, options, session_zone)
            return self._covered(made) if options.full_scan else made
        if options.as_of is None:
            return table
        version = TableVersion(VersionKind.VERSION, options.as_of)
        snapshot = self.open_at(table.location, version, session_zone)
        return replace(table, view=snapshot.view, metastore_partitions=False)

    def _covered(self, table: HudiTableHandle) -> HudiTableHandle:
        """The handle of an incremental query; of a full scan, where files of the range are gone."""
        if table.writes is None or table.written_in is None:
            return table
        try:
            plan_writes(self.snapshot(table), table, {}, self._pool)
        except InvalidArgumentError:
            return replace(table, writes=replace(table.writes, full_scan=True))
        return table

    def changes(self, table: HudiTableHandle, change_range: ChangeRange, session_zone: str) -> HudiChangesHandle:
        """The changes of a range of writes in a table.

        Raises:
            InvalidArgumentError: The range is not one of the table.
            NotSupportedError: The table does not tell its changes.
        """
        return changes_handle(self.snapshot(table), table, change_range, session_zone)

    def stream_batch(
        self, table: HudiTableHandle, start: str, end: str, session_zone: str, *, changes: bool
    ) -> HudiTableHandle | HudiChangesHandle:
        """The rows between two places of a stream, as of ``streaming.batch_handle``."""
        return batch_handle(self.snapshot(table), table, start, end, session_zone, changes=changes)

    def plan_changes(self, changes: HudiChangesHandle, by_logs: bool) -> list[GroupChange]:
        """What has to be read to tell changes; ``by_logs`` as of ``changes.plan_changes``."""
        # The columns of a change feed are not those of the table, even where they have the names of partition fields.
        domains = {} if changes.is_feed else partition_domains(changes.table, changes.constraint)
        return plan_changes(self.snapshot(changes.table), changes, domains, by_logs, self._pool)

    def snapshot(self, table: HudiTableHandle) -> HudiSnapshot:
        """The snapshot of a handle, which may be of another transaction: its view is taken, never asked again."""
        with self._guard:
            key = (table.location, table.view)
            if key not in self._snapshots:
                newest = self._opened.get(table.location)
                made = HudiSnapshot(self.files, table.location, table.config, table.view)
                # What was read of the archive is not read again.
                self._snapshots[key] = made if newest is None else newest.with_view(table.view)
            return self._snapshots[key]

    def metadata_table(self, table: HudiTableHandle) -> MetadataTable | None:
        """The metadata table of a table, where the session lets it be used and it can be."""
        if not table.indexes.files or not table.config.metadata_partitions:
            return None
        try:
            return self._metadata_table(self.snapshot(table))
        except metadata_errors:
            return None

    def plan(self, table: HudiTableHandle, constraint: TupleDomain[ColumnHandle]) -> ScanPlan:
        """The base files of a scan, the same ones each time.

        Args:
            table: The table.
            constraint: What its rows fit; the partition fields prune here, and what the metadata table knows of.
        """
        domains = _planning_domains(table, constraint)
        # What was pushed does not choose the files, but for these fields.
        plain = replace(table, constraint=TupleDomain.all())
        key = (plain, TupleDomain.with_column_domains(domains))
        with self._guard:
            found = self._plans.get(key)
        if found is None:
            snapshot = self.snapshot(table)
            if table.merged_writes is None:
                found = plan_scan(snapshot, table, domains, self._pool, partial(self._metadata_table, snapshot))
            else:
                found = plan_writes(snapshot, table, domains, self._pool)
            with self._guard:
                self._plans[key] = found
        return found

    def _metadata_table(self, snapshot: HudiSnapshot) -> MetadataTable:
        key = (snapshot.location, snapshot.view)
        with self._guard:
            found = self._metadata_tables.get(key)
        if found is None:
            found = open_metadata_table(snapshot, self._pool)
            with self._guard:
                self._metadata_tables[key] = found
        return found


def partition_domains(table: HudiTableHandle, constraint: TupleDomain[ColumnHandle]) -> dict[str, Domain]:
    """The part of a filter that is about partition fields, by name."""
    fields = frozenset(table.config.partition_fields)
    return {column.name: domain for column, domain in dict(constraint.domains or {}).items() if column.name in fields}


def _planning_domains(table: HudiTableHandle, constraint: TupleDomain[ColumnHandle]) -> dict[str, Domain]:
    use = table.indexes
    if not (use.files and (use.partition_stats or use.column_stats or use.record_index)):
        return partition_domains(table, constraint)
    # With the list of files alone, other columns tell nothing.
    if not {*table.config.metadata_partitions} - {"files"}:
        return partition_domains(table, constraint)
    return {column.name: domain for column, domain in dict(constraint.domains or {}).items()}
