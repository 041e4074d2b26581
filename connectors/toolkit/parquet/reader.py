"""Ranges of Parquet files as record batches. Executor side.

A row group belongs to the range that holds its middle byte, as in parquet-mr and Spark, so that ranges that
cover a file partition its rows.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.errors import ConnectorError, CorruptFileError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain
from connectors.toolkit.parquet.bloom_filters import BloomFilters
from connectors.toolkit.parquet.footer import narrow_schema, row_group_may_match, typed_schema
from connectors.toolkit.parquet.maps import is_map_key_error, open_with_maps, restored_maps
from connectors.toolkit.read.counted_parts import count_parts
from connectors.toolkit.read.file_page_source import FilePageSource, resolve_sources
from connectors.toolkit.read.late_materialization import RowFilter, one_array
from connectors.toolkit.schema.schema_adapter import SchemaAdapter
from connectors.toolkit.schema.time_conventions import parquet_conventions
from connectors.toolkit.storage.filesystem import FileSystem, raise_storage_failure

__all__ = ["ParquetPageSource", "open_parquet", "parquet_errors", "read_parquet_schema"]


class ParquetPageSource(FilePageSource):
    """Reads the row groups of one range of a Parquet file.

    Attributes:
        first_row: The number, counted through the whole file from 0, of the first row of the batch given last; unless
            rows of other batches are left out (``skips_rows``).
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
        told = _FileTypes(file, self)
        asked = [at for at in range(metadata.num_row_groups) if self.where.holds(_middle(metadata.row_group(at)))]
        groups = _matching(file, asked, told, self.predicate)
        count_parts("row groups", asked, groups, self.predicate, lambda other: _matching(file, asked, told, other))
        groups = self._ask_blooms(metadata, groups, BloomFilters(told.schema, self.predicate, told.sources))
        self.file_rows = metadata.num_rows
        starts = list(accumulate((metadata.row_group(at).num_rows for at in range(metadata.num_row_groups)), initial=0))
        columns = told.columns(self.file_columns)
        late = _LateColumns.of(told, self.file_columns, self.predicate) if self.skips_rows else None
        for group in groups:
            if late is not None and late.filter.useful:
                yield from self._read_late(file, group, late)
                continue
            start = starts[group]
            rows = starts[group + 1] - start
            for batch in self._read_group(file, group, columns) if columns.leaves else self.count(rows):
                self.first_row = start
                start += batch.num_rows
                yield batch

    def _ask_blooms(self, metadata: pq.FileMetaData, groups: list[int], blooms: BloomFilters) -> list[int]:
        """Those of the row groups that by their Bloom filters may hold rows of the predicate."""
        asked = [group for group in groups if blooms.asked(metadata.row_group(group))]
        if not asked:
            return groups
        with self.files.open(self.where.path) as source:
            out = {group for group in asked if not blooms.may_match(metadata.row_group(group), source.read_at)}
        return [group for group in groups if group not in out]

    def _read_group(self, file: pq.ParquetFile, group: int, columns: _FileColumns) -> Iterator[pa.RecordBatch]:
        for arrays, rows in self._decode(file, group, columns):
            yield self.batch(columns.adapter.adapt(arrays, rows), rows)

    def _read_late(self, file: pq.ParquetFile, group: int, late: _LateColumns) -> Iterator[pa.RecordBatch]:
        """The rows of a row group that pass the filter; where none does, other columns are not touched."""
        places: list[npt.NDArray[np.int64]] = []
        kept: list[list[pa.Array]] = [[] for _ in late.filter.first]
        start = 0
        for arrays, rows in self._decode(file, group, late.first):
            adapted = late.first.adapter.adapt(arrays, rows)
            chosen = late.filter.places(adapted)
            for parts, array in zip(kept, adapted, strict=True):
                parts.append(array if len(chosen) == rows else array.take(pa.array(chosen)))
            places.append(chosen + start)
            start += rows
        chosen = np.concatenate(places) if places else np.zeros(0, np.int64)
        late.filter.seen(start, len(chosen))
        if not len(chosen):
            return
        names = [column.name for column in (*late.filter.first, *late.filter.rest)]
        order = [names.index(column.name) for column in self.file_columns]
        first = [pa.chunked_array(parts, column.type) for parts, column in zip(kept, late.filter.first, strict=True)]
        start = 0
        for arrays, rows in self._decode(file, group, late.rest):
            low, high = np.searchsorted(chosen, (start, start + rows)).tolist()
            if high > low:
                taken = None if high - low == rows else pa.array(chosen[low:high] - start)
                read = [array if array is None or taken is None else array.take(taken) for array in arrays]
                found = [
                    *(one_array(column.slice(low, high - low)) for column in first),
                    *late.rest.adapter.adapt(read, high - low),
                ]
                yield self.batch([found[at] for at in order], high - low)
            start += rows

    def _decode(
        self, file: pq.ParquetFile, group: int, columns: _FileColumns
    ) -> Iterator[tuple[list[pa.Array | None], int]]:
        """Batches of a row group as they are in the file: an array for each column, and the number of rows."""
        positions = columns.adapter.positions
        read = sorted({position for position in positions if position is not None})
        row_group = file.metadata.row_group(group)
        self.bytes_read += sum(row_group.column(leaf).total_compressed_size for leaf in columns.leaves)
        # By index, since a dotted path does not tell a nested field from a name that holds a dot.
        batches = file.reader.iter_batches(
            self.batch_rows, row_groups=[group], column_indices=columns.leaves, use_threads=pa.cpu_count() > 1
        )
        for batch in batches:
            arrays = [restored_maps(array, self.where.path) for array in batch.columns]
            yield [None if at is None else arrays[read.index(at)] for at in positions], batch.num_rows


def open_parquet(files: FileSystem, path: str) -> pq.ParquetFile:
    """Opens a file and reads its footer.

    Raises:
        FileMissingError: It is not there.
        CorruptFileError: It is truncated, or no Parquet file.
    """
    source = files.open(path)
    with parquet_errors(path):
        try:
            return open_with_maps(source)
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
    """Maps what pyarrow raises about a file: to CorruptFileError, where storage did not fail."""
    try:
        yield
    except ConnectorError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise_storage_failure(error, path)
        reason = str(error).strip().partition("\n")[0]
        if is_map_key_error(error):
            raise NotSupportedError(
                f"{path} has a map whose keys are not marked as required, as old versions of Hive and Impala wrote "
                "them, which Arrow cannot read; write the file anew"
            ) from error
        raise CorruptFileError(
            f"{path} cannot be read as Parquet: {reason}; it is truncated, damaged or of another format"
        ) from error


@dataclass(frozen=True, slots=True)
class _FileColumns:
    """Some of the table's columns in a file: the leaves to decode, and what brings them into the table's form."""

    leaves: list[int]
    adapter: SchemaAdapter


class _FileTypes:
    """What a file's footer tells of its types."""

    def __init__(self, file: pq.ParquetFile, source: ParquetPageSource) -> None:
        metadata = file.metadata
        self._source = source
        self.conventions = parquet_conventions(metadata.metadata, metadata.created_by, source.zone)
        self.schema = typed_schema(file)
        self.sources = resolve_sources(source.sources, self.schema)

    def columns(self, columns: Sequence[ColumnHandle]) -> _FileColumns:
        """Where columns are."""
        rules = self._source.rules
        by_place = rules is not None and rules.fields_by_place
        narrowed, leaves = narrow_schema(self.schema, columns, self.sources, fields_by_place=by_place)
        adapter = SchemaAdapter(
            narrowed,
            columns,
            sources=self.sources,
            conventions=self.conventions,
            where=self._source.where.path,
            strict=self._source.strict,
            rules=rules,
            whole=self._source.whole,
        )
        return _FileColumns(leaves, adapter)


@dataclass(frozen=True, slots=True)
class _LateColumns:
    """Columns that are read in two steps: those of the filter, then the other ones for rows that passed."""

    filter: RowFilter
    first: _FileColumns
    rest: _FileColumns

    @classmethod
    def of(
        cls, told: _FileTypes, columns: Sequence[ColumnHandle], predicate: TupleDomain[ColumnHandle]
    ) -> _LateColumns | None:
        row_filter = RowFilter(columns, predicate)
        first, rest = told.columns(row_filter.first), told.columns(row_filter.rest)
        places = (*first.adapter.positions, *rest.adapter.positions)
        known = [place for place in places if place is not None]
        if not rest.leaves or None in first.adapter.positions or len(set(known)) < len(known):
            return None
        return cls(row_filter, first, rest)


def _matching(
    file: pq.ParquetFile, groups: list[int], told: _FileTypes, predicate: TupleDomain[ColumnHandle]
) -> list[int]:
    """Those of the row groups that by their statistics may hold rows of the predicate."""
    return [
        group
        for group in groups
        if row_group_may_match(file, group, told.schema, predicate, told.sources, told.conventions)
    ]


def _middle(row_group: pq.RowGroupMetaData) -> int:
    first = row_group.column(0)
    offset = first.data_page_offset
    if first.dictionary_page_offset is not None and 0 < first.dictionary_page_offset < offset:
        offset = first.dictionary_page_offset
    size = sum(row_group.column(index).total_compressed_size for index in range(row_group.num_columns))
    return int(offset + size // 2)
