"""A table that a query makes: ``CREATE TABLE ... AS SELECT``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from py4j.java_gateway import JavaObject

from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.creating import NewTable
from connector_spi.optional.definitions import TableDefinition
from connector_spi.schema import ColumnMetadata, TableMetadata
from lakeport.arrow.write.creating import BegunTable
from lakeport.arrow.write.inserting import check_outside_of_block
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.bridge.proxies import Proxy
from lakeport.spark.bridge.types import spark_schema_json
from lakeport.spark.bridge.versions import v2_columns
from lakeport.spark.catalog import definitions
from lakeport.spark.catalog.table import table_abilities
from lakeport.spark.transforms import table_transforms
from lakeport.spark.write.insert import SparkInsert
from lakeport.spark.write.write_builder import AppendBuilderProxy, AskedRows, WriteStarts
from lakeport.transactions.statement import CatalogAccess, statement_scope

__all__ = ["NewTableProxy", "query_columns", "stage_table"]


class NewTableProxy(Proxy):
    """A table that is not there yet: it is made with the rows of a query.

    Args:
        jvm: The door to the JVM.
        access: The catalog in the query's statement.
        name: The table.
        new: The table that was begun.
        columns: Its columns in the order of the query.
        insert: Takes its rows.
    """

    class Java:
        implements: ClassVar[list[str]] = [CATALOG + "SupportsWrite", CATALOG + "StagedTable"]

    def __init__(
        self,
        jvm: Jvm,
        access: CatalogAccess,
        name: CatalogSchemaTableName,
        new: NewTable,
        columns: Sequence[ColumnMetadata],
        insert: SparkInsert,
    ) -> None:
        super().__init__(jvm)
        self._access = access
        self._name = name
        self._new = new
        self._columns = columns
        self._insert = insert
        self._is_written = False

    def name(self) -> str:
        """The full name."""
        return str(self._name)

    def schema(self) -> JavaObject:
        """The visible columns as a struct."""
        return self._jvm.data_type(spark_schema_json(self._columns, char=True))

    def columns(self) -> JavaObject:
        """The visible columns."""
        return v2_columns(self._jvm, self.schema())

    def partitioning(self) -> JavaObject:
        """The partition keys as identity transforms, and the buckets."""
        return table_transforms(self._jvm, self._new.table)

    def properties(self) -> JavaObject:
        """What SHOW CREATE TABLE and DESCRIBE EXTENDED show."""
        return self._jvm.string_map(list(self._new.table.properties))

    def capabilities(self) -> JavaObject:
        """Writes of its rows; ``CREATE OR REPLACE`` has them take the place of none."""
        return table_abilities(self._jvm, ("BATCH_WRITE", "TRUNCATE"))

    def newWriteBuilder(self, info: JavaObject) -> AppendBuilderProxy:
        """The rows of the query."""
        self._is_written = True
        rows = AskedRows(str(info.schema().json()), str(info.queryId()))
        return AppendBuilderProxy(self._jvm, self._name, WriteStarts(lambda _: self._insert), rows, self._new.layout)

    def commitStagedChanges(self) -> None:
        """The rows were made visible by the write, the table with them; without a query it is empty."""
        if not self._is_written:
            self._insert.commit(())
        self._access.statement.lease.redefined(self._access.catalog, self._name.schema, self._name.table)

    def abortStagedChanges(self) -> None:
        """There is no table."""
        self._insert.abort()


def stage_table(
    jvm: Jvm, access: CatalogAccess, name: CatalogSchemaTableName, arguments: Sequence[JavaObject]
) -> NewTableProxy:
    """Begins a table for the rows of a query.

    Args:
        jvm: The door to the JVM.
        access: The catalog in the query's statement.
        name: The table.
        arguments: As of ``create_table``.

    Raises:
        NotSupportedError: The catalog makes no tables of rows, or not this one, or this is in a block.
        ConnectorError: The table is there, or cannot be made; nothing has changed.
    """
    check_outside_of_block(access.statement.shared_lease)
    definition = definitions.read_definition(jvm, name, arguments)
    statement = access.statement.writing()
    with statement_scope(statement):
        begun = BegunTable(statement.access(access.catalog), definition)
        insert = SparkInsert(access.statement, statement, begun, name)
        columns = query_columns(begun.made.table, definition)
    return NewTableProxy(jvm, access, name, begun.made, columns, insert)


def query_columns(table: TableMetadata, definition: TableDefinition) -> list[ColumnMetadata]:
    """The columns of a new table in the order of its query.

    Spark writes by position, and Hive has partition keys behind the other columns.
    """
    columns = {column.name: column for column in table.visible_columns()}
    return [columns[column.name.lower()] for column in definition.columns]
