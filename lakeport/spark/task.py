"""What runs in a task's Python: splits in, Arrow batches out. Executor side: no Spark session, no metastore."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import ConnectorError, ErrorType
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.page_source import PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession

__all__ = ["TaskReader", "read_tables"]


@dataclass(frozen=True, slots=True)
class TaskReader:
    """All that the tasks of one scan share.

    Attributes:
        provider: Opens splits.
        session: The query.
        table: The handle.
        columns: What to read, in output order.
        dynamic_filter: Rows outside of it are not needed.
        schema: The exact Arrow schema that Spark wants.
    """

    provider: PageSourceProvider
    session: ConnectorSession
    table: TableHandle
    columns: tuple[ColumnHandle, ...]
    dynamic_filter: TupleDomain[ColumnHandle]
    schema: pa.Schema

    def read(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Reads the splits of one task; ``batches`` holds one pickled tuple of splits.

        The input is read to its end before anything else: a worker process that did not see the end of its input
        is thrown away by Spark instead of being used again.
        """
        splits: list[Split] = [split for pickled in _payloads(batches) for split in pickle.loads(pickled)]
        try:
            for split in splits:
                yield from self._read_split(split)
        except ConnectorError as error:
            if error.code.type is ErrorType.INTERNAL_ERROR:
                raise
            # The worker sends the whole trace to the user; the message says what is wrong.
            raise error.with_traceback(None) from None

    def _read_split(self, split: Split) -> Iterator[pa.RecordBatch]:
        with self.provider.create_page_source(
            self.session, split, self.table, self.columns, self.dynamic_filter
        ) as source:
            for batch in source:
                if batch.num_rows:
                    yield spark_batch(batch, self.schema)


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


def _payloads(batches: Iterable[pa.RecordBatch]) -> list[bytes]:
    return [bytes(value) for batch in batches for value in batch.column(0).to_pylist()]
