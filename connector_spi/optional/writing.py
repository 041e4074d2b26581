"""What writes rows. Driver side; the sinks of ``connector_spi.page_sink`` write them in tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from connector_spi.handles import TableHandle
from connector_spi.page_sink import Fragment, InsertHandle
from connector_spi.session import ConnectorSession

__all__ = ["SupportsInsert"]


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
