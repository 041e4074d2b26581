"""From a table handle to splits. Driver side."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow as pa

from connector_spi.connector_transaction import ConnectorTransaction
from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, TableHandle
from connector_spi.predicate import Domain, TupleDomain, Value
from connector_spi.session import ConnectorSession
from connector_spi.splits import ListSplitSource, ScanSummary, SplitManager, SplitSource
from connectors.hudi.changes.handles import CHANGE_COLUMNS, HudiChangesHandle, HudiChangeSplit
from connectors.hudi.config import IGNORE_ABSENT_PARTITIONS, MAX_SPLIT_SIZE
from connectors.hudi.file_group.slices import FileSlice
from connectors.hudi.handles import FILE_MODIFIED_TIME, LOG_ONLY, HudiSplit, HudiTableHandle, LogFile, SourceFile
from connectors.hudi.page_source import hidden_values
from connectors.hudi.planning.bootstrap import bootstrap_sources
from connectors.hudi.planning.missing_partitions import AbsentPartitions
from connectors.hudi.planning.native_columns import is_plain_type
from connectors.hudi.planning.scan import PartitionSlices, ScanPlan, check_readable, with_modified_times
from connectors.hudi.scan_guard import check_partition_filter
from connectors.hudi.schema.table_schema import META_COLUMNS
from connectors.hudi.snapshots.snapshot import HudiSnapshot
from connectors.hudi.transaction import HudiTransaction, partition_domains

__all__ = ["HudiSplitManager"]

_BATCH = 1000
# Paths that mean the same with and without percent-encoding.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/:._=+~@,-]+")


class HudiSplitManager(SplitManager):
    """Makes one split for each file slice, large base files cut into ranges.

    Args:
        pool: Reads of many commits and footers happen in it.
        absent: Finds partitions of the metastore that storage lacks.
    """

    def __init__(self, pool: ThreadPoolExecutor, absent: AbsentPartitions) -> None:
        self._pool = pool
        self._absent = absent

    def get_splits(
        self,
        transaction: ConnectorTransaction,
        session: ConnectorSession,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource:
        if isinstance(table, HudiChangesHandle) and isinstance(transaction, HudiTransaction):
            return self._changes(transaction, table, columns, dynamic_filter)
        if not isinstance(table, HudiTableHandle) or not isinstance(transaction, HudiTransaction):
            raise InternalError(f"expected a Hudi table, met {type(table).__name__}")
        constraint = table.constraint.intersect(dynamic_filter)
        if constraint.is_none:
            return ListSplitSource((), ScanSummary(snapshot=table.snapshot, partitions_kept=0, files_kept=0))
        check_partition_filter(table, session)
        plan = transaction.plan(table, constraint)
        if table.metastore_partitions and not session.get(IGNORE_ABSENT_PARTITIONS):
            self._absent.check(table, partition_domains(table, constraint), plan, session.user)
        snapshot = transaction.snapshot(table)
        check_readable(snapshot, table, plan)
        if FILE_MODIFIED_TIME in {column.name for column in (*columns, *dict(constraint.domains or {}))}:
            plan = with_modified_times(snapshot, plan, self._pool)
        sources = bootstrap_sources(snapshot, plan)
        schemas = self._written_schemas(snapshot, plan)
        maker = _SplitMaker(table, columns, constraint, schemas, sources, session.get(MAX_SPLIT_SIZE))
        maker.never_plain = transaction.files.has_settings(table.location)
        return HudiSplitSource(table, plan, maker)

    def _changes(
        self,
        transaction: HudiTransaction,
        changes: HudiChangesHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> SplitSource:
        constraint = changes.constraint.intersect(dynamic_filter)
        if constraint.is_none or not changes.writes:
            return ListSplitSource((), ScanSummary(snapshot=changes.words, partitions_kept=0, files_kept=0))
        # Logs of changes have the rows without the meta columns and the hidden ones.
        user = set(changes.table.schema.names) - set(META_COLUMNS) | {name for name, _ in CHANGE_COLUMNS}
        by_logs = changes.change_logs and changes.table.history is None
        by_logs = by_logs and (changes.is_feed or all(column.name in user for column in columns))
        found = transaction.plan_changes(replace(changes, constraint=constraint), by_logs)
        plan = ScanPlan(
            tuple(
                PartitionSlices(change.partition, tuple(side for side in (change.before, change.after) if side))
                for change in found
            ),
            None,
        )
        snapshot = transaction.snapshot(changes.table)
        check_readable(snapshot, changes.table, plan)
        everything = TupleDomain[ColumnHandle].all()
        sources, schemas = bootstrap_sources(snapshot, plan), self._written_schemas(snapshot, plan)
        maker = _SplitMaker(changes.table, (), everything, schemas, sources, sys.maxsize)

        def whole(partition: PartitionSlices, side: FileSlice | None) -> HudiSplit | None:
            return next(iter(maker.splits(partition, side)), None) if side is not None else None

        splits = [
            HudiChangeSplit(
                change.write, whole(partition, change.before), whole(partition, change.after), change.change_logs
            )
            for change, partition in zip(found, plan.partitions, strict=True)
        ]
        return ListSplitSource(splits, ScanSummary(snapshot=changes.words, files_kept=len(splits)))

    def _written_schemas(self, snapshot: HudiSnapshot, plan: ScanPlan) -> dict[str, pa.Schema | None]:
        samples = {file.name.instant: file.path for file in plan.base_files}
        schemas = self._pool.map(lambda item: snapshot.written_schema(*item), samples.items())
        return dict(zip(samples, schemas, strict=True))


class HudiSplitSource(SplitSource):
    """Splits in the order of partition path and file group id."""

    def __init__(self, table: HudiTableHandle, plan: ScanPlan, maker: _SplitMaker) -> None:
        self._table = table
        self._plan = plan
        self._maker = maker

    def __iter__(self) -> Iterator[Sequence[HudiSplit]]:
        batch: list[HudiSplit] = []
        for partition in self._plan.partitions:
            for file_slice in partition.slices:
                batch.extend(self._maker.splits(partition, file_slice))
            if len(batch) >= _BATCH:
                yield batch
                batch = []
        yield batch

    def summary(self) -> ScanSummary:
        kept = sum(1 for partition in self._plan.partitions if partition.slices)
        files = sum(len(partition.slices) for partition in self._plan.partitions)
        return ScanSummary(
            snapshot=self._table.snapshot,
            partitions_kept=kept,
            partitions_total=None if self._plan.pruned is None else kept + self._plan.pruned,
            files_kept=files - self._maker.files_pruned,
            files_total=files + self._plan.skipped,
            notes=self._plan.notes,
        )


class _SplitMaker:
    """Makes the splits of one scan.

    Attributes:
        files_pruned: Files left out by what is known of them without opening.
        never_plain: No other reader can open the files.
    """

    def __init__(
        self,
        table: HudiTableHandle,
        columns: tuple[ColumnHandle, ...],
        constraint: TupleDomain[ColumnHandle],
        schemas: Mapping[str, pa.Schema | None],
        sources: Mapping[str, SourceFile],
        max_size: int,
    ) -> None:
        self._table = table
        self._paths = table.partition_paths
        self._columns = columns
        self._domains: dict[str, Domain] = {
            column.name: domain for column, domain in dict(constraint.domains or {}).items()
        }
        self._schemas = schemas
        self._sources = sources
        self._max_size = max_size
        self._plain: dict[tuple[str, frozenset[str]], bool] = {}
        self.files_pruned = 0
        self.never_plain = False

    def splits(self, partition: PartitionSlices, file_slice: FileSlice) -> Iterator[HudiSplit]:
        """The ranges of a slice's base file; none where constants alone say that no row fits."""
        whole = self._whole_slice(partition, file_slice)
        constants: dict[str, Value | None] = {**dict(whole.path_values), **hidden_values(whole)}
        if not all(self._domains[name].includes_value(constants[name]) for name in self._domains if name in constants):
            self.files_pruned += 1
            return
        plain = self._is_plain(whole, frozenset(constants))
        asked = tuple((column.name, constants[column.name]) for column in self._columns if column.name in constants)
        whole = replace(whole, plain=plain, constants=asked if plain else ())
        step = self._max_size if whole.has_base and whole.source is None else max(whole.length, 1)
        for start in range(0, max(whole.length, 1), step):
            length = min(step, whole.length - start)
            yield replace(whole, start=start, length=length, holds_inserts=start == 0 and bool(whole.logs))

    def _whole_slice(self, partition: PartitionSlices, file_slice: FileSlice) -> HudiSplit:
        file = file_slice.base if file_slice.base is not None else file_slice.logs[0]
        schema = self._schemas.get(file.name.instant) if file_slice.base is not None else None
        told = self._paths.values(partition.path)
        source = self._sources.get(file.path)
        if source is not None:
            # Only the file itself tells whether it has the partition fields.
            told = {}
        elif schema is not None:
            lowered = {name.lower() for name in schema.names}
            told = {name: value for name, value in told.items() if name.lower() not in lowered}
        elif not self._table.config.drop_partition_columns:
            told = {}
        return HudiSplit(
            path=file.path,
            start=0,
            length=file.size,
            file_size=file.size,
            modified_millis=file.modified_millis,
            format=file.path.rpartition(".")[2] if file_slice.base is not None else LOG_ONLY,
            partition=partition.path,
            file_id=file_slice.file_id,
            base_instant=file.name.instant if file_slice.base is not None else file_slice.base_instant,
            path_values=tuple(told.items()),
            logs=tuple(LogFile(log.path, log.size) for log in file_slice.logs),
            source=source,
        )

    def _is_plain(self, file: HudiSplit, constants: frozenset[str]) -> bool:
        """Whether a reader that knows no Hudi gets the columns right from a file."""
        if self.never_plain or self._table.written_in is not None or file.logs or file.source is not None:
            return False
        schema = self._schemas[file.base_instant]
        if schema is None or file.format != "parquet" or _PLAIN_PATH.fullmatch(file.path) is None:
            return False
        key = (file.base_instant, constants)
        if key not in self._plain:
            self._plain[key] = all(
                column.name in constants or self._is_plain_column(column.name, schema) for column in self._columns
            ) and self._is_same_version(file.base_instant, constants)
        return self._plain[key]

    def _is_same_version(self, requested: str, constants: frozenset[str]) -> bool:
        """Whether the files of a write have the columns by the names and types of the query."""
        if self._table.history is None:
            return True
        in_file = tuple(column for column in self._columns if column.name not in constants)
        return all(column.is_same for column in self._table.history.evolve(requested, in_file))

    def _is_plain_column(self, name: str, written: pa.Schema) -> bool:
        if name in META_COLUMNS:
            return True
        shown = self._table.schema.field(name).type
        return written.names.count(name) == 1 and written.field(name).type == shown and is_plain_type(shown)
