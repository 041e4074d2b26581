"""What replaces tables: their definition and their rows. Driver side."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import TableDefinition
from connector_spi.session import ConnectorSession

__all__ = ["SupportsTableReplacement"]


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
