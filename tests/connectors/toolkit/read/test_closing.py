"""A file that was read leaves no memory behind."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from connector_spi.handles import ColumnHandle
from connectors.toolkit.orc.file import open_orc
from connectors.toolkit.parquet.file import open_parquet_read
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.storage.filesystem import FileSystem


@pytest.mark.slow
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_a_closed_file_goes_at_once(tmp_path: Path, file_format: str) -> None:
    """Readers hold buffers of many megabytes, and Python looks for cycles when it likes."""
    path, table = tmp_path / "file", pa.table({"a": pa.array(range(10), pa.int64())})
    if file_format == "orc":
        orc.write_table(table, str(path))
    else:
        pq.write_table(table, path)
    read = FileRead(FileRange(f"file://{path}", 0, path.stat().st_size), (ColumnHandle("a", pa.int64()),))
    gc.collect()
    gc.disable()
    try:
        with (open_orc if file_format == "orc" else open_parquet_read)(FileSystem(), read) as opened:
            rows = sum(rows.count for part in opened.rows() for rows in opened.columns.decode(part))
        left = weakref.ref(opened)
        del opened
        assert (rows, left()) == (10, None)
    finally:
        gc.enable()
