"""``CREATE TABLE`` over files that are there. Driver side."""

from __future__ import annotations

import pyarrow as pa

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.definitions import check_table_properties, location_uri
from catalog.metastore.model import FieldSchema, Parameters, Table
from catalog.metastore.types import hive_type_text
from connector_spi.errors import ErrorCode, FileMissingError, InvalidArgumentError, NotSupportedError
from connector_spi.optional.definitions import TableDefinition
from connector_spi.schema import ColumnMetadata
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.definitions.columns import make_handle
from connectors.hive.definitions.storage_classes import declared_storage
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["TABLE_EXISTS", "external_table"]

TABLE_EXISTS: ErrorCode = metastore_codes.ALREADY_EXISTS


def external_table(definition: TableDefinition, files: FileSystem, session: ConnectorSession) -> Table:
    """The metastore's entry of a new table, which can be read.

    Raises:
        InvalidArgumentError: It has no location or columns, or its partition keys are not among them.
        FileMissingError: Its folder is not there.
        NotSupportedError: A type, property or layout that Hive has not, or that cannot be read.
    """
    name = definition.name
    if definition.location is None:
        raise InvalidArgumentError(
            f"CREATE TABLE {name} says no LOCATION; tables are made over files that are there: no rows are written here"
        )
    location = location_uri(definition.location)
    info = files.info(location)
    if info is None or not info.is_directory:
        raise FileMissingError(f"the location {location} of the new table {name} is no folder that is there")
    check_table_properties(name, dict(definition.properties))
    keys, columns = _split(definition)
    comment = {} if definition.comment is None else {"comment": definition.comment}
    table = Table(
        database=name.schema,
        name=name.table,
        storage=declared_storage(definition.provider, dict(definition.storage), columns, location),
        partition_keys=keys,
        parameters=Parameters.of({**dict(definition.properties), **comment, "EXTERNAL": "TRUE"}),
        table_type="EXTERNAL_TABLE",
        owner=session.user,
        create_time=int(session.start.timestamp()),
    )
    make_handle(table, files)
    return table


def _split(definition: TableDefinition) -> tuple[tuple[FieldSchema, ...], tuple[FieldSchema, ...]]:
    """Partition keys and the other columns."""
    fields: dict[str, FieldSchema] = {}
    for column in definition.columns:
        field = _field(column)
        if field.name in fields:
            raise InvalidArgumentError(f"CREATE TABLE {definition.name} has the column '{field.name}' twice")
        fields[field.name] = field
    keys = [key.lower() for key in definition.partitioned_by]
    unknown = [key for key in keys if key not in fields]
    if unknown:
        raise InvalidArgumentError(
            f"CREATE TABLE {definition.name} is partitioned by '{unknown[0]}', which is none of its columns"
        )
    rest = tuple(field for field in fields.values() if field.name not in keys)
    if not rest:
        raise InvalidArgumentError(f"CREATE TABLE {definition.name} has no columns but partition keys")
    return tuple(fields[key] for key in keys), rest


def _field(column: ColumnMetadata) -> FieldSchema:
    if not column.nullable:
        raise NotSupportedError(f"column '{column.name}' is NOT NULL, which Hive's tables do not hold; leave it out")
    try:
        text = column.declared_type or hive_type_text(_without_zone(column.type))
    except NotSupportedError as error:
        raise NotSupportedError(
            f"column '{column.name}': {error.message}", error_codes.HIVE_UNSUPPORTED_TYPE
        ) from error
    return FieldSchema(column.name.lower(), text, column.comment)


def _without_zone(arrow: pa.DataType) -> pa.DataType:
    """TIMESTAMP in a statement about a Hive table is Hive's own, which has no zone."""
    if pa.types.is_timestamp(arrow):
        return pa.timestamp("us")
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(_without_zone(field.type)) for field in arrow])
    if pa.types.is_list(arrow):
        return pa.list_(_without_zone(arrow.value_type))
    if pa.types.is_map(arrow):
        return pa.map_(_without_zone(arrow.key_type), _without_zone(arrow.item_type))
    return arrow
