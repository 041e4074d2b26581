"""Making a table of rows with no Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.creating import SupportsCreateTableAs
from connector_spi.optional.definitions import TableDefinition
from connector_spi.optional.page_sink import Fragment
from connector_spi.optional.writing import SupportsInsert
from connector_spi.schema import ColumnMetadata
from lakeport.arrow.write.inserting import BegunInsert, write_rows
from lakeport.sql.unsupported_statements import rows_are_not_written
from lakeport.transactions.statement import CatalogAccess, Statement, statement_scope

__all__ = ["BegunTable", "create_table_as"]


class BegunTable(BegunInsert):
    """A table that a query makes: it is there when the transaction commits, with its rows.

    Args:
        access: The catalog.
        definition: The table.

    Attributes:
        name: The table.
        made: What the connector gave.

    Raises:
        NotSupportedError: The catalog makes no tables of rows, or not this one.
        ConnectorError: There is such a table, or the catalog failed.
    """

    def __init__(self, access: CatalogAccess, definition: TableDefinition) -> None:
        metadata, name = access.metadata, definition.name
        if not isinstance(metadata, SupportsCreateTableAs):
            raise rows_are_not_written(access.catalog, "CREATE TABLE AS", adds=isinstance(metadata, SupportsInsert))
        self.name = CatalogSchemaTableName(access.catalog, name.schema, name.table)
        asked = f"create {self.name}"
        with access.lock.asking(asked):
            self.made = metadata.begin_create_table(access.session, definition)
        super().__init__(access, self.made.insert, self.name, self.made.table.visible_columns(), asked)

    def finish(self, fragments: Sequence[Fragment]) -> None:
        """Has the table made when the transaction commits."""
        metadata = cast(SupportsCreateTableAs, self.access.metadata)
        with self.access.lock.asking(self.asked):
            metadata.finish_create_table(self.access.session, self.handle, fragments)


def create_table_as(
    statement: Statement, name: CatalogSchemaTableName, definition: TableDefinition, rows: pa.RecordBatchReader
) -> int:
    """Makes a table with rows; after an error there is no table.

    Args:
        statement: Ends with the call.
        name: The table.
        definition: The table without its columns: they are those of the rows.
        rows: Their columns have the types of the table, as near as it has them.

    Returns:
        How many rows.

    Raises:
        NotSupportedError: The catalog makes no tables that take rows, or has no type for a column.
        InvalidArgumentError: A value does not fit.
        ConnectorError: There is such a table, or the catalog or its storage failed.
    """
    columns = tuple(ColumnMetadata(field.name, _plain(field.type)) for field in rows.schema)
    with statement_scope(statement):
        count = write_rows(BegunTable(statement.access(name.catalog), replace(definition, columns=columns)), rows)
        statement.commit()
    return count


def _plain(data_type: pa.DataType) -> pa.DataType:
    """The type of a table's column that takes all values of an Arrow type, where there is one of another name."""
    plain = _plain_leaf(data_type)
    if plain is not None:
        return plain
    if pa.types.is_dictionary(data_type):
        return _plain(data_type.value_type)
    if pa.types.is_timestamp(data_type):
        return pa.timestamp("us", data_type.tz)
    if pa.types.is_list(data_type) or pa.types.is_large_list(data_type) or pa.types.is_fixed_size_list(data_type):
        return pa.list_(_plain(data_type.value_type))
    if pa.types.is_struct(data_type):
        return pa.struct([(field.name, _plain(field.type)) for field in data_type])
    if pa.types.is_map(data_type):
        return pa.map_(_plain(data_type.key_type), _plain(data_type.item_type))
    return data_type


_UNSIGNED = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}


def _plain_leaf(data_type: pa.DataType) -> pa.DataType | None:
    if data_type in _UNSIGNED:
        return _UNSIGNED[data_type]
    if pa.types.is_large_string(data_type) or pa.types.is_string_view(data_type):
        return pa.string()
    if (
        pa.types.is_large_binary(data_type)
        or pa.types.is_binary_view(data_type)
        or pa.types.is_fixed_size_binary(data_type)
    ):
        return pa.binary()
    if pa.types.is_float16(data_type):
        return pa.float32()
    if pa.types.is_date64(data_type):
        return pa.date32()
    if pa.types.is_null(data_type):
        raise InvalidArgumentError("a column of NULLs alone has no type; cast it, or leave it out")
    return None
