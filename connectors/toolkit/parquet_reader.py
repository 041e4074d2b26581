"""Ranges of Parquet files as record batches. Executor side.

A row group belongs to the range that holds its middle byte, as in parquet-mr and Spark, so that ranges that
cover a file partition its rows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import accumulate

import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError
from connectors.toolkit.file_page_source import FilePageSource, resolve_sources
from connectors.toolkit.filesystem import FileSystem
from connectors.toolkit.parquet_footer import narrow_schema, row_group_may_match, typed_schema
from connectors.toolkit.schema_adapter import SchemaAdapter
from connectors.toolkit.time_conventions import parquet_conventions

__all__ = ["ParquetPageSource", "open_parquet", "parquet_errors", "read_parquet_schema"]


class ParquetPageSource(FilePageSource):
    """Reads the row groups of one range of a Parquet file.

    Attributes:
        first_row: The number, counted through the whole file from 0, of the first row of the batch given last.
        file_rows: Number of rows of the whole file, once it is opened.
    """

    first_row: int = 0
    file_rows: int | None = None

    def read(self) -> Generator[pa.RecordBatch, None, None]:
        file = open_parquet(self.files, self.where.path)
        try:
            yield from self._read(file)
        finally:
            file.close(force=True)

    def errors(self) -> AbstractContextManager[None]:
        return parquet_errors(self.where.path)

    def _read(self, file: pq.ParquetFile) -> Iterator[pa.RecordBatch]:
        metadata = file.metadata
        conventions = parquet_conventions(metadata.metadata, metadata.created_by, self.zone)
        schema = typed_schema(file)
        sources = resolve_sources(self.sources, schema)
        narrowed, leaves = narrow_schema(schema, self.file_columns, sources)
        adapter = SchemaAdapter(
            narrowed,
            self.file_columns,
            sources=sources,
            conventions=conventions,
            where=self.where.path,
            strict=self.strict,
            rules=self.rules,
        )
        groups = [
            group
            for group in range(metadata.num_row_groups)
            if self.where.holds(_middle(metadata.row_group(group)))
            and row_group_may_match(file, group, schema, self.predicate, sources, conventions)
        ]
        self.file_rows = metadata.num_rows
        starts = list(accumulate((metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)), initial=0))
        for group in groups:
            start = starts[group]
            rows = starts[group + 1] - start
            for batch in self._read_group(file, group, leaves, adapter) if leaves else self.count(rows):
                self.first_row = start
                start += batch.num_rows
                yield batch

    def _read_group(
        self, file: pq.ParquetFile, group: int, leaves: list[int], adapter: SchemaAdapter
    ) -> Iterator[pa.RecordBatch]:
        read = sorted({position for position in adapter.positions if position is not None})
        row_group = file.metadata.row_group(group)
        self.bytes_read += sum(row_group.column(leaf).total_compressed_size for leaf in leaves)
        # By index, since a dotted path does not tell a nested field from a name that holds a dot.
        batches = file.reader.iter_batches(
            self.batch_rows, row_groups=[group], column_indices=leaves, use_threads=pa.cpu_count() > 1
        )
        for batch in batches:
            arrays = [None if at is None else batch.column(read.index(at)) for at in adapter.positions]
            yield self.batch(adapter.adapt(arrays, batch.num_rows), batch.num_rows)


def open_parquet(files: FileSystem, path: str) -> pq.ParquetFile:
    """Opens a file and reads its footer.

    Raises:
        FileMissingError: It is not there.
        CorruptFileError: It is truncated, or no Parquet file.
    """
    source = files.open(path)
    with parquet_errors(path):
        try:
            return pq.ParquetFile(source, coerce_int96_timestamp_unit="us")
        except BaseException:
            source.close()
            raise


def read_parquet_schema(files: FileSystem, path: str) -> pa.Schema:
    """The schema in a file's footer, INT96 columns as ``time_conventions.INT96``."""
    file = open_parquet(files, path)
    try:
        return typed_schema(file)
    finally:
        file.close(force=True)


@contextmanager
def parquet_errors(path: str) -> Iterator[None]:
    """Maps what pyarrow raises about a file to CorruptFileError."""
    try:
        yield
    except ConnectorError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).strip().partition("\n")[0]
        if reason.startswith("Map keys must be annotated as required"):
            raise NotSupportedError(
                f"{path} has a map whose keys are not marked as required, as old versions of Hive and Impala wrote "
                "them, which Arrow cannot read; write the file anew"
            ) from error
        raise CorruptFileError(
            f"{path} cannot be read as Parquet: {reason}; it is truncated, damaged or of another format"
        ) from error


def _middle(row_group: pq.RowGroupMetaData) -> int:
    first = row_group.column(0)
    offset = first.data_page_offset
    if first.dictionary_page_offset is not None and 0 < first.dictionary_page_offset < offset:
        offset = first.dictionary_page_offset
    size = sum(row_group.column(index).total_compressed_size for index in range(row_group.num_columns))
    return int(offset + size // 2)
