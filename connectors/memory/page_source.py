"""Reads a split's own rows. Executor side."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from connector_spi.errors import InternalError
from connector_spi.handles import ColumnHandle, Split, TableHandle
from connector_spi.page_source import PageSource, PageSourceProvider
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession
from connectors.memory.handles import CHUNK_COLUMN, MemorySplit

__all__ = ["MemoryPageSource", "MemoryPageSourceProvider"]

_BATCH_ROWS = 65_536


class MemoryPageSource(PageSource):
    """Batches of at most 65,536 rows."""

    def __init__(self, split: MemorySplit, columns: tuple[ColumnHandle, ...]) -> None:
        self._split = split
        self._columns = columns
        self._schema = pa.schema([(column.name, column.type) for column in columns])
        self._batches: Iterator[pa.RecordBatch] | None = self._read()
        self._completed_bytes = 0

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self._completed_bytes

    def __next__(self) -> pa.RecordBatch:
        if self._batches is None:
            raise InternalError("the page source is closed")
        return next(self._batches)

    def close(self) -> None:
        self._batches = None

    def _read(self) -> Iterator[pa.RecordBatch]:
        for stored in _stored_batches(self._split):
            self._completed_bytes += stored.nbytes
            if self._columns:
                arrays = [self._column(stored, column) for column in self._columns]
                batch = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
            else:
                batch = _rows_of_no_columns(stored.num_rows)
            for start in range(0, batch.num_rows, _BATCH_ROWS):
                yield batch.slice(start, _BATCH_ROWS)

    def _column(self, stored: pa.RecordBatch, column: ColumnHandle) -> pa.Array:
        if column == CHUNK_COLUMN:
            return pa.repeat(pa.scalar(self._split.chunk, column.type), stored.num_rows)
        # Arrow casts a struct by field names: a narrowed type drops the fields that it does not have.
        return stored.column(column.name).cast(column.type)


class MemoryPageSourceProvider(PageSourceProvider):
    """Has no settings: a split holds all that is read."""

    def create_page_source(
        self,
        session: ConnectorSession,
        split: Split,
        table: TableHandle,
        columns: tuple[ColumnHandle, ...],
        dynamic_filter: TupleDomain[ColumnHandle],
    ) -> PageSource:
        if not isinstance(split, MemorySplit):
            raise InternalError(f"expected a MemorySplit, met a {type(split).__qualname__}")
        return MemoryPageSource(split, columns)


def _stored_batches(split: MemorySplit) -> Iterator[pa.RecordBatch]:
    if not split.data:
        yield _rows_of_no_columns(split.row_count)
        return
    with pa.ipc.open_stream(split.data) as reader:
        yield from reader


def _rows_of_no_columns(count: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_struct_array(pa.StructArray.from_buffers(pa.struct([]), count, [None]))
