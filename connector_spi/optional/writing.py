"""What writes rows. Driver side; the sinks of ``connector_spi.page_sink`` write them in tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from connector_spi.handles import TableHandle
from connector_spi.page_sink import Fragment, InsertHandle
from connector_spi.predicate import TupleDomain
from connector_spi.session import ConnectorSession

__all__ = ["Overwrite", "SupportsInsert", "SupportsOverwrite"]


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
