"""A scan of one table: what Spark pushes, the splits, and who reads them."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import ClassVar

import pyarrow as pa
from py4j.java_gateway import JavaObject

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle, Split
from connector_spi.metadata import SupportsStatistics
from connector_spi.names import CatalogSchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.schema import ColumnMetadata
from connector_spi.statistics import TableStatistics
from lakeport.planning.scan_plan import PlannedSplits, ScanPlan, pack_splits, plan_splits
from lakeport.scan_facts import ScanFacts
from lakeport.spark.bridge.jvm import READ, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.python_tasks import split_partitions, split_reader_factory
from lakeport.spark.bridge.types import spark_schema_json, task_schema
from lakeport.spark.explain.description import ScanDescription, ScanTexts
from lakeport.spark.explain.query_analysis import analysis_of
from lakeport.spark.scan.native import NativeReader, constant_names, has_zone_of_times, readable_by_spark
from lakeport.spark.scan.pushdown import translate
from lakeport.spark.scan.statistics import StatisticsProxy
from lakeport.spark.streaming.micro_batch import MicroBatchStreamProxy, StreamedTable
from lakeport.spark.tasks.task import TaskReader, TaskWork

__all__ = ["PREDICATE", "PushedPredicates", "ScanProxy", "ScannedTable"]

_FIELD_REFERENCE = "org.apache.spark.sql.connector.expressions.FieldReference"
PREDICATE = "org.apache.spark.sql.connector.expressions.filter.Predicate"


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
    """

    name: CatalogSchemaTableName
    plan: ScanPlan
    columns: dict[str, ColumnHandle]
    partition_keys: tuple[str, ...]
    schema_json: str
    stream: StreamedTable | None = None


@dataclass(frozen=True, slots=True)
class PushedPredicates:
    """Spark's predicates that a scan took.

    Attributes:
        all: Those that the connector or the tasks got.
        for_files: Those that Spark's own reader may skip parts of files by.
    """

    all: list[JavaObject]
    for_files: list[JavaObject]


class ScanProxy(Proxy):
    """One scan; planned once, on first need.

    Args:
        jvm: The door to the JVM.
        table: The table.
        plan: Its columns are those of ``output``, in this order, and then those that only ``work`` needs.
        output: What Spark sees: columns, or what the tasks aggregate.
        work: What tasks do with the rows; where it is something, Spark's own reader cannot read.
        planned: The splits, where they are known.
        texts: For ``EXPLAIN``.
        pushed: Predicates.
    """

    class Java:
        implements: ClassVar[list[str]] = [
            READ + "SupportsReportStatistics",
            READ + "SupportsRuntimeV2Filtering",
            READ + "Batch",
        ]

    def __init__(
        self,
        jvm: Jvm,
        table: ScannedTable,
        plan: ScanPlan,
        output: pa.Schema,
        work: TaskWork,
        planned: PlannedSplits | None,
        texts: ScanTexts,
        pushed: PushedPredicates,
    ) -> None:
        super().__init__(jvm)
        self._table = table
        self._plan = plan
        self._output = output
        self._work = work
        self._early = planned
        self._texts = texts
        self._pushed = pushed
        self._schema_json = spark_schema_json(ColumnMetadata(f.name, f.type, f.nullable) for f in output)
        self._read_schema = jvm.data_type(self._schema_json)
        self._dynamic = TupleDomain[ColumnHandle].all()
        self._lock = threading.RLock()
        self._planned: PlannedSplits | None = None
        self._tasks: list[tuple[Split, ...]] = []
        self._native: tuple[str, ...] | None = None
        self._reader_is_chosen = False
        self._reader: NativeReader | None = None
        self._partitions: JavaObject | None = None
        self._known_fingerprint: str | None = None
        self._factory: JavaObject | None = None
        self._stream: MicroBatchStreamProxy | None = None
        analysis = analysis_of(plan.access.statement)
        if analysis is not None:
            analysis.built(self)

    def readSchema(self) -> JavaObject:
        """The columns as they come, constants last."""
        return self._read_schema

    def description(self) -> str:
        """What EXPLAIN shows."""
        if self._stream is not None:
            return self._stream.toString()
        return self.described().text()

    def described(self) -> ScanDescription:
        """What is going to be read; not a method of Java's."""
        planned = self._plan_splits()
        return ScanDescription(
            self._table.name,
            planned.summary,
            (len(self._plan.columns), len(self._table.plan.columns)),
            self._plan.pushed.intersect(self._dynamic),
            self._texts,
            self._work.aggregation,
            (len(planned.splits), len(self._tasks), planned.size_bytes),
            self._native is not None,
        )

    def toBatch(self) -> ScanProxy:
        """The scan is its own batch."""
        if self._table.stream is not None:
            self._table.stream.check_batch()
        return self

    def toMicroBatchStream(self, checkpoint: str) -> MicroBatchStreamProxy:
        """The scan as a stream, whose rows have the columns of the table in their order."""
        if self._table.stream is None:
            raise NotSupportedError(f"table {self._table.name} cannot be read as a stream")
        self._read_schema = self._jvm.data_type(self._table.schema_json)
        self._stream = self._table.stream.open(self._jvm, checkpoint)
        return self._stream

    def columnarSupportMode(self) -> JavaObject:
        """Spark gives rows to the plan from Python tasks; its own reader says for each partition what it gives."""
        if self._stream is None:
            self._plan_splits()
        mode = "PARTITION_DEFINED" if self._native is not None else "UNSUPPORTED"
        return getattr(self._jvm.cls(READ + "Scan.ColumnarSupportMode"), mode)

    def supportedCustomMetrics(self) -> JavaObject:
        """None."""
        return self._jvm.array("org.apache.spark.sql.connector.metric.CustomMetric", [])

    def reportDriverMetrics(self) -> JavaObject:
        """None."""
        return self._jvm.array("org.apache.spark.sql.connector.metric.CustomTaskMetric", [])

    def estimateStatistics(self) -> StatisticsProxy:
        """What the connector knows; where it knows no size, the bytes of the splits, which are planned anyway."""
        access, metadata = self._plan.access, self._plan.access.metadata
        known = TableStatistics()
        if self._stream is not None:
            return StatisticsProxy(self._jvm, known)
        if isinstance(metadata, SupportsStatistics):
            with access.lock:
                known = metadata.get_table_statistics(access.session, self._plan.table)
        if known.size_bytes is None:
            known = replace(known, size_bytes=self._plan_splits().size_bytes)
        return StatisticsProxy(self._jvm, known)

    def filterAttributes(self) -> JavaObject:
        """The columns by which a join may prune while the query runs: partition keys that are read."""
        reference = self._jvm.cls(_FIELD_REFERENCE)
        # Groups cannot be left out by what only rows have.
        names = self._output.names if self._work.aggregation is None else []
        keys = [name for name in names if name in self._table.partition_keys]
        references = [reference.apply(f"`{name}`") for name in keys]
        return self._jvm.array("org.apache.spark.sql.connector.expressions.NamedReference", references)

    def filter(self, predicates: JavaObject) -> None:
        """Learns at run time which partitions a join needs; the splits are planned again."""
        with self._lock:
            before = self._dynamic
            for predicate in self._jvm.items(predicates):
                self._dynamic = self._dynamic.intersect(translate(self._jvm, predicate, self._table.columns).domain)
            if self._dynamic != before:
                self._early = self._planned = self._partitions = self._known_fingerprint = None

    def pushedPredicates(self) -> JavaObject:
        """What the connector got when the scan was built."""
        return self._jvm.array(PREDICATE, self._pushed.all)

    def planInputPartitions(self) -> JavaObject:
        """The tasks."""
        with self._lock:
            planned = self._plan_splits()
            self._note(planned)
            if self._partitions is None:
                if self._native is not None:
                    self._partitions = self._native_reader(self._native).partitions(self._tasks)
                else:
                    self._partitions = split_partitions(self._jvm, self._tasks)
            return self._partitions

    def createReaderFactory(self) -> JavaObject:
        """Spark's own reader where every split is a plain file, else the tasks' Python."""
        with self._lock:
            self._plan_splits()
            if self._factory is None:
                if self._native is not None:
                    self._factory = self._native_reader(self._native).factory()
                else:
                    self._factory = self._python_factory()
            return self._factory

    def _python_factory(self) -> JavaObject:
        access = self._plan.access
        provider = access.connector.page_source_provider
        types = task_schema(self._output) if self._work.aggregation is None else pa.schema([])
        others = task_schema(pa.schema([(c.name, c.type) for c in self._plan.columns[len(types) :]]))
        schema = pa.schema([*types, *others])
        # Splits that a runtime filter left out are not planned; within splits Spark's join checks the rows.
        everything = TupleDomain[ColumnHandle].all()
        analysis = analysis_of(access.statement)
        reader = TaskReader(
            provider,
            access.session,
            self._plan.table,
            self._plan.columns,
            everything,
            schema,
            len(types),
            self._work,
            None if analysis is None else analysis.counters(self),
        )
        return split_reader_factory(self._jvm, reader, self._read_schema, self._schema_json)

    def _note(self, planned: PlannedSplits) -> None:
        """Tells the statement's transactions what is about to be read."""
        tasks, is_native = len(self._tasks), self._native is not None
        facts = ScanFacts(self._table.name, planned.summary, len(planned.splits), tasks, planned.size_bytes, is_native)
        statement = self._plan.access.statement
        statement.lease.note_scan(id(self), facts)
        analysis = analysis_of(statement)
        if analysis is not None:
            analysis.read(self)

    def _identity(self) -> object:
        plan = self._plan
        asked = (plan.pushed, plan.limit, self._dynamic, self._work, self._schema_json)
        return (self._table.name, plan.table, plan.columns, asked)

    def _fingerprint(self) -> str:
        # Spark compares scans many times in one planning.
        if self._known_fingerprint is None:
            self._known_fingerprint = super()._fingerprint()
        return self._known_fingerprint

    def _plan_splits(self) -> PlannedSplits:
        with self._lock:
            if self._planned is None:
                planned = self._early if self._early is not None else plan_splits(self._plan, self._dynamic)
                self._early = None
                self._choose_reader(planned)
                self._tasks = self._packed(planned)
                self._planned = planned
            return self._planned

    def _packed(self, planned: PlannedSplits) -> list[tuple[Split, ...]]:
        conf = self._jvm.sql_conf()
        tasks = pack_splits(
            planned.splits,
            int(self._jvm.context._jsc.sc().defaultParallelism()),
            int(conf.filesMaxPartitionBytes()),
            int(conf.filesOpenCostInBytes()),
        )
        aggregation = self._work.aggregation
        # Spark makes a sum of counts, which over nothing would be NULL: some task has to say 0.
        return [()] if not tasks and aggregation is not None and not aggregation.keys else tasks

    def _choose_reader(self, planned: PlannedSplits) -> None:
        # Spark keeps the reader factory of the first planning, so a later one may not change the choice.
        if self._reader_is_chosen:
            return
        self._reader_is_chosen = True
        is_free = self._work.predicate is None and self._work.aggregation is None
        is_free = is_free and self._plan.access.native_reader and readable_by_spark(self._jvm, planned.splits)
        if planned.splits and is_free and has_zone_of_times(self._jvm, planned.splits, self._output):
            self._native = constant_names(planned.splits, self._output)

    def _native_reader(self, constants: tuple[str, ...]) -> NativeReader:
        if self._reader is None:
            planned = self._plan_splits()
            [file_format] = {split.plain_file.format for split in planned.splits if split.plain_file is not None}
            filters = self._jvm.cls("org.apache.spark.sql.internal.connector.PredicateUtils").toV1(
                self._jvm.array(PREDICATE, self._pushed.for_files)
            )
            session = self._jvm.cls("org.apache.spark.sql.classic.SparkSession").active()
            self._reader = NativeReader(
                self._jvm, session, file_format, self._output, constants, self._read_schema, filters
            )
        return self._reader
