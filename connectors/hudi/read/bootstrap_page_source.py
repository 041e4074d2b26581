"""The rows of a skeleton file of a bootstrapped table, with those of its original file. Executor side."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import ExitStack

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError, FileMissingError, NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import Value
from connectors.hudi.error_codes import HUDI_BOOTSTRAP, HUDI_MISSING_BASE_FILE, HUDI_PARTITION_VALUE
from connectors.hudi.handles import HudiSplit, HudiTableHandle, SourceFile
from connectors.hudi.schema.table_schema import META_COLUMNS
from connectors.hudi.schema.timestamp_unit import check_unit
from connectors.toolkit.parquet.footer import typed_schema
from connectors.toolkit.parquet.reader import open_parquet, parquet_errors, parquet_page_source
from connectors.toolkit.partition_values import constant_batch
from connectors.toolkit.read.file_read import FileRange, FileRead
from connectors.toolkit.schema.column_sources import find_column
from connectors.toolkit.schema.type_adaptation import LOSSLESS
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["StitchedPageSource"]


class StitchedPageSource(PageSource):
    """Puts rows together that have the same place in both files; so neither is read in part.

    Args:
        files: Storage.
        split: A skeleton file as a whole, with its original file.
        source: The original file.
        table: The table.
        columns: What to read, in output order.
        constants: Values of the columns that are in neither file, by name.
    """

    def __init__(
        self,
        files: FileSystem,
        split: HudiSplit,
        source: SourceFile,
        table: HudiTableHandle,
        columns: tuple[ColumnHandle, ...],
        constants: Mapping[str, Value | None],
    ) -> None:
        self._files = files
        self._split = split
        self._source = source
        self._table = table
        self._columns = columns
        self._constants = dict(constants)
        self._told = table.partition_paths.values(split.partition)
        self._schema = pa.schema([pa.field(column.name, column.type) for column in columns])
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
        constants = {**self._constants, **self._checked()}
        meta = tuple(column for column in self._columns if column.name in META_COLUMNS)
        rest = tuple(column for column in self._columns if column.name not in META_COLUMNS)
        with ExitStack() as stack:
            meta_file = FileRange(self._split.path, 0, self._split.file_size)
            skeleton = parquet_page_source(self._files, FileRead(meta_file, meta, rules=LOSSLESS))
            rest_file = FileRange(self._source.path, 0, self._source.size)
            rest_read = FileRead(rest_file, rest, constants=constants, rules=LOSSLESS)
            rows = parquet_page_source(self._files, rest_read)
            self._opened = [stack.enter_context(skeleton), stack.enter_context(rows)]
            yield from self._stitched(_Rows(skeleton), _Rows(rows))

    def _stitched(self, skeleton: _Rows, rows: _Rows) -> Generator[pa.RecordBatch, None, None]:
        while skeleton.left and rows.left:
            count = min(skeleton.left, rows.left)
            parts = (skeleton.take(count), rows.take(count))
            if not self._schema.names:
                yield constant_batch(self._schema, {}, count)
                continue
            arrays = [parts[column.name not in META_COLUMNS].column(column.name) for column in self._columns]
            for column, array in zip(self._columns, arrays, strict=True):
                self._check_value(column, array)
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        if skeleton.left or rows.left:
            raise self._differ("one")

    def _checked(self) -> dict[str, Value | None]:
        """Compares the files before any row is given; gives the values of partition columns from the path."""
        path = self._source.path
        info = self._files.info(path)
        if info is None:
            raise FileMissingError(
                f"{path}, which holds the rows of {self._split.path} in the bootstrapped table {self._table.name}, is "
                "not on storage; restore it, or set hoodie.bootstrap.base.path where its folder has moved",
                HUDI_MISSING_BASE_FILE,
            )
        if info.size != self._source.size:
            raise CorruptFileError(
                f"{path} has {info.size} bytes, and had {self._source.size} when {self._split.path} was made of it; "
                "restore the file that was bootstrapped",
                HUDI_BOOTSTRAP,
            )
        skeleton, count = self._footer(self._split.path)
        schema, rows = self._footer(path)
        if sorted(skeleton.names) != sorted(META_COLUMNS):
            raise NotSupportedError(
                f"{self._split.path} is named like a file of a METADATA_ONLY bootstrap, which holds the meta columns; "
                f"met {', '.join(skeleton.names)}",
                HUDI_BOOTSTRAP,
            )
        if count != rows:
            raise self._differ(f"{count} and {rows}")
        return self._from_path(schema)

    def _footer(self, path: str) -> tuple[pa.Schema, int]:
        with open_parquet(self._files, path) as file, parquet_errors(path):
            return typed_schema(file), file.metadata.num_rows

    def _from_path(self, schema: pa.Schema) -> dict[str, Value | None]:
        found: dict[str, Value | None] = {}
        for column in self._columns:
            if column.name in META_COLUMNS or column.name in self._constants:
                continue
            position = find_column(schema, column.name)
            if position is not None:
                check_unit(column, schema.field(position).type, self._source.path)
            elif column.name in self._told:
                found[column.name] = self._told[column.name]
            elif column.name in self._table.config.partition_fields:
                raise NotSupportedError(
                    f"{self._source.path} lacks the partition column '{column.name}', and the partition's path "
                    f"'{self._split.partition}' leaves its value in doubt; leave the column out",
                    HUDI_PARTITION_VALUE,
                )
        return found

    def _check_value(self, column: ColumnHandle, array: pa.Array) -> None:
        """Partitions are pruned by their paths: a file that says otherwise would be read for some filters only."""
        if column.name not in self._told:
            return
        value = self._told[column.name]
        same = array.is_null() if value is None else pc.equal(array, pa.scalar(value, array.type))
        if not pc.all(pc.fill_null(same, False)).as_py():
            raise NotSupportedError(
                f"{self._source.path} has other values of the partition column '{column.name}' than the partition's "
                f"path '{self._split.partition}'; leave the column out",
                HUDI_PARTITION_VALUE,
            )

    def _differ(self, counts: str) -> CorruptFileError:
        return CorruptFileError(
            f"{self._split.path} and its original file {self._source.path} should have the same number of rows, met "
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
