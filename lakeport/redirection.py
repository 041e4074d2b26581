"""Finding a table, also where one catalog names a table of another kind."""

from __future__ import annotations

from catalog.resolver import ResolvedSystemTable, ResolvedTable, resolve_table
from connector_spi.metadata import TableVersion
from connector_spi.names import CatalogSchemaTableName
from lakeport.statement import CatalogAccess

__all__ = ["resolve"]


def resolve(
    access: CatalogAccess, name: CatalogSchemaTableName, version: TableVersion | None
) -> tuple[CatalogAccess, ResolvedTable | ResolvedSystemTable]:
    """Finds a table, and the access through which it is read.

    Raises:
        SchemaNotFoundError: No such schema.
        TableNotFoundError: No such table.
        NotSupportedError: It cannot be read right.
    """
    with access.lock:
        return access, resolve_table(access.session, access.metadata, name, version)
