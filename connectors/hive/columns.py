"""Columns of a metastore's table as handles and as the user sees them. Driver side."""

from __future__ import annotations

import pyarrow as pa

from catalog.metastore.model import FieldSchema, Table
from catalog.metastore.types import parse_hive_type
from connector_spi.errors import NotSupportedError
from connector_spi.handles import ColumnHandle
from connector_spi.names import SchemaTableName
from connector_spi.schema import ColumnMetadata, TableMetadata
from connectors.hive import error_codes
from connectors.hive.formats.registry import format_named
from connectors.hive.handles import HiveTableHandle
from connectors.hive.table_formats import check_readable, is_insert_only, is_transactional, table_location
from connectors.hive.text_types import text_rule
from connectors.toolkit.filesystem import FileSystem

__all__ = ["make_handle", "make_metadata", "partition_key_handles"]

# Settings that every table has and that say nothing to the user.
_DROPPED_PARAMETERS = ("COLUMN_STATS_ACCURATE", "spark.sql.sources.schema", "spark.sql.create.version")


def make_handle(table: Table, files: FileSystem) -> HiveTableHandle:
    """The handle of a table that can be read; of a transactional one still without its snapshot.

    Raises:
        NotSupportedError: It cannot be read right, or a column has a type that is not supported.
    """
    file_storage = check_readable(table, files)
    name = SchemaTableName(table.database, table.name)
    fields = (*table.storage.columns, *table.partition_keys)
    rules = ((field.name, text_rule(field.type)) for field in fields)
    columns = tuple(_handle(field, name) for field in table.storage.columns)
    declared = pa.schema([(column.name, column.type) for column in columns])
    format_named(file_storage.format).check(file_storage, declared, f"table {name}")
    return HiveTableHandle(
        name,
        file_storage,
        table_location(table),
        columns,
        partition_key_handles(table),
        tuple((column, rule) for column, rule in rules if rule is not None),
        insert_only=is_transactional(table.parameters) and is_insert_only(table),
    )


def partition_key_handles(table: Table) -> tuple[ColumnHandle, ...]:
    """Handles of the partition keys, in order."""
    return tuple(_handle(field, SchemaTableName(table.database, table.name)) for field in table.partition_keys)


def make_metadata(table: Table, handle: HiveTableHandle) -> TableMetadata:
    """What the user sees of a table."""
    columns = [
        _metadata(field, column)
        for field, column in zip(
            (*table.storage.columns, *table.partition_keys), (*handle.data_columns, *handle.partition_keys), strict=True
        )
    ]
    hidden = [ColumnMetadata(column.name, column.type, nullable=False, hidden=True) for column in handle.hidden_columns]
    return TableMetadata(
        handle.name,
        (*columns, *hidden),
        tuple(key.name for key in handle.partition_keys),
        table.parameters.get("comment"),
        _properties(table, handle),
    )


def _handle(field: FieldSchema, name: SchemaTableName) -> ColumnHandle:
    try:
        return ColumnHandle(field.name, parse_hive_type(field.type))
    except NotSupportedError as error:
        raise NotSupportedError(
            f"column '{field.name}' of {name}: {error.message}", error_codes.HIVE_UNSUPPORTED_TYPE
        ) from error


def _metadata(field: FieldSchema, column: ColumnHandle) -> ColumnMetadata:
    declared = field.type if text_rule(field.type) is not None else None
    return ColumnMetadata(column.name, column.type, comment=field.comment or None, declared_type=declared)


def _properties(table: Table, handle: HiveTableHandle) -> tuple[tuple[str, str], ...]:
    shown = {
        key: value
        for key, value in table.parameters.items()
        if key != "comment" and not key.startswith(_DROPPED_PARAMETERS)
    }
    kind = "external" if table.table_type == "EXTERNAL_TABLE" else "managed"
    bucketed = {"bucketed_by": ",".join(table.storage.bucket_columns)} if table.storage.bucket_columns else {}
    known = {"format": handle.format, "location": handle.location, "table_type": kind, **bucketed}
    return (*known.items(), *sorted((key, value) for key, value in shown.items() if key not in known))
