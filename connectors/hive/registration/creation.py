"""``CREATE TABLE``, over existing files or in a directory of the table's own. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from catalog.metastore import error_codes as metastore_codes
from catalog.metastore.definitions import check_table_properties, location_uri
from catalog.metastore.factory import Metastore
from catalog.metastore.model import FieldSchema, Parameters, Table
from catalog.metastore.table_access import ACCESS_PREFIX
from catalog.metastore.types import hive_type_text
from connector_spi.errors import ErrorCode, FileMissingError, InvalidArgumentError, NotSupportedError
from connector_spi.names import SchemaTableName
from connector_spi.optional.definitions import TableDefinition
from connector_spi.schema import ColumnMetadata
from connector_spi.session import ConnectorSession
from connectors.hive import error_codes
from connectors.hive.definitions.columns import make_handle
from connectors.hive.definitions.instants import INSTANT_COLUMNS, instant_paths, with_instants
from connectors.hive.definitions.storage_classes import declared_storage
from connectors.hive.definitions.table_formats import is_transactional
from connectors.hive.registration.buckets import with_buckets
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["TABLE_EXISTS", "check_write_ids_free", "external_table", "managed_table", "refuse_hudi"]

TABLE_EXISTS: ErrorCode = metastore_codes.ALREADY_EXISTS
_TRANSACTIONAL = ("transactional", "transactional_properties")


def external_table(definition: TableDefinition, files: FileSystem, session: ConnectorSession) -> Table:
    """The metastore entry of a new table over files that can be read.

    Raises:
        InvalidArgumentError: It has no columns, or its partition keys are not among them.
        FileMissingError: Its location does not exist.
        NotSupportedError: Hive does not have a type, property or layout of it, or it cannot be read.
    """
    name = definition.name
    assert definition.location is not None, "a table without a location is a managed one"
    location = location_uri(definition.location)
    info = files.info(location)
    if info is None or not info.is_directory:
        raise FileMissingError(f"the location {location} of the new table {name} is not an existing directory")
    table = _table(definition, location, session)
    table = replace(table, table_type="EXTERNAL_TABLE", parameters=table.parameters.with_entries({"EXTERNAL": "TRUE"}))
    make_handle(table, files)
    return table


def managed_table(definition: TableDefinition, files: FileSystem, session: ConnectorSession, location: str) -> Table:
    """The metastore entry of a new table whose directory the metastore chooses, and which goes with the table.

    Args:
        definition: The table; of ORC where it names no format, as in Trino.
        files: Storage.
        session: The statement.
        location: Where it will be.

    Raises:
        InvalidArgumentError: It has no columns, or its partition keys are not among them.
        NotSupportedError: Hive does not have a type, property or layout of it, or it could not be read.
    """
    if definition.provider is None and not definition.storage:
        definition = replace(definition, provider="orc")
    table = _table(definition, location, session)
    make_handle(table, files)
    return replace(table, storage=replace(table.storage, location=None))


def check_write_ids_free(metastore: Metastore, name: SchemaTableName) -> None:
    """Refuses metastores that allocate the write ids of a table themselves.

    There a new table starts with write id 1, so the ids in its directory would be unknown and not visible. Nor does
    Hive allow transactional external tables (``TransactionalValidationListener``).

    Raises:
        NotSupportedError: It is a metastore of Hive.
    """
    if metastore.writes.deletes_files:
        raise NotSupportedError(
            f"{name} cannot be registered as a transactional table in a metastore of Hive: that would allocate new "
            "write ids for the table and not know those in the directory; let Hive create and fill the table, or "
            "register the directory in a catalog with hive.metastore=embedded",
            error_codes.HIVE_TRANSACTIONAL_TABLE,
        )


def refuse_hudi(definition: TableDefinition) -> None:
    """Refuses tables of the other connector.

    Raises:
        NotSupportedError: It is one.
    """
    if (definition.provider or "").lower() == "hudi":
        raise NotSupportedError(
            f"{definition.name} would be a Hudi table: create it in a catalog of the hudi connector"
        )


def _table(definition: TableDefinition, location: str, session: ConnectorSession) -> Table:
    properties = _properties(definition)
    keys, columns = _split(definition, _names(properties.pop(INSTANT_COLUMNS, "")))
    storage = declared_storage(definition.provider, dict(definition.storage), columns, location)
    comment = {} if definition.comment is None else {"comment": definition.comment}
    return Table(
        definition.name.schema,
        definition.name.table,
        storage=with_buckets(storage, definition, properties),
        partition_keys=keys,
        parameters=Parameters.of({**properties, **comment}),
        table_type="MANAGED_TABLE",
        owner=session.user,
        create_time=int(session.start.timestamp()),
    )


def _properties(definition: TableDefinition) -> dict[str, str]:
    """Properties for the metastore. What Hive 4 grants is shown with them, and is the metastore's to say."""
    properties = {key: value for key, value in definition.properties if not key.startswith(ACCESS_PREFIX)}
    kinds = _TRANSACTIONAL if is_transactional(properties) else ()
    check_table_properties(definition.name, {key: None for key in properties if key.lower() not in kinds})
    return properties


def _names(text: str) -> list[str]:
    return [name.strip().lower() for name in text.split(",") if name.strip()]


def _split(
    definition: TableDefinition, instants: Sequence[str]
) -> tuple[tuple[FieldSchema, ...], tuple[FieldSchema, ...]]:
    """Partition keys and the other columns."""
    fields: dict[str, FieldSchema] = {}
    for column in definition.columns:
        field = _field(column, instants)
        if field.name in fields:
            raise InvalidArgumentError(f"CREATE TABLE {definition.name} has the column '{field.name}' twice")
        fields[field.name] = field
    known = [path for column in definition.columns for path in instant_paths(column.name, column.type)]
    strange = [name for name in instants if name not in known]
    if strange:
        raise InvalidArgumentError(
            f"CREATE TABLE {definition.name} has '{INSTANT_COLUMNS}'='{','.join(instants)}'; '{strange[0]}' is no "
            f"TIMESTAMP of it; expected some of: {', '.join(known) or 'none, as it has no TIMESTAMP'}"
        )
    keys = [key.lower() for key in definition.partitioned_by]
    unknown = [key for key in keys if key not in fields]
    if unknown:
        raise InvalidArgumentError(
            f"CREATE TABLE {definition.name} is partitioned by '{unknown[0]}', which is not one of its columns"
        )
    rest = tuple(field for field in fields.values() if field.name not in keys)
    if not rest:
        raise InvalidArgumentError(f"CREATE TABLE {definition.name} has no columns except partition keys")
    return tuple(fields[key] for key in keys), rest


def _field(column: ColumnMetadata, instants: Sequence[str]) -> FieldSchema:
    if not column.nullable:
        raise NotSupportedError(f"column '{column.name}' is NOT NULL, which Hive tables do not record; leave it out")
    try:
        text = column.declared_type or hive_type_text(with_instants(column.name, column.type, instants))
    except NotSupportedError as error:
        raise NotSupportedError(
            f"column '{column.name}': {error.message}", error_codes.HIVE_UNSUPPORTED_TYPE
        ) from error
    return FieldSchema(column.name.lower(), text, column.comment)
