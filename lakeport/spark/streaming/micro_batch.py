"""A table as a source of Spark's structured streaming: micro batches between offsets in a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.registry import CatalogRegistry
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.handles import Split
from lakeport.planning.packing import cut_splits, pack_splits
from lakeport.planning.streams import PlannedBatch, StreamRequest, TableStream
from lakeport.spark.bridge.columns import columns_unavailable
from lakeport.spark.bridge.jvm import READ, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.python_tasks import TaskRows, batch_partitions, batch_reader_factory
from lakeport.spark.bridge.session_settings import read_file_settings
from lakeport.spark.bridge.types import arrow_schema, task_schema
from lakeport.spark.catalog_map import share_catalogs
from lakeport.spark.statements import new_statement
from lakeport.spark.streaming.batch_ends import reads_batch
from lakeport.spark.streaming.options import StreamOptions
from lakeport.spark.tasks.task import BatchReader
from lakeport.transactions.statement import CatalogAccess

__all__ = ["MicroBatchStreamProxy", "StreamedTable"]

_STREAMING = READ + "streaming."
_OFFSET = "org.apache.spark.sql.execution.datasources.v2.python.PythonStreamingSourceOffset"
"""``Offset`` is a class, which Python cannot extend; this is Spark's own subclass for texts."""
_START_FILE = "lakeport-start"


@dataclass(frozen=True, slots=True)
class StreamedTable:
    """A table that can be read as a stream.

    Attributes:
        request: The table, columns and limits to read.
        access: The catalog in which the table was resolved.
        registry: The catalogs.
        options: The options of the stream.
        batch_options: Names of given options that only batch reads support.
        schema_json: Spark's schema of the rows.
    """

    request: StreamRequest
    access: CatalogAccess
    registry: CatalogRegistry
    options: StreamOptions
    batch_options: tuple[str, ...]
    schema_json: str

    def check_batch(self) -> None:
        """Call where the table is read as a batch.

        Raises:
            InvalidArgumentError: An option is for streams only.
        """
        if self.options.given:
            raise InvalidArgumentError(
                f"table {self.request.name} is read with the option {', '.join(self.options.given)}, which only "
                "spark.readStream supports; leave it out"
            )

    def open(self, jvm: Jvm, checkpoint: str) -> MicroBatchStreamProxy:
        """The stream; called in the thread that runs its batches.

        Raises:
            InvalidArgumentError: An option is for batch reads only.
        """
        if self.batch_options:
            raise InvalidArgumentError(
                f"the stream of table {self.request.name} has the option {', '.join(self.batch_options)}, which only "
                "batch reads support; leave it out"
            )
        # The query keeps the resolved table for as long as it runs; its locks protect nothing.
        self.access.statement.lease.release_if_unread()
        # A query runs in a clone of its session, and so do queries in foreachBatch.
        share_catalogs(jvm, self.registry, _active(jvm))
        return MicroBatchStreamProxy(jvm, self, checkpoint)


class MicroBatchStreamProxy(Proxy):
    """One stream of one query. Spark calls it from the query's own thread."""

    class Java:
        implements: ClassVar[list[str]] = [
            _STREAMING + "MicroBatchStream",
            _STREAMING + "SupportsTriggerAvailableNow",
        ]

    def __init__(self, jvm: Jvm, table: StreamedTable, checkpoint: str) -> None:
        super().__init__(jvm)
        self._table = table
        self._checkpoint = checkpoint
        self._stream = TableStream(
            lambda: new_statement(jvm, table.registry, ended_by_maker=True),
            table.request,
        )

    def initialOffset(self) -> JavaObject:
        """The offset at which the stream begins; stored in the checkpoint, so that it stays when the table changes."""
        files = self._jvm.cls("org.apache.hadoop.fs.Path")(self._checkpoint, _START_FILE)
        system = files.getFileSystem(self._hadoop_conf())
        if system.exists(files):
            return self._offset(self._read(system, files))
        text = self._stream.initial_offset()
        made = self._jvm.cls("org.apache.hadoop.fs.Path")(self._checkpoint, _START_FILE + ".tmp")
        system.mkdirs(made.getParent())
        out = system.create(made, True)
        try:
            out.write(bytearray(text.encode()))
        finally:
            out.close()
        if not system.rename(made, files):
            raise NotSupportedError(f"{made.toString()} cannot be renamed to {_START_FILE}; the stream cannot begin")
        return self._offset(text)

    def latestOffset(self, *asked: JavaObject) -> JavaObject | None:
        """The offset at which the next batch ends."""
        if not asked:
            raise NotSupportedError("latestOffset() needs the start of the batch and a limit")
        start, limit = asked
        begin = str(start.json())
        limited = self._jvm.class_name(limit) != "ReadAllAvailable"
        end = self._stream.latest_offset(begin, limited=limited)
        return start if end == begin else self._offset(end)

    def reportLatestOffset(self) -> None:
        """Nothing: the newest offset would cost another look at the table for each batch."""
        return

    def getDefaultReadLimit(self) -> JavaObject:
        """A limit of the kind in the options; the stream itself applies its size."""
        limits = self._table.request.limits
        kinds = self._jvm.cls(_STREAMING + "ReadLimit")
        if limits.size_bytes is not None:
            return kinds.maxBytes(limits.size_bytes)
        if limits.files is not None or limits.versions is not None:
            return kinds.maxFiles(limits.files or limits.versions)
        return kinds.allAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        """Makes the table's current state the end of the stream."""
        self._stream.stop_at_newest(str(self.initialOffset().json()))

    def planInputPartitions(self, start: JavaObject, end: JavaObject) -> JavaObject:
        """The tasks of a batch; none for an empty batch, such as the first one of a stream from the newest version."""
        if str(start.json()) == str(end.json()):
            return self._jvm.array(READ + "InputPartition", [])
        batch = self._stream.plan(str(start.json()), str(end.json()))
        reads_batch(self._jvm, self._stream, batch.end)
        return batch_partitions(self._jvm, batch.table, batch.columns, self._packed(batch))

    def createReaderFactory(self) -> JavaObject:
        """The reader factory for all batches: each partition holds its own splits."""
        table = self._table
        access = table.access
        schema = task_schema(arrow_schema(table.schema_json))
        reader = BatchReader(access.connector.page_source_provider, access.session, schema, access.origin)
        columnar = access.engine.columnar_reader and columns_unavailable(self._jvm) is None
        given = TaskRows(table.schema_json, columnar)
        return batch_reader_factory(self._jvm, reader, given)

    def deserializeOffset(self, text: str) -> JavaObject:
        """An offset read from the checkpoint."""
        return self._offset(text)

    def commit(self, end: JavaObject) -> None:
        """The batches up to this offset are finished."""
        self._stream.end_batch()

    def stop(self) -> None:
        """The query has ended."""
        self._stream.end_batch()

    def toString(self) -> str:
        """The name of the source in the query's progress."""
        kind = "changes of " if self._table.request.changes else ""
        return f"lakeport[{kind}{self._table.request.name}]"

    def _packed(self, batch: PlannedBatch) -> list[tuple[Split, ...]]:
        how = read_file_settings(self._jvm).packing
        return pack_splits(cut_splits(batch.planned.splits, how), how)

    def _offset(self, text: str) -> JavaObject:
        return self._jvm.cls(_OFFSET)(text)

    def _hadoop_conf(self) -> JavaObject:
        return _active(self._jvm).sessionState().newHadoopConf()

    def _read(self, system: JavaObject, path: JavaObject) -> str:
        stream = system.open(path)
        try:
            return str(self._jvm.cls("org.apache.commons.io.IOUtils").toString(stream, "UTF-8"))
        finally:
            stream.close()


def _active(jvm: Jvm) -> JavaObject:
    """The session of the thread."""
    return jvm.cls("org.apache.spark.sql.classic.SparkSession").active()
