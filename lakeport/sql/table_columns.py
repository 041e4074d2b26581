"""Looks up the columns of tables by name, to translate statements. Needs no Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa

from catalog.registry import CatalogRegistry
from catalog.resolver import ResolvedSystemTable
from connector_spi.errors import ConnectorError
from connector_spi.names import CatalogSchemaTableName
from lakeport.planning.redirection import resolve
from lakeport.transactions.lease import ReadLease
from lakeport.transactions.plain_statement import plain_statement
from lakeport.transactions.statement import statement_scope
from lakeport.trino.columns_of import ColumnsOf

__all__ = ["table_columns"]


def table_columns(
    registry: CatalogRegistry, lease: ReadLease | None, current: Callable[[], tuple[str, str]]
) -> ColumnsOf:
    """Returns a function that looks columns up in Lakeport's catalogs; those of other tables are unknown.

    Args:
        registry: The catalogs.
        lease: On transactions to use; ``None`` for one of its own.
        current: Returns the current catalog and schema; called only if needed.
    """

    def columns_of(name: tuple[str, ...]) -> Mapping[str, pa.DataType] | None:
        full = (*(current()[: 3 - len(name)] if len(name) < 3 else ()), *name)
        if len(full) != 3 or full[0] not in registry.names():
            return None
        try:
            with statement_scope(plain_statement(registry, lease)) as statement:
                _, resolved = resolve(statement.access(full[0]), CatalogSchemaTableName(*full), None)
                statement.commit()
        except ConnectorError:
            # Spark reports the error, with its position.
            return None
        table = resolved.system_table.metadata if isinstance(resolved, ResolvedSystemTable) else resolved.table
        return {column.name: column.type for column in table.columns}

    return columns_of
