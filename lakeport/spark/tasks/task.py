"""What runs in a task's Python: splits in, Arrow batches out. Executor side: no Spark session, no metastore."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import ConnectorError, ErrorType
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.scan_counters import count
from connector_spi.serializable import Serializable
from connector_spi.session import ConnectorSession
from lakeport.plugin_errors import ConnectorOrigin
from lakeport.spark.tasks.counters import TaskCounters, counted
from lakeport.spark.tasks.partial_aggregate import PartialAggregation, PartialAggregator
from lakeport.spark.tasks.read_ahead import read_ahead
from lakeport.spark.tasks.row_predicate import RowPredicate
from lakeport.spark.tasks.top_n import TopN, first_rows

__all__ = ["BatchReader", "TableSource", "TaskReader", "TaskWork", "read_tables"]

_GATHERED_ROWS = 1 << 15
"""What is left of filtered batches is gathered up to this, since each batch has a price of its own in Spark."""


@dataclass(frozen=True, slots=True)
class TaskWork(Serializable):
    """What a task does with the rows that it reads, in this order.

    Attributes:
        predicate: Rows for which it is not true are left out; Spark does not check it again.
        limit: No more rows than this are needed of any task; only where a predicate is, and nothing is aggregated.
        aggregation: Groups are given instead of rows.
        top_n: The first rows in an order are given; only where nothing is aggregated.
    """

    predicate: RowPredicate | None = None
    limit: int | None = None
    aggregation: PartialAggregation | None = None
    top_n: TopN | None = None

    @property
    def is_nothing(self) -> bool:
        """Rows are given as they are read."""
        return self.predicate is None and self.aggregation is None and self.top_n is None


@dataclass(frozen=True, slots=True)
class TableSource:
    """Opens the splits of one table.

    Attributes:
        provider: The connector's.
        session: The query.
        table: The handle.
        columns: What to read; those that Spark wants first.
        origin: Whose code the provider is.
    """

    provider: PageSourceProvider
    session: ConnectorSession
    table: TableHandle
    columns: tuple[ColumnHandle, ...]
    origin: ConnectorOrigin

    def open(self, split: Split) -> PageSource:
        """The rows of a split."""
        return self.origin.open_split(self.provider, self.session, split, self.table, self.columns)


@dataclass(frozen=True, slots=True)
class TaskReader:
    """All that the tasks of one scan share.

    Attributes:
        source: Opens splits.
        schema: The columns read, in the exact Arrow types that Spark wants.
        output: How many of the columns Spark wants, where nothing is aggregated.
        work: What to do with the rows.
        counters: Receives what is counted; ``None`` where nothing is.
        reads_ahead: The next rows are decoded while Spark works on those before.
    """

    source: TableSource
    schema: pa.Schema
    output: int
    work: TaskWork
    counters: TaskCounters | None = None
    reads_ahead: bool = False

    def read(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Reads the splits of one task; ``batches`` has one pickled tuple of splits.

        The input is read to its end before anything else: a worker process that did not see the end of its input
        is thrown away by Spark instead of being used again.
        """
        payloads = list(_payloads(batches))
        read = self.read_splits([split for pickled in payloads for split in pickle.loads(pickled)])
        if self.counters is None:
            yield from read
        else:
            # The number that Spark gives a task is another one in each stage that runs it.
            yield from counted(read, self.counters, hashlib.sha256(b"".join(payloads)).hexdigest())

    def read_splits(self, splits: Iterable[Split]) -> Iterator[pa.RecordBatch]:
        """Reads splits."""
        decoded = self._decoded(splits)
        try:
            with closing(read_ahead(decoded) if self.reads_ahead else decoded) as batches:
                yield from self._worked(self._passing(batches))
        except ConnectorError as error:
            if error.code.type is ErrorType.INTERNAL_ERROR:
                raise
            # The worker sends the whole trace to the user; the message says what is wrong.
            raise error.with_traceback(None) from None

    def _worked(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if self.work.aggregation is not None:
            aggregator = PartialAggregator(self.work.aggregation)
            for batch in batches:
                yield from aggregator.add(batch)
            yield from aggregator.finish()
            return
        if self.work.top_n is not None:
            batches = first_rows(batches, self.work.top_n)
        wanted = list(range(self.output))
        selected = batches if self.output == len(self.source.columns) else (batch.select(wanted) for batch in batches)
        if self.work.predicate is None:
            yield from selected
        else:
            limit = self.work.limit
            most = _GATHERED_ROWS if limit is None else min(limit, _GATHERED_ROWS)
            yield from _limited(_gathered(selected, most), limit)

    def _passing(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        predicate = self.work.predicate
        for batch in batches:
            passed = batch if predicate is None else batch.filter(predicate.mask(batch))
            if passed.num_rows:
                yield passed

    def _decoded(self, splits: Iterable[Split]) -> Generator[pa.RecordBatch, None, None]:
        for split in splits:
            with self.source.open(split) as source:
                for batch in source:
                    if batch.num_rows:
                        count("rows read", batch.num_rows)
                        yield spark_batch(batch, self.schema)
                count("splits read")
                count("bytes read, where readers report them", source.completed_bytes)


@dataclass(frozen=True, slots=True)
class BatchReader:
    """All that the tasks of all batches of a stream share; each task brings its table's handle and columns along.

    Attributes:
        provider: Opens splits.
        session: The query.
        schema: The columns, in the exact Arrow types that Spark wants.
        origin: Whose code the provider is.
    """

    provider: PageSourceProvider
    session: ConnectorSession
    schema: pa.Schema
    origin: ConnectorOrigin

    def read(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Reads the splits of one task; ``batches`` has a pickled handle, columns and tuple of splits."""
        for pickled in _payloads(batches):
            table, columns, splits = pickle.loads(pickled)
            source = TableSource(self.provider, self.session, table, columns, self.origin)
            yield from TaskReader(source, self.schema, len(columns), TaskWork()).read_splits(splits)


def read_tables(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Reads a task whose payload is itself an Arrow stream: the rows of a system table."""
    for payload in _payloads(batches):
        with pa.ipc.open_stream(pa.py_buffer(payload)) as stream:
            for batch in stream:
                yield spark_batch(batch.select(schema.names), schema)


def spark_batch(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Casts a batch to the exact schema that Spark wants; a batch of no columns keeps its row count."""
    if batch.schema.equals(schema) or not schema.names:
        return batch
    arrays = [
        column if column.type.equals(field.type) else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _gathered(batches: Iterator[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= most:
            yield pa.concat_batches(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.concat_batches(waiting)


def _limited(batches: Iterator[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    left = limit
    for batch in batches:
        if left is not None and batch.num_rows >= left:
            yield batch.slice(0, left)
            return
        yield batch
        left = None if left is None else left - batch.num_rows


def _payloads(batches: Iterable[pa.RecordBatch]) -> list[bytes]:
    return [bytes(value) for batch in batches for value in batch.column(0).to_pylist()]
