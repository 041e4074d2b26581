"""Rows that certain writes made, out of all rows of a split. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connectors.hudi.schema.table_schema import COMMIT_TIME

__all__ = ["WrittenInPageSource"]


class WrittenInPageSource(PageSource):
    """Keeps the rows whose commit time is one of the given ones; rows without a commit time are left out.

    Args:
        source: Gives the asked columns and ``_hoodie_commit_time``.
        columns: The asked columns, in order.
        instants: Requested times of the writes.
    """

    def __init__(self, source: PageSource, columns: Sequence[ColumnHandle], instants: Sequence[str]) -> None:
        self._source = source
        self._schema = pa.schema([pa.field(column.name, column.type) for column in columns])
        self._instants = pa.array(instants, pa.string())

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self._source.completed_bytes

    def __next__(self) -> pa.RecordBatch:
        batch = next(self._source)
        wanted = pc.is_in(batch.column(COMMIT_TIME), value_set=self._instants)
        return batch.filter(wanted).select(self._schema.names)

    def close(self) -> None:
        self._source.close()
