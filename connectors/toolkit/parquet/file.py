"""A Parquet file that is being read. Executor side.

A row group belongs to the range that holds its middle byte, as in parquet-mr and Spark, so that ranges that
cover a file partition its rows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate

import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Reference, TupleDomain
from connectors.toolkit.parquet.bloom_filters import BloomFilters
from connectors.toolkit.parquet.footer import narrow_schema, typed_schema
from connectors.toolkit.parquet.maps import is_map_key_error, restored_maps
from connectors.toolkit.parquet.opening import open_plain_file
from connectors.toolkit.parquet.pruning import RowGroupStatistics
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.read.open_file import ColumnarFile
from connectors.toolkit.read.pruning import ColumnBounds
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.schema.file_types import FileTypes
from connectors.toolkit.schema.time_conventions import parquet_conventions
from connectors.toolkit.storage.decoding_errors import decoding_errors, library_limits
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["ParquetFile", "open_parquet", "open_parquet_read", "parquet_errors"]


class ParquetFile(ColumnarFile):
    """An open file.

    Args:
        files: Storage, of which Bloom filters are read apart.
        file: The file.
        read: What is asked of it.
    """

    parts_name = "row groups"

    def __init__(self, files: FileSystem, file: pq.ParquetFile, read: FileRead) -> None:
        self.file = file
        self._files = files
        self._metadata = file.metadata
        super().__init__(read, self._metadata.num_rows)
        schema = typed_schema(file)
        conventions = parquet_conventions(self._metadata.metadata, self._metadata.created_by, read.zone)
        self._types = FileTypes(schema, read.sources_in(schema), conventions)
        self._statistics = RowGroupStatistics(self._metadata, self._types)
        self._columns = self.select(read.file_columns)

    @property
    def columns(self) -> ParquetColumns:
        return self._columns

    def select(self, columns: tuple[ColumnHandle, ...]) -> ParquetColumns:
        return ParquetColumns(self, self._types, columns)

    def rows(self) -> Generator[FileRows, None, None]:
        groups = [self._metadata.row_group(at) for at in range(self._metadata.num_row_groups)]
        starts = accumulate((group.num_rows for group in groups), initial=0)
        for index, (group, start) in enumerate(zip(groups, starts, strict=False)):
            if self.read.file.holds(_middle(group)):
                yield FileRows(index, start, group.num_rows)

    def middle(self, part: int) -> int:
        """The byte of a row group by which it belongs to a range."""
        return _middle(self._metadata.row_group(part))

    def matching(self, parts: Sequence[int], predicate: TupleDomain[ColumnHandle]) -> list[int]:
        return self._statistics.matching(parts, predicate)

    def bounds(self, part: int, reference: Reference, data_type: pa.DataType) -> ColumnBounds:
        return self._statistics.bounds(part, reference, data_type)

    def exact_bounds(self, part: FileRows, column: ColumnHandle, *, counted: bool) -> ColumnBounds | None:
        return self._statistics.exact_bounds(part.part, column, counted=counted)

    def excluded_by_bloom_filters(self, parts: Sequence[int]) -> frozenset[int]:
        """The row groups that hold no row of the predicate by their Bloom filters."""
        blooms = BloomFilters(self._types, self.read.file_predicate)
        groups = {part: self._metadata.row_group(part) for part in parts}
        asked = [part for part, group in groups.items() if blooms.asked(group)]
        if not asked:
            return frozenset()
        with self._files.open(self.read.path) as source:
            return frozenset(part for part in asked if not blooms.may_match(groups[part], source.read_at))

    def release(self) -> None:
        """Lets go of the columns: they refer to the file, and all of its buffers would wait for the next collection."""
        del self._columns

    def count_leaves(self, group: int, leaves: Sequence[int]) -> None:
        """Counts the bytes of leaves of a row group that are read."""
        row_group = self._metadata.row_group(group)
        self.bytes_read += sum(row_group.column(leaf).total_compressed_size for leaf in leaves)


class ParquetColumns:
    """Some of the table's columns in an open file.

    Args:
        file: The file.
        types: Its columns.
        columns: The columns; nested types may be narrowed.

    Attributes:
        adapter: Brings them into the table's types.
    """

    def __init__(self, file: ParquetFile, types: FileTypes, columns: tuple[ColumnHandle, ...]) -> None:
        self._file = file
        by_position = file.read.rules.fields_by_position
        narrowed, self._leaves = narrow_schema(types.schema, columns, types.sources, fields_by_position=by_position)
        self.adapter = file.read.adapter(narrowed, columns, types.sources, types.conventions)
        known = {column.name: at for column, at in zip(columns, self.adapter.positions, strict=True) if at is not None}
        read = sorted(set(known.values()))
        self._offsets = {name: read.index(at) for name, at in known.items()}
        self._shares = len(read) < len(known)

    @property
    def is_read(self) -> bool:
        return bool(self._leaves)

    @property
    def separable(self) -> bool:
        """Not where two are made of one."""
        return not self._shares

    def decode(self, part: FileRows) -> Iterator[FileRows]:
        if not self._leaves:
            yield part
            return
        self._file.count_leaves(part.part, self._leaves)
        read = self._file.read
        # By index, since a dotted path does not tell a nested field from a name that holds a dot.
        batches = self._file.file.reader.iter_batches(
            read.batch_rows, row_groups=[part.part], column_indices=self._leaves, use_threads=pa.cpu_count() > 1
        )
        start = part.start
        while (batch := _next(batches, read.path)) is not None:
            arrays = [restored_maps(array, read.path) for array in batch.columns]
            yield FileRows(part.part, start, batch.num_rows, {name: arrays[at] for name, at in self._offsets.items()})
            start += batch.num_rows


def open_parquet(files: FileSystem, path: str) -> pq.ParquetFile:
    """Opens a file and reads its footer.

    Raises:
        FileMissingError: It is not there.
        CorruptFileError: It is truncated, or no Parquet file.
        NotSupportedError: pyarrow does not decode what it holds.
    """
    source = files.open(path)
    with parquet_errors(path), library_limits(path, "Parquet"):
        try:
            return open_plain_file(source)
        except BaseException:
            source.close()
            raise


@contextmanager
def open_parquet_read(files: FileSystem, read: FileRead) -> Iterator[ParquetFile]:
    """Opens a file for a read."""
    file = open_parquet(files, read.path)
    try:
        opened = ParquetFile(files, file, read)
        try:
            yield opened
        finally:
            opened.release()
    finally:
        file.close(force=True)


@contextmanager
def parquet_errors(path: str) -> Iterator[None]:
    """Maps what pyarrow raises about a file; see ``decoding_errors``."""
    with decoding_errors(path, "Parquet", UnicodeDecodeError):
        try:
            yield
        except pa.ArrowInvalid as error:
            if not is_map_key_error(error):
                raise
            raise NotSupportedError(
                f"{path} has a map whose keys are not marked as required, as old versions of Hive and Impala wrote "
                "them, which Arrow cannot read; write the file anew"
            ) from error


def _next(batches: Iterator[pa.RecordBatch], path: str) -> pa.RecordBatch | None:
    with library_limits(path, "Parquet"):
        return next(batches, None)


def _middle(row_group: pq.RowGroupMetaData) -> int:
    first = row_group.column(0)
    offset = first.data_page_offset
    if first.dictionary_page_offset is not None and 0 < first.dictionary_page_offset < offset:
        offset = first.dictionary_page_offset
    size = sum(row_group.column(index).total_compressed_size for index in range(row_group.num_columns))
    return int(offset + size // 2)
