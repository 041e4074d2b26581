"""Rows that certain writes made, out of all rows of a slice. Executor side."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hudi.schema.table_schema import COMMIT_TIME
from connectors.toolkit.read.page_source import BatchStage

__all__ = ["keep_written"]


def keep_written(instants: Sequence[str], names: Sequence[str]) -> BatchStage:
    """A stage that keeps the rows whose commit time is one of the given ones; rows without one are dropped.

    Args:
        instants: Requested times of the writes.
        names: The columns of the output, in order.
    """
    writes = pa.array(instants, pa.string())

    def stage(batches: Iterator[pa.RecordBatch]) -> Generator[pa.RecordBatch, None, None]:
        for batch in batches:
            yield batch.filter(pc.is_in(batch.column(COMMIT_TIME), value_set=writes)).select(names)

    return stage
