"""A scan of one table after all pushdown: its splits, who reads them, and its facts. No call into Java here."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from connector_spi.errors import AccessDeniedError
from connector_spi.handles import ColumnHandle, Split
from connector_spi.metadata import SupportsColumnStatistics, SupportsStatistics
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.event_listener import TableReadEvent
from connector_spi.optional.partitioning import TablePartitioning
from connector_spi.optional.top_n import SortItem
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata
from connector_spi.statistics import TableStatistics
from lakeport.planning.packing import cut_splits, pack_splits
from lakeport.planning.pushed_work import taken_over
from lakeport.planning.scan_plan import ScanPlan, plan_splits
from lakeport.plugin_errors import table_words
from lakeport.scan_facts import PushdownFacts, ScanDescription, ScanFacts, ScanMetrics
from lakeport.spark.bridge.proxies import digest
from lakeport.spark.bridge.types import spark_schema_json, task_schema
from lakeport.spark.scan.environment import SparkEnvironment
from lakeport.spark.scan.partitioning.keyed_splits import Key, KeyedSplits, keyed_splits
from lakeport.spark.scan.reader_choice import NativeRead, PlannedScan, TaskRead, choose_reader, may_be_native
from lakeport.spark.scan.statistics.columns import plausible_columns
from lakeport.spark.scan.statistics.footers import with_footer_statistics
from lakeport.spark.scan.statistics.table import of_columns
from lakeport.spark.streaming.micro_batch import StreamedTable
from lakeport.spark.tasks.counters import TaskCounters, forget_counters
from lakeport.spark.tasks.task import TableSource, TaskReader, TaskWork
from lakeport.transactions.engine_settings import COLUMNAR_READER

__all__ = ["PushedScan", "Scan", "ScannedTable"]


@dataclass(frozen=True, slots=True)
class ScannedTable:
    """A resolved table, as its scans need it.

    Attributes:
        name: Full name.
        plan: The scan with nothing pushed yet; its columns are all that are visible.
        columns: Handles by name, hidden ones included.
        partition_keys: Names of the partition keys.
        schema_json: Spark's schema of the visible columns.
        stream: What makes a stream of it; ``None`` where nothing does.
        runtime_filters: Joins may prune it while the query runs.
    """

    name: CatalogSchemaTableName
    plan: ScanPlan
    columns: dict[str, ColumnHandle]
    partition_keys: tuple[str, ...]
    schema_json: str
    stream: StreamedTable | None = None
    runtime_filters: bool = True


@dataclass(frozen=True, slots=True)
class PushedScan:
    """What Spark asks of a table, all pushdown done.

    Attributes:
        table: The table.
        plan: Its columns are those of ``output``, in this order, and then those that only ``work`` needs.
        output: What Spark sees: columns, or what the tasks aggregate.
        work: What tasks do with the rows.
        checked: Predicates that tasks check, in SQL.
        left: Predicates that Spark checks again, in SQL.
        partitioning: How rows lie as far as joins of the query may go by it; ``None`` for nothing.
    """

    table: ScannedTable
    plan: ScanPlan
    output: pa.Schema
    work: TaskWork
    checked: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    partitioning: TablePartitioning | None = None


class Scan:
    """One scan; planned once, on first need, and once more after a runtime filter. Used by several threads.

    Args:
        asked: What Spark asks.
        environment: Spark.
        planned: The splits and the reader, where they are known; else they are found out on first need.
    """

    def __init__(self, asked: PushedScan, environment: SparkEnvironment, planned: PlannedScan | None = None) -> None:
        self.asked = asked
        self._environment = environment
        self._planned = planned
        self._reader: NativeRead | TaskRead | None = None if planned is None else planned.reader
        if planned is None and not may_be_native(asked.plan, asked.work):
            self._reader = TaskRead(asked.work)
        self._tasks: list[tuple[Split, ...]] | None = None
        self._keyed: KeyedSplits | None = None
        self._is_keyed: bool | None = None
        self._is_ordered: bool | None = None
        self._task_keys: list[Key] | None = None
        self._runtime_filter = TupleDomain[ColumnHandle].all()
        self._counters: TaskCounters | None = None
        self._fingerprint: str | None = None
        self._lock = threading.RLock()
        observer = asked.plan.access.statement.observer
        if observer is not None:
            observer.scan_built(self)

    @cached_property
    def schema_json(self) -> str:
        """Spark's schema of what the scan gives."""
        return spark_schema_json(ColumnMetadata(f.name, f.type, f.nullable) for f in self.asked.output)

    @property
    def fingerprint(self) -> str:
        """What identifies the scan: two with the same one give the same rows."""
        # Spark compares scans many times in one planning.
        with self._lock:
            if self._fingerprint is None:
                plan, work = self.asked.plan, self.asked.work
                asked = (plan.pushed, plan.limit, self._runtime_filter, work, self.schema_json)
                self._fingerprint = digest((self.asked.table.name, plan.table, plan.columns, asked))
            return self._fingerprint

    @property
    def reader(self) -> NativeRead | TaskRead:
        """Who reads; never changes once it was asked."""
        return self.planned().reader

    @property
    def chosen_reader(self) -> NativeRead | TaskRead | None:
        """Who reads, where that is known by now; plans nothing."""
        return self._reader

    @property
    def is_planned(self) -> bool:
        """Whether the splits are known by now."""
        return self._planned is not None

    @cached_property
    def rows_reason(self) -> str | None:
        """Why Python tasks hand over row by row; ``None`` where they hand over columns."""
        access = self.asked.plan.access
        if not access.engine.columnar_reader:
            return f"{access.catalog}.{COLUMNAR_READER.name} is false"
        return self._environment.columns_unavailable()

    def planned(self) -> PlannedScan:
        """The splits, and who reads them."""
        with self._lock:
            if self._planned is None:
                plan = self.asked.plan
                splits = plan_splits(plan, self._runtime_filter)
                if self._keyed is not None:
                    self._keyed = self._keyed.again(plan, splits.splits)
                    splits = replace(splits, splits=tuple(self._keyed.keys))
                if self._reader is None:
                    self._reader = choose_reader(plan, splits, self.asked.work, self._environment)
                self._planned = PlannedScan(splits, self._reader)
            return self._planned

    def tasks(self) -> list[tuple[Split, ...]]:
        """The splits of each task."""
        with self._lock:
            if self._tasks is None:
                splits, how = self.planned().splits.splits, self._environment.packing()
                if self._keyed is not None:
                    keyed = self._keyed.tasks(splits, how)
                    self._task_keys, self._tasks = [key for key, _ in keyed], [task for _, task in keyed]
                    return self._tasks
                # What the connector aggregates it mostly takes from footers, which each part would read again.
                parts = splits if self.asked.plan.aggregation is not None else cut_splits(splits, how)
                self._tasks = pack_splits(parts, how)
                aggregation = self.asked.work.aggregation
                if not self._tasks and aggregation is not None and not aggregation.keys:
                    # Spark makes a sum of counts, which over nothing would be NULL: some task has to say 0.
                    self._tasks = [()]
            return self._tasks

    def partitioning(self) -> TablePartitioning | None:
        """What the rows of each task have in common; ``None`` for nothing. From the first call on tasks keep to it."""
        with self._lock:
            asked = self.asked.partitioning
            if asked is not None and self._is_keyed is None:
                pays = self.asked.plan.access.engine.storage_partitioning != "ALL"
                how = self._environment.packing()
                self._keyed = keyed_splits(self.asked.plan, self.planned().splits, asked, how, pays=pays)
                self._is_keyed, self._tasks = self._keyed is not None, None
            return None if self._keyed is None else self._keyed.partitioning

    def order(self) -> tuple[SortItem, ...]:
        """In which the rows of each task come; none where they have no order. From the first call on tasks keep to it.

        Only of scans that no runtime filter plans again, when files may be others.
        """
        with self._lock:
            if self._is_ordered is None:
                may = self.partitioning() is not None and not self.prunable_columns()
                may = may and self._environment.keeps_order_of_tasks()
                if may and self._keyed is not None:
                    self._keyed, self._tasks = self._keyed.in_order(self.asked.plan, self.planned().splits.splits), None
                self._is_ordered = may
            order = () if self._keyed is None else self._keyed.order
            return tuple(one for one in order if one.column.name in self.asked.output.names)

    def task_keys(self) -> list[Key] | None:
        """The key of each task; ``None`` where tasks have none."""
        with self._lock:
            self.tasks()
            return self._task_keys

    def start(self) -> list[tuple[Split, ...]]:
        """The splits of each task, which are about to run."""
        tasks = self.tasks()
        statement = self.asked.plan.access.statement
        statement.lease.note_scan(id(self), self._facts())
        if statement.observer is not None:
            statement.observer.scan_started(self)
        if statement.on_scan is not None:
            statement.on_scan(self._read())
        return tasks

    def prune(self, domain: TupleDomain[ColumnHandle]) -> bool:
        """Takes a runtime filter; whether splits have to be planned again. The reader stays, as Spark keeps it."""
        with self._lock:
            both = self._runtime_filter.intersect(domain)
            if both == self._runtime_filter:
                return False
            self._runtime_filter = both
            self._planned = self._tasks = self._fingerprint = None
            return True

    def prunable_columns(self) -> list[str]:
        """The columns by which a join may prune while the query runs: partition keys that are read."""
        if self.asked.work.aggregation is not None or self.asked.plan.aggregation is not None:
            # Groups cannot be left out by what only rows have.
            return []
        table = self.asked.table
        return [name for name in self.asked.output.names if table.runtime_filters and name in table.partition_keys]

    def statistics(self) -> TableStatistics:
        """What the connector knows of the rows and of the columns, where the optimizer goes by these; where it knows no
        size, the splits', which are planned anyway."""
        asked = self.asked
        has_groups = asked.work.aggregation is not None or asked.plan.aggregation is not None
        wants_columns = not has_groups and self._environment.uses_column_statistics()
        known = self._known_statistics(wants_columns) if asked.plan.aggregation is None else TableStatistics()
        if known.size_bytes is None:
            known = replace(known, size_bytes=self.planned().splits.size_bytes)
        if wants_columns:
            known = with_footer_statistics(asked.plan, known, asked.output.names, lambda: self.planned().splits.splits)
        columns = plausible_columns(known, asked.output) if wants_columns else ()
        known = replace(known, columns=columns)
        if has_groups:
            return known
        return of_columns(known, asked.output.types, (column.type for column in asked.table.plan.columns))

    def _known_statistics(self, wants_columns: bool) -> TableStatistics:
        access, table = self.asked.plan.access, self.asked.plan.table
        with access.lock.asking(f"give statistics of table {table_words(table)}"):
            if wants_columns and isinstance(access.metadata, SupportsColumnStatistics):
                # Who may not see all columns plans without statistics of any.
                with suppress(AccessDeniedError):
                    return access.metadata.get_column_statistics(access.session, table)
            if isinstance(access.metadata, SupportsStatistics):
                return access.metadata.get_table_statistics(access.session, table)
        return TableStatistics()

    def task_reader(self, work: TaskWork) -> TaskReader:
        """What the tasks run."""
        plan, output = self.asked.plan, self.asked.output
        types = task_schema(output) if work.aggregation is None else pa.schema([])
        others = task_schema(pa.schema([(column.name, column.type) for column in plan.columns[len(types) :]]))
        access = plan.access
        provider = access.connector.page_source_provider
        source = TableSource(provider, access.session, plan.table, plan.columns, access.origin)
        observer = access.statement.observer
        if observer is not None and observer.wants_metrics and self._counters is None:
            self._counters = self._environment.new_counters()
        schema = pa.schema([*types, *others])
        return TaskReader(source, schema, len(types), work, self._counters, reads_ahead=access.engine.task_read_ahead)

    def described(self) -> ScanDescription:
        """What is going to be read."""
        asked = self.asked
        aggregation = asked.work.aggregation
        by_keys = [] if self._keyed is None else self._keyed.words()
        pushdown = PushdownFacts(
            columns_read=len(asked.plan.columns),
            columns_total=len(asked.table.plan.columns),
            pushed=asked.plan.pushed.intersect(self._runtime_filter),
            checked=asked.checked,
            left=asked.left,
            aggregated=None if aggregation is None else str(aggregation),
            limit=asked.work.limit if asked.plan.limit is None else asked.plan.limit,
            first_rows=None if asked.work.top_n is None else str(asked.work.top_n),
            connector=(*taken_over(asked.plan), *by_keys),
        )
        return ScanDescription(self._facts(), pushdown)

    def metrics(self) -> ScanMetrics | None:
        """What the tasks counted; ``None`` where Spark's own reader read, or nothing was to be counted."""
        if self._counters is None:
            return None
        found = self._counters.value.values()
        sums = Counter[str]()
        for task in found:
            sums.update(task.counts)
        return ScanMetrics(len(found), max((task.times for task in found), default=0), dict(sums))

    def stop_counting(self) -> None:
        """Releases what the tasks report to."""
        if self._counters is not None:
            forget_counters(self._counters)

    def _read(self) -> TableReadEvent:
        plan, splits = self.asked.plan, self.planned().splits
        return TableReadEvent(
            name=self.asked.table.name,
            columns=plan.column_names(),
            snapshot=splits.summary.snapshot,
            splits=len(splits.splits),
            size_bytes=splits.size_bytes,
            planning_seconds=splits.seconds,
        )

    def _facts(self) -> ScanFacts:
        planned = self.planned()
        native = isinstance(planned.reader, NativeRead)
        return ScanFacts(
            name=self.asked.table.name,
            summary=planned.splits.summary,
            splits=len(planned.splits.splits),
            tasks=len(self.tasks()),
            size_bytes=planned.splits.size_bytes,
            native=native,
            rows_reason=None if native else self.rows_reason,
        )
