"""What EXPLAIN ANALYZE tells of row groups and stripes, against files whose parts are laid out by hand."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, TupleDomain, ValueSet
from connector_spi.scan_counters import ScanCounts, counting
from connectors.toolkit.orc.reader import orc_page_source
from connectors.toolkit.parquet.reader import parquet_page_source
from connectors.toolkit.storage.filesystem import FileSystem
from tests.connectors.toolkit.reads import whole_file

A, B = ColumnHandle("a", pa.int64()), ColumnHandle("b", pa.int64())


@pytest.mark.parametrize(("kind", "what"), [("parquet", "row groups"), ("orc", "stripes")])
def test_parts_read_and_skipped_by_which_column(tmp_path: Path, kind: str, what: str) -> None:
    path = tmp_path / f"f.{kind}"
    # Four parts: a is 0..9, 10..19, 20..29, 30..39; b is the same backwards.
    rows = 10 if kind == "parquet" else 20_000
    data = pa.table({"a": range(4 * rows), "b": range(4 * rows, 0, -1)})
    if kind == "parquet":
        pq.write_table(data, path, row_group_size=rows)
    else:
        with orc.ORCWriter(str(path), stripe_size=1, batch_size=rows, row_index_stride=rows) as writer:
            for start in range(0, 4 * rows, rows):
                writer.write(data.slice(start, rows))
    parts = pq.ParquetFile(path).num_row_groups if kind == "parquet" else orc.ORCFile(path).nstripes
    assert parts == 4
    at_least_last = TupleDomain({A: _from(3 * rows), B: _from(1)})
    reader = parquet_page_source if kind == "parquet" else orc_page_source
    counts = ScanCounts()
    with counting(counts), reader(FileSystem(), whole_file(path, (A,), predicate=at_least_last)) as source:
        given = sum(batch.num_rows for batch in source)
    assert given == rows
    assert counts.as_mapping() == {
        "ranges of files opened": 1,
        f"{what} read": 1,
        f"{what} skipped": 3,
        f"{what} that the statistics of a exclude": 3,
    }


def _from(low: int) -> Domain:
    return Domain.create(ValueSet.of_ranges(pa.int64(), [Range.greater_or_equal(pa.int64(), low)]), False)
