"""Making a table of rows with no Spark."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from catalog.metastore.wrappers.read_only import READ_ONLY_CATALOG
from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.definitions import SupportsTableDefinition, TableDefinition
from connector_spi.optional.writing import SupportsInsert
from connector_spi.schema import ColumnMetadata
from lakeport.arrow.write.inserting import insert_rows, resolve_target
from lakeport.transactions.statement import CatalogAccess, Statement, statement_scope

__all__ = ["create_table_as"]


def create_table_as(
    statement: Statement, name: CatalogSchemaTableName, definition: TableDefinition, rows: pa.RecordBatchReader
) -> int:
    """Makes a table and adds rows to it; after an error there is no table.

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
        access = statement.access(name.catalog)
        definer = _definer(access)
        with access.redefining(name.schema, name.table):
            definer.create_table(access.session, replace(definition, columns=columns))
        try:
            count = insert_rows(resolve_target(statement, name), rows)
            statement.commit()
        except BaseException:
            statement.fail()
            _drop(statement.apart(), name)
            raise
    return count


def _definer(access: CatalogAccess) -> SupportsTableDefinition:
    metadata = access.metadata
    if isinstance(metadata, SupportsTableDefinition) and isinstance(metadata, SupportsInsert):
        return metadata
    raise NotSupportedError(
        f"catalog '{access.catalog}' makes no tables that take rows; write with the engine that owns the table",
        READ_ONLY_CATALOG,
    )


def _drop(statement: Statement, name: CatalogSchemaTableName) -> None:
    with statement_scope(statement):
        access = statement.access(name.catalog)
        with access.redefining(name.schema, name.table):
            _definer(access).drop_table(access.session, name.schema_table, purge=True)
        statement.commit()


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
