"""The rows of a skeleton file of a bootstrapped table, with those of its original file. Executor side."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError, FileMissingError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import Value
from connectors.hudi.error_codes import HUDI_BOOTSTRAP, HUDI_MISSING_BASE_FILE, HUDI_PARTITION_VALUE
from connectors.hudi.handles import SourceFile
from connectors.hudi.hidden_columns import hidden_values
from connectors.hudi.read.slice_read import SliceRead
from connectors.hudi.schema.table_schema import META_COLUMNS
from connectors.hudi.schema.timestamp_unit import check_unit
from connectors.toolkit.parquet.footer import typed_schema
from connectors.toolkit.parquet.reader import open_parquet, parquet_errors, parquet_page_source
from connectors.toolkit.partition_values import constant_batch
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.schema.column_sources import find_column
from connectors.toolkit.schema.type_adaptation import LOSSLESS

__all__ = ["BootstrapPageSource"]


class BootstrapPageSource(PageSource):
    """Puts rows together that have the same position in both files; so both are read as a whole.

    Args:
        read: What to read of a skeleton file; the split is the whole file.
        source: The original file.
    """

    def __init__(self, read: SliceRead, source: SourceFile) -> None:
        self._read = read
        self._schema = read.schema
        self._skeleton = read.split.path
        self._source = source
        self._path_values = read.table.partition_paths.values(read.split.partition)
        self._opened: list[PageSource] = []
        self._batches = self._run()

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return sum(source.completed_bytes for source in self._opened)

    def __next__(self) -> pa.RecordBatch:
        return next(self._batches)

    def close(self) -> None:
        self._batches.close()

    def _run(self) -> Generator[pa.RecordBatch, None, None]:
        constants = {**hidden_values(self._read.split), **self._checked()}
        meta = tuple(column for column in self._read.columns if column.name in META_COLUMNS)
        rest = tuple(column for column in self._read.columns if column.name not in META_COLUMNS)
        with ExitStack() as stack:
            skeleton = self._open(SourceFile(self._skeleton, self._read.split.file_size), meta, {})
            original = self._open(self._source, rest, constants)
            self._opened = [stack.enter_context(skeleton), stack.enter_context(original)]
            yield from self._check_path_values(self._joined(_Rows(skeleton), _Rows(original)))

    def _open(
        self, file: SourceFile, columns: tuple[ColumnHandle, ...], constants: Mapping[str, Value | None]
    ) -> PageSource:
        whole = FileRange(file.path, 0, file.size)
        return parquet_page_source(self._read.files, FileRead(whole, columns, constants=constants, rules=LOSSLESS))

    def _joined(self, skeleton: _Rows, original: _Rows) -> Generator[pa.RecordBatch, None, None]:
        """The columns of both files, row by row."""
        schema = self._schema
        while skeleton.left and original.left:
            count = min(skeleton.left, original.left)
            parts = (skeleton.take(count), original.take(count))
            if not schema.names:
                yield constant_batch(schema, {}, count)
                continue
            arrays = [parts[name not in META_COLUMNS].column(name) for name in schema.names]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
        if skeleton.left or original.left:
            raise self._differ("one")

    def _checked(self) -> dict[str, Value | None]:
        """Compares the files before any row is given; gives the values of partition columns from the path."""
        path = self._source.path
        info = self._read.files.info(path)
        if info is None:
            raise FileMissingError(
                f"{path}, which holds the rows of {self._skeleton} in the bootstrapped table {self._read.table.name}, "
                "is not on storage; restore it, or set hoodie.bootstrap.base.path where its directory was moved",
                HUDI_MISSING_BASE_FILE,
            )
        if info.size != self._source.size:
            raise CorruptFileError(
                f"{path} has {info.size} bytes, and had {self._source.size} when {self._skeleton} was made of it; "
                "restore the file that was bootstrapped",
                HUDI_BOOTSTRAP,
            )
        skeleton, count = self._footer(self._skeleton)
        schema, rows = self._footer(path)
        if sorted(skeleton.names) != sorted(META_COLUMNS):
            raise NotSupportedError(
                f"{self._skeleton} is named like a file of a METADATA_ONLY bootstrap, which holds the meta columns; "
                f"met {', '.join(skeleton.names)}",
                HUDI_BOOTSTRAP,
            )
        if count != rows:
            raise self._differ(f"{count} and {rows}")
        return self._from_path(schema)

    def _footer(self, path: str) -> tuple[pa.Schema, int]:
        with open_parquet(self._read.files, path) as file, parquet_errors(path):
            return typed_schema(file), file.metadata.num_rows

    def _from_path(self, schema: pa.Schema) -> dict[str, Value | None]:
        constants = hidden_values(self._read.split)
        found: dict[str, Value | None] = {}
        for column in self._read.columns:
            if column.name in META_COLUMNS or column.name in constants:
                continue
            position = find_column(schema, column.name)
            if position is not None:
                check_unit(column, schema.field(position).type, self._source.path)
            elif column.name in self._path_values:
                found[column.name] = self._path_values[column.name]
            elif column.name in self._read.table.config.partition_fields:
                raise NotSupportedError(
                    f"{self._source.path} lacks the partition column '{column.name}', and the partition's path "
                    f"'{self._read.split.partition}' leaves its value in doubt; leave the column out",
                    HUDI_PARTITION_VALUE,
                )
        return found

    def _check_path_values(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Partitions are pruned by their paths: a file that says otherwise would be read for some filters only."""
        expected = {name: value for name, value in self._path_values.items() if name in self._schema.names}
        for batch in batches:
            for name, value in expected.items():
                array = batch.column(name)
                same = array.is_null() if value is None else pc.equal(array, pa.scalar(value, array.type))
                if not pc.all(pc.fill_null(same, False)).as_py():
                    raise NotSupportedError(
                        f"{self._source.path} has other values of the partition column '{name}' than the partition's "
                        f"path '{self._read.split.partition}'; leave the column out",
                        HUDI_PARTITION_VALUE,
                    )
            yield batch

    def _differ(self, counts: str) -> CorruptFileError:
        return CorruptFileError(
            f"{self._skeleton} and its original file {self._source.path} should have the same number of rows, met "
            f"{counts}; restore the file that was bootstrapped",
            HUDI_BOOTSTRAP,
        )


class _Rows:
    """Rows of a page source, taken in any number."""

    def __init__(self, source: PageSource) -> None:
        self._source = source
        self._batch: pa.RecordBatch | None = None
        self._at = 0

    @property
    def left(self) -> int:
        """Rows that can be taken at once; 0 at the end."""
        while self._batch is None or self._at == self._batch.num_rows:
            self._batch, self._at = next(self._source, None), 0
            if self._batch is None:
                return 0
        return int(self._batch.num_rows) - self._at

    def take(self, count: int) -> pa.RecordBatch:
        """The next rows; no more than are left."""
        assert self._batch is not None
        taken = self._batch.slice(self._at, count)
        self._at += count
        return taken
