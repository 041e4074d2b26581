"""Tables that queries make: new ones, and such that take the place of others. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import TableDefinition
from connector_spi.optional.page_sink import Fragment, InsertHandle
from connector_spi.optional.writing import InsertLayout, SupportsInsert
from connector_spi.schema import TableMetadata
from connector_spi.session import ConnectorSession

__all__ = ["NewTable", "SupportsCreateTableAs", "SupportsTableReplacement"]


@dataclass(frozen=True, slots=True)
class NewTable:
    """A table that a query makes, and that is not there yet.

    Attributes:
        table: As readers will see it. Sinks take its visible columns, in their order.
        insert: What sinks need; plain data (invariant I2).
        layout: How the rows are best dealt out to tasks; ``None`` where any way will do.
    """

    table: TableMetadata
    insert: InsertHandle
    layout: InsertLayout | None = None


@runtime_checkable
class SupportsCreateTableAs(SupportsInsert, Protocol):
    """Metadata whose tables are made with their rows: ``CREATE TABLE AS``.

    After ``begin_create_table`` the engine calls exactly one of ``finish_create_table`` and ``abort_insert``. The table
    is there when the transaction commits, with all its rows; until then its name is free, and after a rollback nothing
    is left. ``ConnectorMetadata`` of Trino has the same two calls.
    """

    def begin_create_table(self, session: ConnectorSession, definition: TableDefinition) -> NewTable:
        """Begins to write the rows of a new table.

        Args:
            session: The statement.
            definition: The table; it has columns.

        Raises:
            SchemaNotFoundError: There is no such schema.
            UserError: There is a table of this name, or something in its directory.
            NotSupportedError: It could not be read right, or rows cannot be written to it.
        """

    def finish_create_table(
        self, session: ConnectorSession, insert: InsertHandle, fragments: Sequence[Fragment]
    ) -> None:
        """All rows are written; makes ready what the commit does.

        Args:
            session: The statement.
            insert: From ``begin_create_table``.
            fragments: Of one sink of each task, in any order.

        Raises:
            ConnectorError: It failed. The engine calls ``abort_insert`` and rolls back.
        """


@runtime_checkable
class SupportsTableReplacement(Protocol):
    """Metadata whose tables can be replaced while others read them, who see the old one or the new one.

    A connector that cannot do it in one step may leave the name missing for a moment, never half a table.

    ``begin_replace_table`` may make a table beside the old one. The engine writes rows to it, and then calls
    ``finish_replace_table``; or it drops it.
    """

    def begin_replace_table(self, session: ConnectorSession, definition: TableDefinition) -> SchemaTableName | None:
        """Makes what is to take a table's place.

        Args:
            session: The statement.
            definition: By the name of a table that is there.

        Returns:
            An empty table, for the new rows; ``None`` where the table has this definition, so that rows in place of its
            own are all that it needs.

        Raises:
            TableNotFoundError: There is no such table.
            NotSupportedError: It cannot be replaced so that readers see one of the two.
        """

    def finish_replace_table(
        self, session: ConnectorSession, name: SchemaTableName, replacement: SchemaTableName
    ) -> None:
        """Puts the new table in the old one's place, with its owner and grants; its own name goes.

        Args:
            session: The statement.
            name: The table.
            replacement: From ``begin_replace_table``.

        Raises:
            ConnectorError: It failed, or others have written to it meanwhile; the old table is there.
        """
