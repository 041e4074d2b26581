"""What a metastore knows, as plain values of our own: apart from the Thrift classes and from SQLite's rows.

Names of databases, tables and columns are lower case, as the Hive metastore keeps them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal

from catalog.metastore.table_access import TableAccess
from connector_spi.serializable import Serializable

__all__ = [
    "ColumnStatistics",
    "Database",
    "FieldSchema",
    "Parameters",
    "Partition",
    "SerDeInfo",
    "SortColumn",
    "StorageDescriptor",
    "Table",
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Parameters(Serializable, Mapping[str, str]):
    """Properties of a database, table, partition or SerDe: an immutable, hashable mapping of text to text.

    Equal to any mapping with the same entries. Make it with ``Parameters.of``.

    Attributes:
        pairs: The entries, sorted by key, each key once.
    """

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, entries: Mapping[str, str] | None = None, **more: str) -> Parameters:
        """Makes parameters of a mapping; ``None`` gives none."""
        if isinstance(entries, Parameters) and not more:
            return entries
        return cls(tuple(sorted({**(entries or {}), **more}.items())))

    def with_entries(self, entries: Mapping[str, str]) -> Parameters:
        """These parameters with ``entries`` added or replaced."""
        return Parameters.of({**self, **entries})

    def __getitem__(self, key: str) -> str:
        position = bisect_left(self.pairs, (key,))
        if position < len(self.pairs) and self.pairs[position][0] == key:
            return self.pairs[position][1]
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __hash__(self) -> int:
        return hash(self.pairs)

    def __repr__(self) -> str:
        return f"Parameters({dict(self.pairs)!r})"


@dataclass(frozen=True, slots=True)
class FieldSchema(Serializable):
    """A column or partition key.

    Attributes:
        name: Lower-case name.
        type: Hive's text of the type, as declared, such as ``varchar(10)``; ``types.parse_hive_type`` reads it.
        comment: What its author said of it.
    """

    name: str
    type: str
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class SortColumn(Serializable):
    """One column of a table's SORTED BY."""

    name: str
    ascending: bool = True


@dataclass(frozen=True, slots=True)
class SerDeInfo(Serializable):
    """The Java class that reads and writes rows, and its settings.

    Attributes:
        serialization_lib: Name of the class; empty for a view.
        parameters: Its settings, such as ``field.delim``.
        name: A name that is not used.
    """

    serialization_lib: str = ""
    parameters: Parameters = field(default_factory=Parameters)
    name: str | None = None


@dataclass(frozen=True, slots=True)
class StorageDescriptor(Serializable):
    """Where and how the rows of a table or of one partition lie.

    Attributes:
        columns: The columns in order, without the partition keys.
        location: URI of the directory; ``None`` for a view.
        input_format: Java class of the input format; ``None`` for a view.
        output_format: Java class of the output format; ``None`` for a view.
        compressed: A flag that Hive sets and never reads.
        bucket_count: Number of buckets; ``-1`` or ``0`` when there are none.
        serde: The SerDe.
        bucket_columns: Columns of CLUSTERED BY, in order.
        sort_columns: Columns of SORTED BY, in order.
        parameters: Rarely used settings.
        stored_as_subdirectories: List bucketing is on: files lie in directories of skewed values.
    """

    columns: tuple[FieldSchema, ...] = ()
    location: str | None = None
    input_format: str | None = None
    output_format: str | None = None
    compressed: bool = False
    bucket_count: int = -1
    serde: SerDeInfo = field(default_factory=SerDeInfo)
    bucket_columns: tuple[str, ...] = ()
    sort_columns: tuple[SortColumn, ...] = ()
    parameters: Parameters = field(default_factory=Parameters)
    stored_as_subdirectories: bool = False


@dataclass(frozen=True, slots=True)
class Database(Serializable):
    """A database, which the SPI calls a schema.

    Attributes:
        name: Lower-case name.
        description: What its author said of it.
        location: URI of the directory in which its managed tables lie; ``None`` lets the metastore choose.
        parameters: Its properties.
        owner: Who made it, or whom it was given to.
        owner_type: What the owner is: ``USER`` or ``ROLE``; empty where that is not known.
    """

    name: str
    description: str | None = None
    location: str | None = None
    parameters: Parameters = field(default_factory=Parameters)
    owner: str | None = None
    owner_type: str = "USER"


@dataclass(frozen=True, slots=True)
class Table(Serializable):
    """A table or a view.

    Attributes:
        database: Lower-case name of its database.
        name: Lower-case name.
        storage: Columns, location and formats.
        partition_keys: Partition keys in order; empty when it is not partitioned.
        parameters: Its properties, such as ``transactional`` or ``EXTERNAL``.
        table_type: ``MANAGED_TABLE``, ``EXTERNAL_TABLE``, ``VIRTUAL_VIEW`` or ``MATERIALIZED_VIEW``.
        owner: Who made it.
        create_time: Seconds since 1970 in UTC; 0 when not known.
        last_access_time: Seconds since 1970 in UTC; 0 when not known.
        view_original_text: A view's SQL as written.
        view_expanded_text: A view's SQL with every name in full.
        access: What the metastore lets us do with it; never sent to a metastore.
    """

    database: str
    name: str
    storage: StorageDescriptor
    partition_keys: tuple[FieldSchema, ...] = ()
    parameters: Parameters = field(default_factory=Parameters)
    table_type: str = "MANAGED_TABLE"
    owner: str | None = None
    create_time: int = 0
    last_access_time: int = 0
    view_original_text: str | None = None
    view_expanded_text: str | None = None
    access: TableAccess = field(default_factory=TableAccess)

    @property
    def is_view(self) -> bool:
        """Whether it is a view, of which there are no files. A materialized view has files."""
        return self.table_type == "VIRTUAL_VIEW"


@dataclass(frozen=True, slots=True)
class Partition(Serializable):
    """One partition of a table.

    Attributes:
        database: Lower-case name of the table's database.
        table: Lower-case name of the table.
        values: Text of the value of each partition key, in the keys' order, not escaped.
            ``__HIVE_DEFAULT_PARTITION__`` stands for NULL.
        storage: Its own columns (which may differ from the table's), location and formats.
        parameters: Its properties, such as ``numRows``.
        create_time: Seconds since 1970 in UTC; 0 when not known.
    """

    database: str
    table: str
    values: tuple[str, ...]
    storage: StorageDescriptor
    parameters: Parameters = field(default_factory=Parameters)
    create_time: int = 0


@dataclass(frozen=True, slots=True)
class ColumnStatistics(Serializable):
    """What ANALYZE found of one column, in a table or in one partition. ``None`` is "not known".

    Statistics may be older than the data: they serve estimates, never pruning.

    Attributes:
        column: Lower-case name.
        type: Hive's text of the type when the statistics were made.
        null_count: Number of NULLs.
        distinct_count: Estimate of the number of distinct values.
        low: Smallest value: int, float, Decimal, date, or naive datetime for a timestamp.
        high: Greatest value, likewise.
        average_length: Mean bytes of a value of text or binary.
        max_length: Most bytes of a value of text or binary.
        true_count: Number of true values of a boolean.
        false_count: Number of false values of a boolean.
        quantiles: Values that part the rows that are not NULL into groups of equal size, the smallest and the greatest
            value included: numbers, days since 1970 of dates, seconds since 1970 of timestamps. Empty: not known.
    """

    column: str
    type: str
    null_count: int | None = None
    distinct_count: int | None = None
    low: int | float | Decimal | date | datetime | None = None
    high: int | float | Decimal | date | datetime | None = None
    average_length: float | None = None
    max_length: int | None = None
    true_count: int | None = None
    false_count: int | None = None
    quantiles: tuple[float, ...] = ()
