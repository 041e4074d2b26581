"""What many tables are, asked for at once. Driver side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from connector_spi.optional.definitions import ViewDefinition
from connector_spi.schema import TableMetadata
from connector_spi.session import ConnectorSession

__all__ = ["SupportsTableListing"]


@runtime_checkable
class SupportsTableListing(Protocol):
    """Metadata that describes many tables in fewer calls than one for each (Trino's ``streamTableColumns``)."""

    def list_table_metadata(
        self, session: ConnectorSession, schema: str, names: Sequence[str]
    ) -> Iterator[TableMetadata | ViewDefinition]:
        """What ``get_table_metadata`` or ``get_view`` would say of tables, without a handle, a lock or a file.

        What is left out is asked for by itself: tables that are gone, are redirected, or are not understood, which so
        gets its error.

        Args:
            session: The statement.
            schema: Name of the schema.
            names: Of tables and views in it.
        """
