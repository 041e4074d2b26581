"""What writes rows. Driver side; the sinks of ``connector_spi.optional.page_sink`` write them in tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, runtime_checkable

from connector_spi.handles import TableHandle
from connector_spi.optional.page_sink import Fragment, InsertHandle, MergeHandle
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession

__all__ = [
    "BucketFunction",
    "InsertLayout",
    "MergeCommand",
    "Overwrite",
    "SupportsDelete",
    "SupportsInsert",
    "SupportsInsertLayout",
    "SupportsMerge",
    "SupportsOverwrite",
]


@dataclass(frozen=True, slots=True)
class Overwrite:
    """Which rows those of an insert take the place of.

    Attributes:
        rows: By partition keys, by their names: whole partitions, so that a row outside of it stays. The new rows may
            be outside of it; such rows are added.
        dynamic: Of these only the rows of partitions that new rows go to.
        seen: The table as the statement reads it, where it does so in another transaction. The connector may refuse to
            replace rows that came since.
    """

    rows: TupleDomain[str] = field(default_factory=TupleDomain[str].all)
    dynamic: bool = False
    seen: TableHandle | None = None


@dataclass(frozen=True, slots=True)
class BucketFunction:
    """What tells the bucket of a row by some of its columns.

    Attributes:
        name: Which function, for engines that know it: ``hive 1`` and ``hive 2`` are Hive's of that version.
        columns: Its arguments, by their names.
        kinds: For each of them ``char`` or ``varchar`` where the table declares one, else empty.
        count: Number of buckets.
    """

    name: str
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class InsertLayout:
    """How the rows of an insert are best dealt out to its tasks (``ConnectorTableLayout``).

    It spares files, and work when they are read. Sinks take rows that were dealt out in another way, too.

    Attributes:
        partitioned_by: Rows that are equal in these columns go to one task, or to few where they are many.
        bucketed_by: Rows of one bucket, and equal in ``partitioned_by``, go to one task; ``None`` where the table has
            no buckets.
    """

    partitioned_by: tuple[str, ...]
    bucketed_by: BucketFunction | None = None


@runtime_checkable
class SupportsInsertLayout(Protocol):
    """Metadata that says how the rows of an insert, or of changes, are best dealt out to tasks."""

    def get_insert_layout(self, session: ConnectorSession, table: TableHandle) -> InsertLayout | None:
        """The layout of a table.

        Args:
            session: The statement.
            table: A handle of ``get_table_handle``.

        Returns:
            The layout; ``None`` where any will do.
        """


@runtime_checkable
class SupportsInsert(Protocol):
    """Metadata whose tables take new rows, through sinks of ``Connector.page_sink_provider``.

    After ``begin_insert`` the engine calls exactly one of ``finish_insert`` and ``abort_insert``. Rows become visible
    when the transaction commits, all of them or none; a rollback takes back what was finished. The transaction's own
    reads may see what others see.
    """

    def begin_insert(self, session: ConnectorSession, table: TableHandle) -> InsertHandle:
        """Begins to add rows to a table.

        Args:
            session: The statement.
            table: A handle of ``get_table_handle``, with nothing pushed into it.

        Returns:
            What sinks need; plain data (invariant I2).

        Raises:
            NotSupportedError: Rows cannot be added to this table right.
        """

    def finish_insert(self, session: ConnectorSession, insert: InsertHandle, fragments: Sequence[Fragment]) -> None:
        """All rows are written; makes ready what the commit does.

        Args:
            session: The statement.
            insert: From ``begin_insert``.
            fragments: Of one sink of each task, in any order.

        Raises:
            ConnectorError: It failed. The engine calls ``abort_insert`` and rolls back.
        """

    def abort_insert(self, session: ConnectorSession, insert: InsertHandle) -> None:
        """The insert is given up: clears what its sinks have left, of tasks that were killed, too.

        Args:
            session: The statement.
            insert: From ``begin_insert``.
        """


@runtime_checkable
class SupportsOverwrite(SupportsInsert, Protocol):
    """Metadata whose tables take rows in place of those that they have.

    It is an insert in all else: new rows become visible at the commit, and those that they replace are gone with it. At
    no moment is a row of neither there. An insert without fragments leaves the replaced rows' partitions empty.
    """

    def begin_overwrite(self, session: ConnectorSession, table: TableHandle, overwrite: Overwrite) -> InsertHandle:
        """Begins to replace rows; ``finish_insert`` or ``abort_insert`` ends it.

        Args:
            session: The statement.
            table: A handle of ``get_table_handle``, with nothing pushed into it.
            overwrite: Which rows are replaced.

        Returns:
            What sinks need; plain data (invariant I2).

        Raises:
            NotSupportedError: Rows of this table cannot be replaced right.
            ConnectorError: Someone else has changed the rows since they were seen.
        """


@runtime_checkable
class SupportsDelete(Protocol):
    """Metadata that deletes the rows of whole partitions with no task: ``DELETE``, ``TRUNCATE``."""

    def apply_delete(
        self, session: ConnectorSession, table: TableHandle, rows: TupleDomain[str], seen: TableHandle | None = None
    ) -> None:
        """Deletes rows when the transaction commits; all of them or none.

        Args:
            session: The statement.
            table: A handle of ``get_table_handle``, with nothing pushed into it.
            rows: Whole partitions, by their keys.
            seen: As in ``Overwrite``.

        Raises:
            NotSupportedError: Rows of this table cannot be deleted right.
            ConnectorError: Someone else has changed the rows since they were seen.
        """


class MergeCommand(Enum):
    """The statement that changes rows."""

    DELETE = "delete"
    UPDATE = "update"
    MERGE = "merge"


@runtime_checkable
class SupportsMerge(Protocol):
    """Metadata whose tables' rows can be deleted and replaced, each named by the values of its row id columns.

    One way for ``DELETE``, ``UPDATE`` and ``MERGE``: an updated row is one that is deleted and one that is added. The
    statement reads the table with its row id columns, by the handle that it gives to ``begin_merge``, and sinks of
    ``PageSinkProvider.create_merge_sink`` take what becomes of the rows. After ``begin_merge`` the engine calls exactly
    one of ``finish_merge`` and ``abort_merge``. All changes become visible when the transaction commits, or none.

    No update is lost: where someone else has changed rows since the handle's snapshot, ``begin_merge`` or the commit
    fails. The transaction that writes may be another one than the handle was read in.
    """

    def get_merge_row_id_columns(self, session: ConnectorSession, table: TableHandle) -> Sequence[str]:
        """Hidden columns that together name a row of the table; none of their values is NULL.

        Args:
            session: The statement.
            table: A handle of ``get_table_handle``.

        Raises:
            NotSupportedError: Rows of this table cannot be changed.
        """

    def begin_merge(self, session: ConnectorSession, table: TableHandle, command: MergeCommand) -> MergeHandle:
        """Begins to change rows of a table.

        Args:
            session: The statement.
            table: The handle that the statement reads the rows by, with nothing pushed into it.
            command: The statement's kind.

        Returns:
            What sinks need; plain data (invariant I2).

        Raises:
            NotSupportedError: Rows of this table cannot be changed.
            ConnectorError: Others have changed the table since the handle's snapshot, or the storage failed.
        """

    def finish_merge(self, session: ConnectorSession, merge: MergeHandle, fragments: Sequence[Fragment]) -> None:
        """All changes are written; makes ready what the commit does.

        Args:
            session: The statement.
            merge: From ``begin_merge``.
            fragments: Of one sink of each task, in any order.

        Raises:
            ConnectorError: It failed. The engine calls ``abort_merge`` and rolls back.
        """

    def abort_merge(self, session: ConnectorSession, merge: MergeHandle) -> None:
        """The statement is given up: clears what its sinks have left, of tasks that were killed, too.

        Args:
            session: The statement.
            merge: From ``begin_merge``.
        """
