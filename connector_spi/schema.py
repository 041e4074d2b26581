"""Tables and columns as the user sees them. Types are Arrow types."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from connector_spi.names import SchemaTableName
from connector_spi.serializable import Serializable

__all__ = ["ColumnMetadata", "TableBuckets", "TableMetadata"]


@dataclass(frozen=True, slots=True)
class ColumnMetadata(Serializable):
    """A column.

    Attributes:
        name: As SQL says it, lower case unless the format keeps case.
        type: Arrow type of the values. ``timestamp[us]`` without zone is a wall-clock time, with ``UTC`` an instant.
        nullable: Whether NULL can occur. ``False`` is a promise: engines plan with it, and ``IS NULL`` finds nothing.
            Where the source does not enforce it, as Arrow and Parquet files do not, leave it ``True``.
        comment: The user's words, or ``None``.
        hidden: Not part of ``SELECT *``, such as ``$path``.
        declared_type: The catalog's own words where Arrow has no type for them, such as ``varchar(10)``. Values of a
            ``char(n)`` come with n characters, blanks at the end: by that engines choose what they read.
    """

    name: str
    type: pa.DataType
    nullable: bool = True
    comment: str | None = None
    hidden: bool = False
    declared_type: str | None = None


@dataclass(frozen=True, slots=True)
class TableBuckets(Serializable):
    """What ``CLUSTERED BY`` says of a table.

    Attributes:
        columns: Rows with equal values in these are in files of one bucket.
        count: Number of buckets, at least 1.
        sorted_by: Rows of a file ascend by these columns; none where their order does not matter.
    """

    columns: tuple[str, ...]
    count: int
    sorted_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableMetadata(Serializable):
    """A table.

    Attributes:
        name: Schema and table.
        columns: In the user's order, partition keys included, hidden ones last.
        partitioned_by: Names of the partition keys, in order.
        comment: The user's words, or ``None``.
        properties: What ``SHOW CREATE TABLE`` and ``DESCRIBE EXTENDED`` show; no secrets. By Spark's keys:
            ``location``; ``provider``, what ``USING`` says; ``external``, ``true`` where files stay when the table is
            dropped; options under ``option.``.
        buckets: What ``CLUSTERED BY`` of ``SHOW CREATE TABLE`` says; ``None`` where there is no such clause.
    """

    name: SchemaTableName
    columns: tuple[ColumnMetadata, ...]
    partitioned_by: tuple[str, ...] = ()
    comment: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    buckets: TableBuckets | None = None

    def visible_columns(self) -> tuple[ColumnMetadata, ...]:
        """The columns of ``SELECT *``, in order."""
        return tuple(column for column in self.columns if not column.hidden)
