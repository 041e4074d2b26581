"""What of a Hive table travels to tasks."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pyarrow as pa

from connector_spi.handles import ColumnHandle, PlainFile, Split, TableHandle
from connector_spi.names import SchemaTableName
from connector_spi.predicate import TupleDomain, Value
from connectors.hive.acid.changes import CHANGE_COLUMNS, ChangeSpan, FileChange, RowChanges
from connectors.hive.acid.file import AcidFile
from connectors.hive.acid.key_columns import ACID_HIDDEN_COLUMNS, BUCKET
from connectors.hive.acid.valid_ids import AcidSnapshot
from connectors.hive.buckets.layout import BucketCheck, Bucketing
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.schema.text_types import TextRule

__all__ = [
    "FILE_MODIFIED_TIME",
    "FILE_SIZE",
    "HIDDEN_COLUMNS",
    "PARTITION",
    "PATH",
    "HiveSplit",
    "HiveTableHandle",
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
"""Columns that every row has and ``SELECT *`` leaves out."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class HiveTableHandle(TableHandle):
    """A table with what was pushed into it.

    Attributes:
        name: Schema and table.
        storage: How the table's files are written; a partition's may be written otherwise.
        location: The table's folder.
        data_columns: Columns that the files hold, in the metastore's order.
        partition_keys: Partition keys, in order.
        text_rules: Columns with ``char`` or ``varchar`` in them, by name.
        constraint: Filters taken over: partition keys are exact, other columns choose files and parts of files.
        columns: What is read, or ``None`` before a projection was offered.
        snapshot: What the statement sees of a transactional table; ``None`` for other tables.
        insert_only: The transactional table has no deletes and no row ids.
        changes: The rows are what these write ids changed in a transactional table; ``None`` for the table itself.
        bucketing: How rows were dealt out to files; ``None`` where they were not, or otherwise than Hive does.
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

    @property
    def format(self) -> str:
        """Name of the table's file format, such as ``orc``."""
        return self.storage.format

    @property
    def all_columns(self) -> tuple[ColumnHandle, ...]:
        """Columns of the files, partition keys, what tells changes, and hidden columns."""
        change_columns = () if self.changes is None or self.changes.inserts_only else CHANGE_COLUMNS
        return (*self.data_columns, *self.partition_keys, *change_columns, *self.hidden_columns)

    @property
    def hidden_columns(self) -> tuple[ColumnHandle, ...]:
        """Hidden columns; those of row ids are of full ACID tables only, and the bucket also of bucketed tables."""
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
            the table's, or the format does not ask for them.
        partition_types: The partition's own types of these columns, likewise; as many as the partition has columns.
        partition_rules: What happens to texts of the partition's own char and varchar columns, by its names, before
            they become those of the table.
        storage: How the partition's files are written; ``None`` where it is as the table's.
        plain: The rows of the columns asked are those of the file as they stand.
        plain_constants: With ``plain``: which of the columns asked are not in the file.
        acid: Of a full ACID table: which rows of the file count; ``None`` where all do and row ids are not asked for.
        changes: Of a read of changes: what became of the rows.
        bucket: The file's bucket; ``None`` where there are none, or the file's name tells none.
        bucket_check: Which rows are checked to be of that bucket.
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
    plain: bool = False
    plain_constants: tuple[str, ...] = ()
    acid: AcidFile | None = None
    changes: RowChanges | FileChange | None = None
    bucket: int | None = None
    bucket_check: BucketCheck = BucketCheck.NONE

    @property
    def size_bytes(self) -> int:
        return self.length

    def constants(self) -> dict[str, Value | None]:
        """Values of partition keys, hidden columns and, where all rows changed alike, of what tells that, by name."""
        change = self.changes.constants() if isinstance(self.changes, FileChange) else {}
        # Rows of a full ACID table know their buckets themselves.
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
    def plain_file(self) -> PlainFile | None:
        if not self.plain:
            return None
        known = self.constants()
        constants = tuple((name, known[name]) for name in self.plain_constants)
        return PlainFile(
            format=self.format,
            path=self.path,
            start=self.start,
            length=self.length,
            file_size=self.file_size,
            modified_millis=self.modified_millis,
            constants=constants,
        )
