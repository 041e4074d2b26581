"""From a table handle to splits. Driver side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pyarrow as pa

from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connector_spi.splits import ListSplitSource, ScanSummary, SplitManager, SplitSource
from connectors.hudi.changes.handles import CHANGE_COLUMNS, HudiChangesHandle, HudiChangeSplit
from connectors.hudi.changes.planning import plan_changes
from connectors.hudi.config import IGNORE_ABSENT_PARTITIONS, MAX_SPLIT_SIZE
from connectors.hudi.handles import HudiSplit, HudiTableHandle
from connectors.hudi.hidden_columns import FILE_MODIFIED_TIME
from connectors.hudi.metadata_table.opening import usable_metadata_table
from connectors.hudi.planning.bootstrap import bootstrap_sources
from connectors.hudi.planning.file_slice_plan import FileSlicePlan, PartitionSlices
from connectors.hudi.planning.first_slices import first_slices
from connectors.hudi.planning.kept_splits import KeptSplits, KeptSplitsKey
from connectors.hudi.planning.listing import count_partitions
from connectors.hudi.planning.missing_partitions import MissingPartitions
from connectors.hudi.planning.native_reading import NativeReading
from connectors.hudi.planning.planner import partition_domains, plan_table
from connectors.hudi.planning.scan import check_readable, with_modified_times
from connectors.hudi.planning.scan_guard import check_partition_filter
from connectors.hudi.planning.slice_splits import RangeSplits, SliceSplits
from connectors.hudi.schema.table_schema import META_COLUMNS
from connectors.hudi.snapshots.opening import snapshot_of
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.transaction import HudiTransaction
from connectors.toolkit.read.aggregation import file_columns

__all__ = ["HudiSplitManager"]

_BATCH = 1000
_NATIVE_FORMAT = "parquet"
_MOST_KEPT = 100_000


class HudiSplitManager(SplitManager):
    """Makes one split for each file slice, large base files cut into ranges.

    Args:
        pool: Reads of many commits and footers happen in it.
        missing: Finds partitions of the metastore that storage lacks.
    """

    def __init__(self, pool: ThreadPoolExecutor, missing: MissingPartitions) -> None:
        self._pool = pool
        self._missing = missing

    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource:
        if isinstance(table, HudiChangesHandle) and isinstance(transaction, HudiTransaction):
            changes = replace(table, constraint=table.constraint.intersect(dynamic_filter))
            return self._changes(transaction, changes, columns)
        if not isinstance(table, HudiTableHandle) or not isinstance(transaction, HudiTransaction):
            raise InternalError(f"expected a Hudi table, met {type(table).__name__}")
        if table.aggregation is not None:
            columns = file_columns(table.aggregation, frozenset())
        constraint = table.constraint.intersect(dynamic_filter)
        if constraint.is_none:
            return ListSplitSource((), ScanSummary(snapshot=table.snapshot, partitions_kept=0, files_kept=0))
        check_partition_filter(table, session)
        plan = self._plan(transaction, table, constraint, is_whole=dynamic_filter.is_all)
        if table.metastore_partitions and not session.get(IGNORE_ABSENT_PARTITIONS):
            self._missing.check(table, partition_domains(table, constraint), plan, session.user)
        snapshot = snapshot_of(transaction, table)
        max_size = session.get(MAX_SPLIT_SIZE)
        is_opened = _NATIVE_FORMAT in session.opened_formats
        is_reached = is_opened or not transaction.files.has_settings(table.location)
        key = KeptSplitsKey(table, columns, constraint, max_size, is_reached)
        counts = session.is_explained and bool(plan.unlisted) and plan.pruned is not None
        kept = snapshot.memory.find(key) if not counts else None
        if kept is not None:
            return ListSplitSource(kept.splits, kept.summary)
        check_readable(snapshot, table, plan)
        has_times = FILE_MODIFIED_TIME in {column.name for column in (*columns, *dict(constraint.domains or {}))}
        if has_times:
            plan = with_modified_times(snapshot, plan, self._pool)
        if counts and plan.pruned is not None:
            fields = len(table.partition_paths.fields)
            found = count_partitions(snapshot.files, snapshot.location, plan.unlisted, fields, self._pool)
            plan = replace(plan, pruned=plan.pruned + found, unlisted=())
        slices, schemas = self._slice_splits(snapshot, table, plan)
        is_possible = is_reached and table.aggregation is None
        native = NativeReading(table, columns, schemas, is_possible=is_possible)
        splits = RangeSplits(slices, columns, constraint, native, max_size)
        # When files that the metadata table lists were written is asked anew each time.
        keeps = plan.is_lasting and not has_times
        return HudiSplitSource(table, plan, splits, partial(snapshot.memory.put, key) if keeps else None)

    def _plan(
        self,
        transaction: HudiTransaction,
        table: HudiTableHandle,
        constraint: TupleDomain[ColumnHandle],
        *,
        is_whole: bool,
    ) -> FileSlicePlan:
        """What is read; ``is_whole`` says that no filter came at run time, which the first rows would not fit."""
        plan = plan_table(transaction, replace(table, top_n=None), constraint)
        metadata = usable_metadata_table(transaction, table) if table.top_n is not None and is_whole else None
        return plan if metadata is None or table.top_n is None else first_slices(metadata, plan, table.top_n)

    def _changes(
        self, transaction: HudiTransaction, changes: HudiChangesHandle, columns: tuple[ColumnHandle, ...]
    ) -> SplitSource:
        if changes.constraint.is_none or not changes.writes:
            return ListSplitSource((), ScanSummary(snapshot=changes.words, partitions_kept=0, files_kept=0))
        snapshot = snapshot_of(transaction, changes.table)
        # The columns of a change feed are not those of the table, even where they have the names of partition fields.
        domains = {} if changes.is_feed else partition_domains(changes.table, changes.constraint)
        found = plan_changes(snapshot, changes, domains, _by_logs(changes, columns), self._pool)
        sides = [tuple(side for side in (change.before, change.after) if side) for change in found]
        plan = FileSlicePlan(
            tuple(PartitionSlices(change.partition, both) for change, both in zip(found, sides, strict=True)), None
        )
        check_readable(snapshot, changes.table, plan)
        slices, _ = self._slice_splits(snapshot, changes.table, plan)
        splits = [
            HudiChangeSplit(
                change.write,
                None if change.before is None else slices.whole(change.partition, change.before),
                None if change.after is None else slices.whole(change.partition, change.after),
                change.change_logs,
            )
            for change in found
        ]
        return ListSplitSource(splits, ScanSummary(snapshot=changes.words, files_kept=len(splits)))

    def _slice_splits(
        self, snapshot: HudiSnapshot, table: HudiTableHandle, plan: FileSlicePlan
    ) -> tuple[SliceSplits, Mapping[str, pa.Schema | None]]:
        """What makes splits of the slices, and the user columns of base files, by the write that made them."""
        # First: a skeleton file without its original is refused by name, before any footer is read.
        sources = bootstrap_sources(snapshot, plan)
        samples = {file.name.instant: file.path for file in plan.base_files}
        found = self._pool.map(lambda item: snapshot.written_schema(*item), samples.items())
        schemas = dict(zip(samples, found, strict=True))
        return SliceSplits(table, schemas, sources), schemas


class HudiSplitSource(SplitSource):
    """Splits in the order of partition path and file group id.

    Args:
        table: The table.
        plan: What is read.
        splits: Makes the splits.
        keep: Takes all of them with their summary, once they were made.
    """

    def __init__(
        self,
        table: HudiTableHandle,
        plan: FileSlicePlan,
        splits: RangeSplits,
        keep: Callable[[KeptSplits], None] | None = None,
    ) -> None:
        self._table = table
        self._plan = plan
        self._splits = splits
        self._keep = keep

    def __iter__(self) -> Iterator[Sequence[HudiSplit]]:
        made: list[HudiSplit] = []
        batch: list[HudiSplit] = []
        for partition in self._plan.partitions:
            batch.extend(self._splits.of(partition))
            if len(batch) >= _BATCH:
                yield batch
                if len(made) <= _MOST_KEPT:
                    made += batch
                batch = []
        yield batch
        if self._keep is not None and len(made) <= _MOST_KEPT:
            self._keep(KeptSplits((*made, *batch), self.summary()))

    def summary(self) -> ScanSummary:
        files = sum(len(partition.slices) for partition in self._plan.partitions)
        return ScanSummary(
            snapshot=self._table.snapshot,
            partitions_kept=self._plan.partitions_kept,
            partitions_total=self._plan.partitions_total,
            files_kept=files - self._splits.files_pruned,
            files_total=files + self._plan.skipped,
            notes=self._plan.notes,
        )


def _by_logs(changes: HudiChangesHandle, columns: tuple[ColumnHandle, ...]) -> bool:
    """Whether logs of changes may be read: they have the rows without the meta columns and the hidden ones."""
    if not changes.change_logs or changes.table.history is not None:
        return False
    logged = set(changes.table.schema.names) - set(META_COLUMNS) | {name for name, _ in CHANGE_COLUMNS}
    return changes.is_feed or all(column.name in logged for column in columns)
