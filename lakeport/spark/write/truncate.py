"""Rows of a table that go with none in their place: ``TRUNCATE TABLE``."""

from __future__ import annotations

from catalog.resolver import ResolvedTable
from connector_spi.optional.writing import Overwrite, SupportsOverwrite
from connector_spi.predicate import TupleDomain
from lakeport.spark.write.insert import SparkInsert
from lakeport.sql.unsupported_statements import rows_are_not_written
from lakeport.transactions.statement import CatalogAccess

__all__ = ["truncate"]


def truncate(access: CatalogAccess, table: ResolvedTable, rows: TupleDomain[str]) -> None:
    """Takes the rows of a table, or of partitions of it, away.

    Args:
        access: The catalog in the statement that Spark loaded the table in.
        table: The table in it.
        rows: Whole partitions, by their keys.

    Raises:
        NotSupportedError: Its connector does not write, or not to this table, or not with others in a block.
        ConnectorError: The catalog or its storage failed; nothing is gone.
    """
    if not isinstance(access.metadata, SupportsOverwrite):
        raise rows_are_not_written(access.catalog, "TRUNCATE TABLE")
    SparkInsert(access.statement, table, table.table.visible_columns(), Overwrite(rows)).commit(())
