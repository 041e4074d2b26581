"""Reads a split's own rows. Executor side."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import GeneratorPageSourceProvider, rows_without_columns
from connectors.memory.handles import CHUNK_COLUMN, MemorySplit, MemoryTableHandle

__all__ = ["MemoryPageSourceProvider"]

_BATCH_ROWS = 65_536


class MemoryPageSourceProvider(GeneratorPageSourceProvider[MemoryTableHandle, MemorySplit]):
    """Batches of at most 65,536 rows. Has no settings: a split holds all that is read."""

    def read(
        self, split: MemorySplit, table: MemoryTableHandle, columns: tuple[ColumnHandle, ...]
    ) -> Iterator[pa.RecordBatch]:
        for stored in _stored_batches(split):
            batch = stored
            if CHUNK_COLUMN in columns:
                chunk = pa.repeat(pa.scalar(split.chunk, CHUNK_COLUMN.type), stored.num_rows)
                batch = stored.append_column(CHUNK_COLUMN.name, chunk)
            for start in range(0, batch.num_rows, _BATCH_ROWS):
                yield batch.slice(start, _BATCH_ROWS)


def _stored_batches(split: MemorySplit) -> Iterator[pa.RecordBatch]:
    if not split.data:
        yield rows_without_columns(split.row_count)
        return
    with pa.ipc.open_stream(split.data) as reader:
        yield from reader
