"""An open data file, as stages see it. Executor side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from typing import Protocol

import pyarrow as pa

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Reference, TupleDomain
from connectors.toolkit.read.file_read import FileRead
from connectors.toolkit.read.pruning import ColumnBounds
from connectors.toolkit.read.rows import FileRows
from connectors.toolkit.schema.schema_adapter import SchemaAdapter

__all__ = ["ColumnarFile", "FileColumns", "OpenFile"]


class OpenFile(ABC):
    """A file that is being read.

    Attributes:
        read: What is asked of it.
        bytes_read: Bytes read so far.
        row_count: Rows of the whole file; ``None`` where only reading it would say.
    """

    def __init__(self, read: FileRead, row_count: int | None = None) -> None:
        self.read = read
        self.bytes_read = 0
        self.row_count = row_count

    @property
    @abstractmethod
    def adapter(self) -> SchemaAdapter:
        """What brings the columns of the file into the table's types."""

    @abstractmethod
    def rows(self) -> Generator[FileRows, None, None]:
        """The rows of the range: stripes or row groups that are not decoded yet, or decoded batches."""


class FileColumns(Protocol):
    """Some of the table's columns in an open file of stripes or row groups."""

    @property
    def adapter(self) -> SchemaAdapter:
        """What brings them into the table's types."""

    @property
    def is_read(self) -> bool:
        """Whether the file holds any of them."""

    @property
    def separable(self) -> bool:
        """Whether each of them can be decoded alone."""

    def decode(self, part: FileRows) -> Iterator[FileRows]:
        """Rows of a stripe or row group with the arrays of these columns in the file's types.

        Where the file holds none of the columns, the rows come as they are.
        """


class ColumnarFile(OpenFile):
    """A file of stripes or row groups, of which columns can be read alone.

    Attributes:
        parts_name: What its parts are called, in the plural.
    """

    parts_name: str

    @property
    def adapter(self) -> SchemaAdapter:
        return self.columns.adapter

    @property
    @abstractmethod
    def columns(self) -> FileColumns:
        """All columns that the read asks of the file."""

    @property
    def gives_every_row(self) -> bool:
        """Whether all rows of the parts are rows of the table, so that statistics are those of what is given."""
        return True

    @abstractmethod
    def select(self, columns: tuple[ColumnHandle, ...]) -> FileColumns:
        """Some of these columns."""

    def with_visibility(self, columns: FileColumns) -> FileColumns:
        """The same columns of this file, whose ``decode`` also says which rows a reader sees (``FileRows.kept``)."""
        return columns

    @abstractmethod
    def matching(self, parts: Sequence[int], predicate: TupleDomain[ColumnHandle]) -> list[int]:
        """The parts that may hold rows of a predicate by their statistics; all of them on doubt."""

    @abstractmethod
    def bounds(self, part: int, reference: Reference, data_type: pa.DataType) -> ColumnBounds:
        """What the statistics of a part say of a column, or of a field of structs that is found by name.

        Args:
            part: The stripe or row group.
            reference: The column or field, by the table's names.
            data_type: The table's type of it.
        """

    @abstractmethod
    def exact_bounds(self, part: FileRows, column: ColumnHandle, *, counted: bool) -> ColumnBounds | None:
        """The least and the greatest value of a column in a part, and its NULLs; ``None`` on any doubt.

        Args:
            part: The stripe or row group.
            column: The column.
            counted: Whether its NULLs are all that is asked; bounds say nothing then. Else ``None`` as one of the
                bounds says that there is no value.
        """
