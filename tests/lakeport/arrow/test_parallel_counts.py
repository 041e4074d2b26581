"""What readers count in the threads that read several splits of an Arrow scan at a time."""

from __future__ import annotations

import pyarrow as pa

from connector_spi.page_source import PageSource
from connector_spi.scan_counters import ScanCounts, count, counting
from lakeport.arrow.parallel_read import ParallelRead

SCHEMA = pa.schema([("n", pa.int64())])


class CountingSource(PageSource):
    """Gives a few batches of one row, and counts them."""

    def __init__(self, batches: int) -> None:
        self._left = batches

    @property
    def schema(self) -> pa.Schema:
        return SCHEMA

    def __next__(self) -> pa.RecordBatch:
        if not self._left:
            raise StopIteration
        self._left -= 1
        count("batches read")
        return pa.record_batch([pa.array([self._left])], schema=SCHEMA)


def test_all_threads_count_for_the_one_that_asked() -> None:
    counts = ScanCounts()
    with counting(counts):
        rows = sum(batch.num_rows for batch in ParallelRead(list(range(50)), CountingSource, 4))
    assert rows == sum(range(50))
    assert counts.as_mapping() == {"batches read": rows}
    assert sum(batch.num_rows for batch in ParallelRead([3, 4], CountingSource, 2)) == 7
    assert counts.as_mapping() == {"batches read": rows}
