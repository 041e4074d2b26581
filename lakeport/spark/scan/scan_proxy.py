"""A scan as Spark sees it."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
from py4j.java_gateway import JavaObject

from connector_spi.errors import NotSupportedError
from connector_spi.statistics import TableStatistics
from lakeport.spark.bridge import answers
from lakeport.spark.bridge.answers import KnownAnswers
from lakeport.spark.bridge.jvm import READ, Jvm
from lakeport.spark.bridge.plan_words.reading import chosen, read_predicates
from lakeport.spark.bridge.proxies import CALLED_IN_WORDS, Proxy
from lakeport.spark.bridge.python_tasks import (
    TaskRows,
    factory_words,
    partition_words,
    python_metrics,
    split_partitions,
    split_reader_factory,
)
from lakeport.spark.scan.native import NativeReader
from lakeport.spark.scan.partitioning.spark_partitioning import (
    NO_PARTITIONING,
    SORT_ORDER,
    keyed_partitions,
    spark_order,
    spark_partitioning,
    unknown_partitioning,
)
from lakeport.spark.scan.pushdown import translate
from lakeport.spark.scan.reader_choice import NativeRead, TaskRead
from lakeport.spark.scan.scan import Scan
from lakeport.spark.scan.statistics.table import StatisticsProxy
from lakeport.spark.streaming.micro_batch import MicroBatchStreamProxy

__all__ = ["PREDICATE", "PushedPredicates", "ScanProxy"]

_FIELD_REFERENCE = "org.apache.spark.sql.connector.expressions.FieldReference"
_NAMED_REFERENCE = "org.apache.spark.sql.connector.expressions.NamedReference"
_METRIC = "org.apache.spark.sql.connector.metric."
_KEPT = frozenset(
    {
        "description",
        "columnarSupportMode",
        "estimateStatistics",
        "outputPartitioning",
        "outputOrdering",
        "pushedPredicates",
        "planInputPartitions",
        "createReaderFactory",
        "supportedCustomMetrics",
    }
)
"""Until a runtime filter comes."""
_IN_WORDS = frozenset({"createReaderFactory", "planInputPartitions", "pushedPredicates"})
_COLUMNAR_MODE = READ + "Scan$ColumnarSupportMode"
PREDICATE = "org.apache.spark.sql.connector.expressions.filter.Predicate"


@dataclass(frozen=True, slots=True)
class PushedPredicates:
    """Spark's predicates that a scan took.

    Attributes:
        offered: A ``Predicate[]``; ``None`` where nothing was offered.
        taken: Which of them the connector or the tasks got.
        in_files: By which of them Spark's own reader may skip parts of files.
    """

    offered: JavaObject | None = None
    taken: tuple[bool, ...] = ()
    in_files: tuple[bool, ...] = ()

    def all(self, jvm: Jvm) -> JavaObject:
        """Those that the connector or the tasks got."""
        return chosen(jvm, self.offered, PREDICATE, self.taken)

    def for_files(self, jvm: Jvm) -> JavaObject:
        """Those that Spark's own reader may skip parts of files by."""
        return chosen(jvm, self.offered, PREDICATE, self.in_files)


class ScanProxy(Proxy):
    """Shows a scan to Spark.

    Args:
        jvm: The door to the JVM.
        scan: The scan.
        pushed: Predicates; ``None`` where Java has them, and says more in words.
    """

    class Java:
        implements: ClassVar[list[str]] = [
            READ + "SupportsReportStatistics",
            READ + "SupportsReportPartitioning",
            READ + "SupportsReportOrdering",
            READ + "SupportsRuntimeV2Filtering",
            READ + "Batch",
            CALLED_IN_WORDS,
        ]

    def __init__(self, jvm: Jvm, scan: Scan, pushed: PushedPredicates | None) -> None:
        super().__init__(jvm)
        self._scan = scan
        self._is_in_words = pushed is None
        self._pushed = pushed or PushedPredicates()
        self._stream: MicroBatchStreamProxy | None = None
        self._partitions: JavaObject | None = None
        self._factory: JavaObject | None = None
        self._native_reader: NativeReader | None = None
        self._lock = threading.RLock()

    def readSchema(self) -> JavaObject:
        """The columns as they come, constants last."""
        stream = self._stream
        return self._jvm.data_type(self._scan.schema_json if stream is None else self._scan.asked.table.schema_json)

    def description(self) -> str:
        """What EXPLAIN shows."""
        return self._scan.described().text() if self._stream is None else self._stream.toString()

    def toBatch(self) -> ScanProxy:
        """The scan is its own batch."""
        stream = self._scan.asked.table.stream
        if stream is not None:
            stream.check_batch()
        return self

    def toMicroBatchStream(self, checkpoint: str) -> MicroBatchStreamProxy:
        """The scan as a stream, whose rows have the columns of the table in their order."""
        table = self._scan.asked.table
        if table.stream is None:
            raise NotSupportedError(f"table {table.name} cannot be read as a stream")
        self._stream = table.stream.open(self._jvm, checkpoint)
        return self._stream

    def columnarSupportMode(self) -> JavaObject:
        """Python tasks give columns or rows; Spark's own reader says for each partition what it gives."""
        return getattr(self._jvm.cls(READ + "Scan.ColumnarSupportMode"), self._columnar_mode())

    def _columnar_mode(self) -> str:
        if self._stream is None and isinstance(self._scan.reader, NativeRead):
            return "PARTITION_DEFINED"
        return "SUPPORTED" if self._scan.rows_reason is None else "UNSUPPORTED"

    def supportedCustomMetrics(self) -> JavaObject:
        """The bytes that tasks exchange; not of rows, which Spark counts for all queries of a process together."""
        if self._stream is None and isinstance(self._scan.reader, TaskRead) and self._scan.rows_reason is None:
            return python_metrics(self._jvm)
        return self._jvm.array(_METRIC + "CustomMetric", [])

    def reportDriverMetrics(self) -> JavaObject:
        """None."""
        return self._jvm.array(_METRIC + "CustomTaskMetric", [])

    def estimateStatistics(self) -> StatisticsProxy:
        """What is known of the scan; nothing of a stream."""
        if self._stream is not None:
            return StatisticsProxy(self._jvm, TableStatistics(), pa.schema([]))
        return StatisticsProxy(self._jvm, self._scan.statistics(), self._scan.asked.output)

    def outputPartitioning(self) -> JavaObject:
        """How the rows of tasks lie, where a join may go by it; from now on tasks keep to it."""
        asked = self._scan.asked.partitioning if self._stream is None else None
        reported = None if asked is None else spark_partitioning(self._jvm, asked)
        is_reported = reported is not None and self._scan.partitioning() is not None
        return reported if is_reported else unknown_partitioning(self._jvm)

    def outputOrdering(self) -> JavaObject:
        """In which order the rows of tasks come, where a join may go by it; from now on tasks keep to it."""
        asked = self._scan.asked.partitioning if self._stream is None else None
        return spark_order(self._jvm, () if asked is None else self._scan.order())

    def filterAttributes(self) -> JavaObject:
        """The columns by which a join may prune while the query runs."""
        reference = self._jvm.cls(_FIELD_REFERENCE)
        references = [reference.apply(f"`{name}`") for name in self._scan.prunable_columns()]
        return self._jvm.array(_NAMED_REFERENCE, references)

    def filter(self, predicates: JavaObject) -> None:
        """Learns at run time which partitions a join needs; the splits are planned again, the reader stays."""
        with self._lock:
            columns = self._scan.asked.table.columns
            for predicate in read_predicates(self._jvm, predicates):
                if self._scan.prune(translate(predicate, columns).domain):
                    self._partitions = None

    def pushedPredicates(self) -> JavaObject:
        """What the connector got when the scan was built."""
        return self._pushed.all(self._jvm)

    def planInputPartitions(self) -> JavaObject:
        """The tasks."""
        with self._lock:
            tasks = self._scan.start()
            if self._partitions is None:
                read = self._scan.reader
                if isinstance(read, NativeRead):
                    self._partitions = self._native(read).partitions(tasks)
                else:
                    self._partitions = split_partitions(self._jvm, tasks)
                self._partitions = self._with_keys(self._partitions)
            return self._partitions

    def createReaderFactory(self) -> JavaObject:
        """Spark's own reader, or the tasks' Python."""
        with self._lock:
            if self._factory is None:
                read = self._scan.reader
                if isinstance(read, NativeRead):
                    self._factory = self._native(read).factory()
                else:
                    task = self._scan.task_reader(read.work)
                    given = TaskRows(self._scan.schema_json, self._scan.rows_reason is None)
                    self._factory = split_reader_factory(self._jvm, task, given)
            return self._factory

    def _called_in_words(self, name: str, words: str) -> object:
        if name not in ("createReaderFactory", "planInputPartitions"):
            return super()._called_in_words(name, words)
        with self._lock:
            factory = self._factory_words()
            if name == "createReaderFactory":
                return self.createReaderFactory() if factory is None else json.dumps(factory)
            if self._scan.task_keys() is not None:
                return self.planInputPartitions()
            tasks, read = self._scan.start(), self._scan.reader
            if isinstance(read, TaskRead):
                return json.dumps({"tasks": partition_words(tasks), "factory": factory})
            files = self._native(read).file_words(tasks)
            return self.planInputPartitions() if files is None else json.dumps({"files": files, "factory": factory})

    def _with_keys(self, partitions: JavaObject) -> JavaObject:
        keys, by = self._scan.task_keys(), self._scan.asked.partitioning
        if keys is None or by is None:
            return partitions
        return keyed_partitions(self._jvm, partitions, by, self._scan.asked.table.columns, keys)

    def _factory_words(self) -> dict[str, str] | None:
        """What Java makes the reader factory of; ``None`` where Python has to make it."""
        read = self._scan.reader
        if isinstance(read, NativeRead):
            return {"native": self._native(read).words()}
        given = TaskRows(self._scan.schema_json, self._scan.rows_reason is None)
        return factory_words(self._jvm, self._scan.task_reader(read.work), given) if given.columnar else None

    def _known(self) -> KnownAnswers:
        names = self._scan.prunable_columns()
        found = {
            "readSchema": answers.spark_type(self._scan.schema_json),
            "filterAttributes": answers.array(_NAMED_REFERENCE, [answers.reference(f"`{name}`") for name in names]),
            "reportDriverMetrics": answers.array(_METRIC + "CustomTaskMetric"),
        }
        stream = self._scan.asked.table.stream
        if stream is None or not stream.options.given:
            found["toBatch"] = answers.ITSELF
        if isinstance(self._scan.chosen_reader, NativeRead):
            found["supportedCustomMetrics"] = answers.array(_METRIC + "CustomMetric")
        if self._is_in_words and self._scan.chosen_reader is not None:
            found["columnarSupportMode"] = answers.constant(_COLUMNAR_MODE, self._columnar_mode())
        if self._scan.asked.partitioning is None:
            found["outputPartitioning"] = NO_PARTITIONING
            found["outputOrdering"] = answers.array(SORT_ORDER)
        if self._is_in_words and self._scan.is_planned and self._scan.asked.partitioning is None:
            found["description"] = answers.plain(self.description())
        in_words = _IN_WORDS if self._is_in_words else frozenset[str]()
        changing = frozenset({"filter", "toMicroBatchStream"})
        return KnownAnswers({**self._named(), **found}, _KEPT, changing, in_words)

    def _fingerprint(self) -> str:
        return self._scan.fingerprint

    def _native(self, read: NativeRead) -> NativeReader:
        if self._native_reader is None:
            filters = self._pushed.for_files(self._jvm)
            self._native_reader = NativeReader(
                self._jvm, read, self._scan.asked.output, self._scan.schema_json, filters
            )
        return self._native_reader
