"""What the readers of data files have in common. Executor side."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.page_source import PageSource
from connector_spi.predicate import TupleDomain, Value
from connector_spi.scan_counters import count
from connectors.toolkit.partition_values import constant_array, constant_batch
from connectors.toolkit.schema.column_sources import ColumnSource
from connectors.toolkit.schema.type_adaptation import CastRules
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["BATCH_ROWS", "FilePageSource", "FileRange", "SourceResolver", "resolve_sources"]

BATCH_ROWS = 65536

SourceResolver = Callable[[pa.Schema], Mapping[str, ColumnSource]]
"""Says where the table's columns are in a file of this schema, by the columns' names."""


@dataclass(frozen=True, slots=True)
class FileRange:
    """A range of a file: the stripes or row groups that belong to it are read.

    Attributes:
        path: The file.
        start: First byte.
        length: Bytes.
    """

    path: str
    start: int
    length: int

    def holds(self, offset: int) -> bool:
        """Whether a byte of the file lies in the range."""
        return self.start <= offset < self.start + self.length


class FilePageSource(PageSource):
    """Reads one range of a file. Opens the file on the first batch.

    Args:
        files: Storage.
        path: The file.
        start: First byte of the range.
        length: Bytes of the range.
        columns: What to read, in output order; nested types may be narrowed.
        constants: Values of the columns that are not read from the file, by name.
        predicate: Parts of the file that by their statistics hold no row of it are skipped. Columns in it whose
            values the caller changes after reading have to be left out.
        sources: Where a column is in the file; by its own name where nothing is said.
        whole: The table's types of nested columns, by name, where those of ``columns`` may be narrowed and the rules
            find fields by their place.
        zone: Zone to show instants in where the table's type is a wall-clock time and the file names no zone.
        strict: Refuse casts that can lose a value (which else becomes NULL).
        batch_rows: Most rows of a batch.

    Attributes:
        rules: How types of files become those of columns; those of ``strict`` where a subclass says nothing.
        skips_rows: Rows that the predicate leaves out need not be given. A subclass whose rows are told by their
            places says nothing.
    """

    rules: ClassVar[CastRules | None] = None
    skips_rows: ClassVar[bool] = False

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
        sources: Mapping[str, ColumnSource] | SourceResolver | None = None,
        whole: Mapping[str, pa.DataType] | None = None,
        zone: str = "UTC",
        strict: bool = False,
        batch_rows: int = BATCH_ROWS,
    ) -> None:
        self.files = files
        self.where = FileRange(path, start, length)
        self.constants = dict(constants or {})
        self.predicate: TupleDomain[ColumnHandle] = predicate if predicate is not None else TupleDomain.all()
        self.sources = sources if sources is not None else {}
        self.whole = whole
        self.zone = zone
        self.strict = strict
        self.batch_rows = batch_rows
        self.file_columns = tuple(column for column in columns if column.name not in self.constants)
        self.bytes_read = 0
        self._schema = pa.schema([pa.field(column.name, column.type) for column in columns])
        self._batches = self._run()

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    @property
    def completed_bytes(self) -> int:
        return self.bytes_read

    def __next__(self) -> pa.RecordBatch:
        with self.errors():
            return next(self._batches)

    def close(self) -> None:
        self._batches.close()

    @abstractmethod
    def read(self) -> Generator[pa.RecordBatch, None, None]:
        """Opens the file, gives its batches and closes it, also when the generator is closed."""

    @abstractmethod
    def errors(self) -> AbstractContextManager[None]:
        """Maps what the reading library raises."""

    def batch(self, arrays: list[pa.Array], rows: int) -> pa.RecordBatch:
        """A batch of the output schema, of one array for each of ``file_columns``."""
        if not self._schema.names:
            return constant_batch(self._schema, {}, rows)
        by_name = dict(zip((column.name for column in self.file_columns), arrays, strict=True))
        columns = [
            by_name[field.name]
            if field.name in by_name
            else constant_array(self.constants[field.name], field.type, rows)
            for field in self._schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def count(self, rows: int) -> Generator[pa.RecordBatch, None, None]:
        """Batches of ``rows`` rows in all where no column has to be read: constants, and NULL for file columns."""
        nulls: dict[str, Value | None] = dict.fromkeys((column.name for column in self.file_columns), None)
        while rows > 0:
            taken = min(rows, self.batch_rows)
            rows -= taken
            yield constant_batch(self._schema, {**nulls, **self.constants}, taken)

    def _run(self) -> Generator[pa.RecordBatch, None, None]:
        if not self.predicate.is_none and self._constants_match():
            # Constants are not in the file: a reader would take them for columns that are NULL.
            self.predicate = self.predicate.keep(lambda column: column.name not in self.constants)
            count("ranges of files opened")
            yield from self.read()

    def _constants_match(self) -> bool:
        domains = dict(self.predicate.domains or {})
        return all(
            domain.includes_value(self.constants[column.name])
            for column, domain in domains.items()
            if column.name in self.constants
        )


def resolve_sources(
    sources: Mapping[str, ColumnSource] | SourceResolver, schema: pa.Schema
) -> Mapping[str, ColumnSource]:
    """Where the table's columns are in a file of this schema."""
    return sources(schema) if callable(sources) else sources
