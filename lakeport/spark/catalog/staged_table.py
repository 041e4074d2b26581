"""A table that a query makes: ``CREATE TABLE ... AS SELECT``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from py4j.java_gateway import JavaObject

from catalog.resolver import ResolvedTable
from connector_spi.errors import NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.definitions import SupportsTableDefinition, TableDefinition
from connector_spi.optional.writing import SupportsInsert
from connector_spi.schema import ColumnMetadata
from lakeport.arrow.write.inserting import check_outside_of_block, resolve_target
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.catalog import definitions
from lakeport.spark.catalog.loading import scanned_table
from lakeport.spark.catalog.table import TableProxy
from lakeport.sql.unsupported_statements import rows_are_not_written
from lakeport.transactions.statement import CatalogAccess

__all__ = ["StagedTableProxy", "query_columns", "stage_table"]


class StagedTableProxy(TableProxy):
    """A new table, which stays if the query that fills it succeeds."""

    class Java:
        implements: ClassVar[list[str]] = [*TableProxy.Java.implements, CATALOG + "StagedTable"]

    def commitStagedChanges(self) -> None:
        """Does nothing: the rows were made visible by the write."""

    def abortStagedChanges(self) -> None:
        """The table goes, with what was written to it."""
        definitions.drop_table(self._table.plan.access, self._table.name, purge=True)


def stage_table(
    jvm: Jvm, access: CatalogAccess, name: CatalogSchemaTableName, definition: Sequence[JavaObject]
) -> StagedTableProxy:
    """Makes a table for the rows of a query. It is there, and empty, until the query ends.

    Args:
        jvm: The door to the JVM.
        access: The catalog in the query's statement.
        name: The table.
        definition: As of ``create_table``.

    Raises:
        NotSupportedError: The catalog has no tables that rows can be written to, or this is in a block.
        ConnectorError: The table is there, or cannot be made; nothing has changed.
    """
    if not (isinstance(access.metadata, SupportsInsert) and isinstance(access.metadata, SupportsTableDefinition)):
        raise rows_are_not_written(
            access.catalog, "CREATE TABLE AS SELECT", adds=isinstance(access.metadata, SupportsInsert)
        )
    check_outside_of_block(access.statement.shared_lease)
    said = definitions.create_table(jvm, access, name, definition)
    try:
        table = resolve_target(access.statement, name).table
    except NotSupportedError:
        definitions.drop_table(access, name, purge=True)
        raise
    return StagedTableProxy(jvm, scanned_table(access, table, query_columns(table, said)), table.table, table)


def query_columns(table: ResolvedTable, definition: TableDefinition) -> list[ColumnMetadata]:
    """The columns of a new table in the order of its query.

    Spark writes by position, and Hive has partition keys behind the other columns.
    """
    columns = {column.name: column for column in table.table.visible_columns()}
    return [columns[column.name.lower()] for column in definition.columns]
