"""What the keys of a base file's rows are, where they are positions or stand in other splits. Executor side."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pyarrow as pa

from connector_spi.errors import CorruptFileError, InternalError
from connector_spi.page_source import PageSource
from connector_spi.predicate import TupleDomain
from connectors.hudi.error_codes import HUDI_BAD_LOG_FILE
from connectors.hudi.merge.base import LogMerge
from connectors.hudi.merge.columns import MergeColumns
from connectors.hudi.read.base_page_source import base_page_source
from connectors.hudi.read.slice_read import SliceRead
from connectors.toolkit.parquet.file import ParquetFile
from connectors.toolkit.read.page_source import FilePageSource

__all__ = ["check_positions", "mark_elsewhere", "row_positions"]


def row_positions(source: PageSource, rows: int) -> pa.Array:
    """The positions of the rows of the batch that was given last."""
    first = _numbered(source).first_row
    return pa.array(np.arange(first, first + rows))


def mark_elsewhere(read: SliceRead, merge: LogMerge, columns: MergeColumns) -> None:
    """Marks the keys of the ranges of the base file that other splits merge."""
    split = read.split
    end = split.start + split.length
    keys = tuple(column for column in columns.read if column.name in columns.key_sources)
    for start, length in ((0, split.start), (end, split.file_size - end)):
        if length > 0:
            other = read.with_columns(keys, TupleDomain.all()).of_range(start, length)
            with closing(base_page_source(other)) as source:
                for batch in source:
                    merge.mark(columns.keys(pa.Table.from_batches([batch])))


def check_positions(read: SliceRead, merge: LogMerge | None, columns: MergeColumns, source: PageSource) -> None:
    """No row of the logs may be passed over because its position lies behind the file's last row.

    Raises:
        CorruptFileError: It does.
    """
    if merge is None or not columns.by_position:
        return
    last, rows = merge.last_position, _numbered(source).file_rows
    if rows is not None and last >= rows:
        raise CorruptFileError(
            f"the logs of {read.split.path} name its row {last} (counted from 0), and it has {rows} rows",
            HUDI_BAD_LOG_FILE,
        )


def _numbered(source: PageSource) -> FilePageSource[ParquetFile]:
    if not isinstance(source, FilePageSource):
        raise InternalError(f"rows of {type(source).__name__} have no numbers to merge by")
    return source
