"""Table handle and split of the hive connector, which are sent to tasks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from connector_spi.handles import ColumnHandle, NativeFile, Split, TableHandle
from connector_spi.names import SchemaTableName
from connector_spi.optional.aggregation import Aggregation
from connector_spi.optional.top_n import SortItem
from connector_spi.predicate import ConnectorExpression, TupleDomain, Value
from connector_spi.serializable import Serializable
from connectors.hive.acid.changes import CHANGE_COLUMNS, ChangeSpan, FileChange, RowChanges
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS, BUCKET
from connectors.hive.acid.valid_ids import AcidSnapshot
from connectors.hive.buckets.layout import BucketCheck, Bucketing
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.schema.text_types import TextRule
from connectors.toolkit.storage.file_ranges import file_ranges

__all__ = [
    "FILE_MODIFIED_TIME",
    "FILE_SIZE",
    "HIDDEN_COLUMNS",
    "PARTITION",
    "PATH",
    "HiveSplit",
    "HiveTableHandle",
    "TopN",
]

PATH = "$path"
PARTITION = "$partition"
FILE_SIZE = "$file_size"
FILE_MODIFIED_TIME = "$file_modified_time"
HIDDEN_COLUMNS = (
    ColumnHandle(PATH, pa.string()),
    ColumnHandle(PARTITION, pa.string()),
    ColumnHandle(FILE_SIZE, pa.int64()),
    ColumnHandle(FILE_MODIFIED_TIME, pa.timestamp("us", "UTC")),
)
"""Hidden columns of every table: ``SELECT *`` leaves them out."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DELETE_WEIGHT = 50
"""Each part of a file loads the deletes; an event has a byte or two, and costs as much as a row."""


@dataclass(frozen=True, slots=True)
class TopN(Serializable):
    """The first rows in an order, of which splits are known that cannot hold one.

    Attributes:
        count: How many rows are wanted.
        item: The first column of the order.
    """

    count: int
    item: SortItem


@dataclass(frozen=True, slots=True)
class HiveTableHandle(TableHandle):
    """A table with the filter and projection pushed into it.

    Attributes:
        name: Schema and table.
        storage: How the table's files are written; partitions may differ.
        location: The table's directory.
        data_columns: Columns in the files, in the metastore's order.
        partition_keys: Partition keys, in order.
        text_rules: Columns with ``char`` or ``varchar`` in them, by name.
        constraint: Pushed filters: exact for partition keys; for other columns they select files and parts of files.
        columns: Columns to read; ``None`` before a projection was pushed.
        snapshot: What the statement sees of a transactional table; ``None`` for other tables.
        insert_only: The transactional table has no deletes and no row ids.
        changes: Read the changes of these write ids of a transactional table; ``None`` to read the table itself.
        bucketing: How Hive bucketed the rows; ``None`` for tables that are not bucketed, or not in Hive's way.
        aggregation: Each split gives one group instead of rows; ``None`` for rows.
        alternatives: Domains of partition keys, of which a partition has to fit at least one; none where nothing of
            that kind is known. They only choose partitions.
        conditions: Pushed filters that domains cannot say; they only select files and parts of files.
        top_n: Splits that hold none of the first rows are left out; ``None`` for all rows.
    """

    name: SchemaTableName
    storage: FileStorage
    location: str
    data_columns: tuple[ColumnHandle, ...]
    partition_keys: tuple[ColumnHandle, ...] = ()
    text_rules: tuple[tuple[str, TextRule], ...] = ()
    constraint: TupleDomain[ColumnHandle] = field(default_factory=TupleDomain.all)
    columns: tuple[ColumnHandle, ...] | None = None
    snapshot: AcidSnapshot | None = None
    insert_only: bool = False
    changes: ChangeSpan | None = None
    bucketing: Bucketing | None = None
    aggregation: Aggregation | None = None
    alternatives: tuple[TupleDomain[ColumnHandle], ...] = ()
    conditions: tuple[ConnectorExpression, ...] = ()
    top_n: TopN | None = None

    @property
    def format(self) -> str:
        """Name of the table's file format, such as ``orc``."""
        return self.storage.format

    @property
    def all_columns(self) -> tuple[ColumnHandle, ...]:
        """Columns of the files, partition keys, change columns and hidden columns."""
        change_columns = () if self.changes is None or self.changes.inserts_only else CHANGE_COLUMNS
        return (*self.data_columns, *self.partition_keys, *change_columns, *self.hidden_columns)

    @property
    def hidden_columns(self) -> tuple[ColumnHandle, ...]:
        """Hidden columns: only full ACID tables have row ids; the bucket is also a column of bucketed tables."""
        if self.full_acid:
            return (*HIDDEN_COLUMNS, *ACID_HIDDEN_COLUMNS)
        bucket = (column for column in ACID_HIDDEN_COLUMNS if column.name == BUCKET and self.bucketing is not None)
        return (*HIDDEN_COLUMNS, *bucket)

    @property
    def full_acid(self) -> bool:
        """Whether the table is transactional, with deletes and row ids."""
        return self.snapshot is not None and not self.insert_only


@dataclass(frozen=True, slots=True)
class HiveSplit(Split):
    """A range of a data file.

    Attributes:
        path: The file.
        start: First byte of the range.
        length: Bytes of the range.
        file_size: Bytes of the file.
        modified_millis: Modification time, milliseconds since 1970, UTC.
        format: Name of the file format.
        partition: Name of the partition, such as ``ds=2024-01-01``; empty where the table has no partition keys.
        partition_values: Typed value of each partition key, by name.
        partition_columns: The partition's own names of the columns in the files, in order; ``None`` where they are
            the table's, or the format does not use them.
        partition_types: The partition's own types of these columns; as many as the partition has columns.
        partition_rules: Rules for the partition's own char and varchar columns, by its names, applied before the values
            are cast to the table's types.
        storage: How the partition's files are written; ``None`` where it is as the table's.
        native: The engine's own reader would give the rows of the selected columns exactly.
        native_constants: With ``native``: the selected columns that are not in the file.
        acid: Of a full ACID table: which rows of the file are read; ``None`` for all, without row ids.
        changes: In a read of changes: what happened to the rows.
        bucket: The file's bucket; ``None`` where the table is not bucketed, or the file's name has no bucket.
        bucket_check: Which rows are checked to be in that bucket.
        splittable: Ranges of the file can be read apart.
    """

    path: str
    start: int
    length: int
    file_size: int
    modified_millis: int
    format: str
    partition: str = ""
    partition_values: tuple[tuple[str, Value | None], ...] = ()
    partition_columns: tuple[str, ...] | None = None
    partition_types: tuple[pa.DataType, ...] | None = None
    partition_rules: tuple[tuple[str, TextRule], ...] = ()
    storage: FileStorage | None = None
    native: bool = False
    native_constants: tuple[str, ...] = ()
    acid: AcidFile | None = None
    changes: RowChanges | FileChange | None = None
    bucket: int | None = None
    bucket_check: BucketCheck = BucketCheck.NONE
    splittable: bool = False

    @property
    def size_bytes(self) -> int:
        return self.length

    def cut(self, most_bytes: int) -> list[HiveSplit]:
        deletes = () if self.acid is None else self.acid.deletes
        return self.ranges(max(most_bytes, _DELETE_WEIGHT * sum(delete.size for delete in deletes)))

    def ranges(self, most_bytes: int) -> list[HiveSplit]:
        """Splits of this range, of about ``most_bytes`` at most."""
        if not self.splittable:
            return [self]
        found = file_ranges(self.length, most_bytes, self.start)
        return [replace(self, start=start, length=length) for start, length in found]

    def constants(self) -> dict[str, Value | None]:
        """Values by name: partition keys, hidden columns and, where all rows have the same change, change columns."""
        change = self.changes.constants() if isinstance(self.changes, FileChange) else {}
        # Rows of a full ACID table hold their buckets themselves.
        bucket: dict[str, Value | None] = {} if self.acid is not None else {BUCKET: self.bucket}
        return {
            **dict(self.partition_values),
            **change,
            **bucket,
            PATH: self.path,
            PARTITION: self.partition,
            FILE_SIZE: self.file_size,
            FILE_MODIFIED_TIME: _EPOCH + timedelta(milliseconds=self.modified_millis),
        }

    @property
    def native_file(self) -> NativeFile | None:
        if not self.native:
            return None
        known = self.constants()
        constants = tuple((name, known[name]) for name in self.native_constants)
        return NativeFile(
            self.format,
            self.path,
            self.start,
            self.length,
            file_size=self.file_size,
            modified_millis=self.modified_millis,
            constants=constants,
        )
