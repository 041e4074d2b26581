"""The rows of a file slice: read, merged with its logs, filtered by commit time. Executor side."""

from __future__ import annotations

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connectors.hudi.read.base_page_source import base_page_source
from connectors.hudi.read.commit_time_filter import keep_written
from connectors.hudi.read.merged_page_source import MergedPageSource
from connectors.hudi.read.slice_read import SliceRead
from connectors.hudi.schema.table_schema import COMMIT_TIME
from connectors.toolkit.read.page_source import StagedPageSource

__all__ = ["slice_page_source"]


def slice_page_source(read: SliceRead) -> PageSource:
    """Reads a slice: its base file, merged with its logs where it has some; only rows of the table's writes."""
    writes = read.table.written_in
    if writes is None:
        return _merged(read)
    commit_time = ColumnHandle(COMMIT_TIME, pa.string())
    columns = read.columns if commit_time in read.columns else (*read.columns, commit_time)
    rows = _merged(read.with_columns(columns, read.predicate))
    return StagedPageSource(rows, read.schema, [keep_written(writes, read.schema.names)])


def _merged(read: SliceRead) -> PageSource:
    return MergedPageSource(read) if read.split.logs else base_page_source(read)
