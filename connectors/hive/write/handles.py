"""What travels of an insert into a Hive table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.optional.page_sink import Fragment, InsertHandle, MergeHandle
from connector_spi.serializable import Serializable
from connectors.hive.acid.layout import BUCKETS, base_name, delete_delta_name, delta_name
from connectors.hive.buckets.layout import Bucketing
from connectors.hive.formats.file_storage import FileStorage
from connectors.hive.schema.text_types import TextRule
from connectors.hive.write.statistics.written_columns import WrittenColumn

__all__ = [
    "STATEMENTS",
    "AcidWrite",
    "HiveDeleteFragment",
    "HiveFragment",
    "HiveInsertHandle",
    "HiveMergeHandle",
    "SortedBy",
    "WrittenBuckets",
]


STATEMENTS = 64
"""Numbers of statements that one insert into a transactional table may use: one for each 4,096 tasks."""


@dataclass(frozen=True, slots=True)
class AcidWrite(Serializable):
    """One statement that writes rows to a transactional table, or deletes some.

    Attributes:
        write_id: Of the rows.
        statement: Number of the statement in its transaction.
        row_ids: Rows have ids; else the files are as those of plain tables.
        base: The rows replace all others.
    """

    write_id: int
    statement: int
    row_ids: bool
    base: bool = False

    @property
    def directory(self) -> str:
        """Name of the directory of the rows, in each partition."""
        return base_name(self.write_id) if self.base else self.delta

    @property
    def delta(self) -> str:
        """Name of the directory of rows that are added."""
        return delta_name(self.write_id, self.statement)

    @property
    def delete_directory(self) -> str:
        """Name of the directory of the delete events, in each partition."""
        return delete_delta_name(self.write_id, self.statement)

    def of_task(self, task: int) -> tuple[AcidWrite, int]:
        """What a task writes, and the number of its bucket; no other task has both.

        Raises:
            NotSupportedError: There are more tasks than files of one directory that replaces all others.
        """
        if self.base and task >= BUCKETS:
            raise NotSupportedError(
                f"rows of a transactional table cannot be replaced by more than {BUCKETS} tasks: a directory has as "
                "many buckets; have the query repartition its rows"
            )
        return replace(self, statement=self.statement + task // BUCKETS), task % BUCKETS


@dataclass(frozen=True, slots=True)
class SortedBy(Serializable):
    """One column of ``SORTED BY``.

    Attributes:
        column: Its name.
        ascending: NULL comes first; else last.
    """

    column: str
    ascending: bool


@dataclass(frozen=True, slots=True)
class WrittenBuckets(Serializable):
    """How rows are dealt out to files.

    Attributes:
        bucketing: The bucket of each row.
        sorted_by: The order of the rows in a file; none where it does not matter.
        filled: Buckets of a plain table that have no rows get files, too.
    """

    bucketing: Bucketing
    sorted_by: tuple[SortedBy, ...] = ()
    filled: bool = False


@dataclass(frozen=True, slots=True)
class HiveInsertHandle(InsertHandle):
    """Rows to come.

    Attributes:
        name: The table.
        storage: How its files are written.
        staging: Folder for the files until they are published; no reader looks into it.
        data_columns: Columns of the files, in order.
        partition_keys: Partition keys, in order; they come behind the other columns.
        text_rules: Columns with ``char`` or ``varchar`` in them, by name.
        acid: Of a transactional table; ``None`` for a plain one.
        buckets: Of a bucketed table; ``None`` for one that is not.
        statistics: Names of the columns that are counted while they are written.
    """

    name: SchemaTableName
    storage: FileStorage
    staging: str
    data_columns: tuple[ColumnHandle, ...]
    partition_keys: tuple[ColumnHandle, ...]
    text_rules: tuple[tuple[str, TextRule], ...]
    acid: AcidWrite | None = None
    buckets: WrittenBuckets | None = None
    statistics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HiveFragment(Fragment):
    """A file in the staging folder.

    Attributes:
        path: The file.
        name: What it will be below the partition's directory; of buckets of plain tables that is not known yet.
        partition: Texts of the partition's key values, in the order of the keys; empty where there are none.
        rows: Its rows.
        size: Its bytes.
        deletes: They are events of deleted rows, whose partition is there.
        bucket: The bucket of all rows; ``None`` where the table is not bucketed, and for events of deleted rows.
        original: It is another writer's, without row ids.
        statistics: What was counted of the columns of the insert's ``statistics``; none where there are no rows.
    """

    path: str
    name: str
    partition: tuple[str, ...]
    rows: int
    size: int
    deletes: bool = False
    bucket: int | None = None
    original: bool = False
    statistics: tuple[WrittenColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class HiveMergeHandle(MergeHandle):
    """Changes to come.

    Attributes:
        insert: The rows that are added, also those that replace others; it says where the files of both are staged.
    """

    insert: HiveInsertHandle


@dataclass(frozen=True, slots=True)
class HiveDeleteFragment(Fragment):
    """A file of delete events in the staging folder.

    Attributes:
        path: The file.
        partition: The partition's name; empty where there are none.
        bucket: Number of the bucket of all its rows.
        rows: Its events.
        size: Its bytes.
    """

    path: str
    partition: str
    bucket: int
    rows: int
    size: int
