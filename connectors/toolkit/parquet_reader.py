"""Ranges of Parquet files as record batches. Executor side.

A row group belongs to the range that holds its middle byte, as in parquet-mr and Spark, so that ranges that
cover a file partition its rows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.errors import CorruptFileError, FileMissingError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import TupleDomain, Value
from connectors.toolkit.filesystem import FileSystem
from connectors.toolkit.parquet_footer import narrow_schema, row_group_may_match, typed_schema
from connectors.toolkit.partition_values import constant_array, constant_batch
from connectors.toolkit.schema_adapter import ColumnSource, SchemaAdapter
from connectors.toolkit.time_conventions import parquet_conventions

__all__ = ["ParquetPageSource", "open_parquet", "parquet_errors", "read_parquet_schema"]

_BATCH_ROWS = 65536


class ParquetPageSource(PageSource):
    """Reads the row groups of one range of a file. Opens the file on the first batch.

    Args:
        files: Storage.
        path: The file.
        start: First byte of the range.
        length: Bytes of the range.
        columns: What to read, in output order; nested types may be narrowed.
        constants: Values of the columns that are not read from the file, by name.
        predicate: Row groups that by their statistics hold no row of it are skipped. Columns in it whose values the
            caller changes after reading have to be left out.
        sources: Where a column is in the file; by its own name where nothing is said.
        zone: Zone to show instants in where the table's type is a wall-clock time and the file names no zone.
        strict: Refuse casts that can lose a value (which else becomes NULL).
        batch_rows: Most rows of a batch.
    """

    def __init__(
        self,
        files: FileSystem,
        path: str,
        start: int,
        length: int,
        columns: tuple[ColumnHandle, ...],
        constants: Mapping[str, Value | None] | None = None,
        predicate: TupleDomain[ColumnHandle] | None = None,
        *,
        sources: Mapping[str, ColumnSource] | None = None,
        zone: str = "UTC",
        strict: bool = False,
        batch_rows: int = _BATCH_ROWS,
    ) -> None:
        self._files = files
        self._path = path
        self._range = range(start, start + length)
        self._constants = dict(constants or {})
        self._predicate: TupleDomain[ColumnHandle] = predicate if predicate is not None else TupleDomain.all()
        self._sources = dict(sources or {})
        self._zone = zone
        self._strict = strict
        self._batch_rows = batch_rows
        self._schema = pa.schema([pa.field(column.name, column.type) for column in columns])
        self._file_columns = tuple(column for column in columns if column.name not in self._constants)
        self._bytes = 0
        self._file: pq.ParquetFile | None = None
        self._batches = self._read()

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self._bytes

    def __next__(self) -> pa.RecordBatch:
        with parquet_errors(self._path):
            return next(self._batches)

    def close(self) -> None:
        self._batches.close()
        if self._file is not None:
            self._file.close(force=True)
            self._file = None

    def _read(self) -> Generator[pa.RecordBatch, None, None]:
        if self._predicate.is_none or not _constants_match(self._predicate, self._constants):
            return
        self._file = open_parquet(self._files, self._path)
        metadata = self._file.metadata
        conventions = parquet_conventions(metadata.metadata, metadata.created_by, self._zone)
        schema = typed_schema(self._file)
        narrowed, leaves = narrow_schema(schema, self._file_columns, self._sources)
        adapter = SchemaAdapter(
            narrowed,
            self._file_columns,
            sources=self._sources,
            conventions=conventions,
            where=self._path,
            strict=self._strict,
        )
        groups = [
            group
            for group in range(metadata.num_row_groups)
            if _middle(metadata.row_group(group)) in self._range
            and row_group_may_match(self._file, group, schema, self._predicate, self._sources, conventions)
        ]
        if leaves:
            yield from self._read_columns(self._file, groups, leaves, adapter)
        else:
            yield from self._count(metadata, groups)

    def _count(self, metadata: pq.FileMetaData, groups: list[int]) -> Iterator[pa.RecordBatch]:
        nulls: dict[str, Value | None] = dict.fromkeys((column.name for column in self._file_columns), None)
        left = sum(metadata.row_group(group).num_rows for group in groups)
        while left > 0:
            rows = min(left, self._batch_rows)
            left -= rows
            yield constant_batch(self._schema, {**nulls, **self._constants}, rows)

    def _read_columns(
        self, file: pq.ParquetFile, groups: list[int], leaves: list[int], adapter: SchemaAdapter
    ) -> Iterator[pa.RecordBatch]:
        read = sorted({position for position in adapter.positions if position is not None})
        for group in groups:
            row_group = file.metadata.row_group(group)
            self._bytes += sum(row_group.column(leaf).total_compressed_size for leaf in leaves)
            # By index, since a dotted path does not tell a nested field from a name that holds a dot.
            batches = file.reader.iter_batches(
                self._batch_rows, row_groups=[group], column_indices=leaves, use_threads=True
            )
            for batch in batches:
                arrays = [None if at is None else batch.column(read.index(at)) for at in adapter.positions]
                yield self._output(adapter.adapt(arrays, batch.num_rows), batch.num_rows)

    def _output(self, arrays: list[pa.Array], rows: int) -> pa.RecordBatch:
        by_name = dict(zip((column.name for column in self._file_columns), arrays, strict=True))
        columns = [
            by_name[field.name]
            if field.name in by_name
            else constant_array(self._constants[field.name], field.type, rows)
            for field in self._schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


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
    except (CorruptFileError, FileMissingError):
        raise
    except (pa.ArrowException, OSError) as error:
        if hasattr(error, "code"):
            raise
        reason = str(error).strip().partition("\n")[0]
        raise CorruptFileError(
            f"{path} cannot be read as Parquet: {reason}; it is truncated, damaged or of another format"
        ) from error


def _constants_match(predicate: TupleDomain[ColumnHandle], constants: Mapping[str, Value | None]) -> bool:
    domains = dict(predicate.domains or {})
    return all(
        domain.includes_value(constants[column.name]) for column, domain in domains.items() if column.name in constants
    )


def _middle(row_group: pq.RowGroupMetaData) -> int:
    first = row_group.column(0)
    offset = first.data_page_offset
    if first.dictionary_page_offset is not None and 0 < first.dictionary_page_offset < offset:
        offset = first.dictionary_page_offset
    size = sum(row_group.column(index).total_compressed_size for index in range(row_group.num_columns))
    return int(offset + size // 2)
