"""Ranges of Parquet files as record batches. Executor side."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from connectors.toolkit.parquet.file import ParquetFile, open_parquet, open_parquet_read, parquet_errors
from connectors.toolkit.parquet.footer import typed_schema
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.read.late_materialization import decode_late
from connectors.toolkit.read.page_source import FilePageSource
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.read.stages import Rows, Stage, adapt, decode, project, prune
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["open_parquet", "parquet_errors", "parquet_page_source", "read_parquet_schema"]


def parquet_page_source(files: FileSystem, read: FileRead) -> FilePageSource[ParquetFile]:
    """Reads the row groups of one range of a Parquet file."""
    stages = _SKIPPING_STAGES if read.skips_rows else _STAGES
    return FilePageSource(read, partial(open_parquet_read, files, read), stages, parquet_errors)


def read_parquet_schema(files: FileSystem, path: str) -> pa.Schema:
    """The schema in a file's footer, INT96 columns as ``time_conventions.INT96``."""
    file = open_parquet(files, path)
    try:
        return typed_schema(file)
    finally:
        file.close(force=True)


def _ask_bloom_filters(file: ParquetFile, rows: Iterator[FileRows]) -> Rows:
    """Drops the row groups that hold no row of the predicate by their Bloom filters."""
    parts = list(rows)
    excluded = file.excluded_by_bloom_filters([part.part for part in parts])
    yield from (part for part in parts if part.part not in excluded)


_STAGES: tuple[Stage[ParquetFile], ...] = (prune, _ask_bloom_filters, decode, adapt, project)
_SKIPPING_STAGES: tuple[Stage[ParquetFile], ...] = (prune, _ask_bloom_filters, decode_late, project)
