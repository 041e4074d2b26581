"""Translates Spark's ``CREATE``, ``ALTER`` and ``DROP`` of schemas, tables and partitions into calls of the SPI."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from py4j.java_gateway import JavaObject

from catalog.metastore.error_codes import ALREADY_EXISTS
from connector_spi.errors import ConnectorError, NotSupportedError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional.definitions import (
    PartitionDefinition,
    SupportsPartitionDefinition,
    SupportsSchemaDefinition,
    SupportsTableDefinition,
    TableDefinition,
)
from connector_spi.schema import ColumnMetadata
from lakeport.spark.bridge.errors import namespace_exists
from lakeport.spark.bridge.jvm import CATALOG, Jvm
from lakeport.spark.bridge.types import arrow_type
from lakeport.spark.transforms import read_transforms
from lakeport.sql.unsupported_statements import read_only
from lakeport.transactions.statement import CatalogAccess

__all__ = [
    "add_partitions",
    "alter_namespace",
    "alter_table",
    "create_namespace",
    "create_table",
    "drop_namespace",
    "drop_partitions",
    "drop_table",
    "java_map",
    "rename_table",
]

_DECLARED = re.compile(r"(?:var)?char\(\d+\)")
# The collation that all texts have. SHOW CREATE TABLE of Spark 4.1 and later names it.
_BYTES_COMPARED = " collate UTF8_BINARY"
_OPTION = "option."
_STORAGE = ("hive.stored-as", "hive.serde", "hive.input-format", "hive.output-format")
# Reserved names that are not table properties (CatalogV2Util.TABLE_RESERVED_PROPERTIES).
_RESERVED = ("collation", "comment", "external", "is_managed_location", "location", "owner", "provider", "table_type")


def create_namespace(jvm: Jvm, access: CatalogAccess, schema: str, metadata: JavaObject) -> None:
    """``CREATE SCHEMA``."""
    able = _schemas(access, "CREATE SCHEMA")
    try:
        with access.redefining(schema):
            able.create_schema(access.session, schema, java_map(metadata))
    except ConnectorError as error:
        if error.code != ALREADY_EXISTS:
            raise
        raise namespace_exists(jvm, [schema]) from error


def alter_namespace(jvm: Jvm, access: CatalogAccess, schema: str, changes: JavaObject) -> None:
    """``COMMENT ON SCHEMA`` and ``ALTER SCHEMA ... SET PROPERTIES``."""
    able = _schemas(access, "ALTER SCHEMA")
    changed = {}
    for change in jvm.items(changes):
        kind = jvm.class_name(change)
        if kind not in ("SetProperty", "RemoveProperty"):
            raise NotSupportedError(f"ALTER SCHEMA with {kind} is not supported; properties and comments can be set")
        changed[str(change.property())] = str(change.value()) if kind == "SetProperty" else None
    with access.redefining(schema):
        able.set_schema_properties(access.session, schema, changed)


def drop_namespace(access: CatalogAccess, schema: str, cascade: bool) -> None:
    """``DROP SCHEMA``."""
    able = _schemas(access, "DROP SCHEMA")
    with access.redefining(schema):
        able.drop_schema(access.session, schema, cascade)


def create_table(
    jvm: Jvm, access: CatalogAccess, name: CatalogSchemaTableName, arguments: Sequence[JavaObject]
) -> None:
    """``CREATE TABLE``.

    Args:
        jvm: The JVM.
        access: The catalog.
        name: The table.
        arguments: Spark's definition: a ``TableInfo``, or columns (or a ``StructType``), transforms and properties.
    """
    able = _tables(access, "CREATE TABLE")
    definition = read_definition(jvm, name, arguments)
    with access.redefining(name.schema, name.table):
        able.create_table(access.session, definition)


def read_definition(jvm: Jvm, name: CatalogSchemaTableName, arguments: Sequence[JavaObject]) -> TableDefinition:
    """What ``CREATE TABLE`` says; arguments as of ``create_table``."""
    if len(arguments) == 1:
        info = arguments[0]
        columns, transforms, properties = info.columns(), info.partitions(), info.properties()
    else:
        columns, transforms, properties = arguments
    return _definition(jvm, name, columns, transforms, java_map(properties))


def alter_table(jvm: Jvm, access: CatalogAccess, name: CatalogSchemaTableName, changes: JavaObject) -> None:
    """``ALTER TABLE`` of properties and comments, ``COMMENT ON TABLE``."""
    able = _tables(access, "ALTER TABLE")
    properties: dict[str, str | None] = {}
    comments: list[tuple[str, str | None]] = []
    for change in jvm.items(changes):
        kind = jvm.class_name(change)
        if kind == "SetProperty":
            properties[str(change.property())] = str(change.value())
        elif kind == "RemoveProperty":
            properties[str(change.property())] = None
        elif kind == "UpdateColumnComment" and len(path := jvm.texts(change.fieldNames())) == 1:
            comments.append((path[0], str(change.newComment()) or None))
        else:
            raise NotSupportedError(
                f"ALTER TABLE {name} with {kind} is not supported: only comments, properties and the name of a table "
                "can be changed here; use the engine that owns the table"
            )
    with access.redefining(name.schema, name.table):
        for column, comment in comments:
            able.set_column_comment(access.session, name.schema_table, column, comment)
        if properties:
            able.set_table_properties(access.session, name.schema_table, properties)


def drop_table(access: CatalogAccess, name: CatalogSchemaTableName, *, purge: bool) -> None:
    """``DROP TABLE``, ``DROP VIEW``."""
    able = _tables(access, "DROP TABLE")
    with access.redefining(name.schema, name.table):
        able.drop_table(access.session, name.schema_table, purge)


def rename_table(access: CatalogAccess, name: CatalogSchemaTableName, new_name: CatalogSchemaTableName) -> None:
    """``ALTER TABLE ... RENAME TO``."""
    able = _tables(access, "ALTER TABLE RENAME")
    with access.redefining(name.schema, name.table), access.redefining(new_name.schema, new_name.table):
        able.rename_table(access.session, name.schema_table, new_name.schema_table)


def add_partitions(
    access: CatalogAccess, name: CatalogSchemaTableName, partitions: Sequence[PartitionDefinition]
) -> None:
    """``ALTER TABLE ... ADD PARTITION``."""
    able = _partitions(access, "ADD PARTITION")
    with access.redefining(name.schema, name.table):
        able.add_partitions(access.session, name.schema_table, partitions)


def drop_partitions(
    access: CatalogAccess, name: CatalogSchemaTableName, partitions: Sequence[tuple[object, ...]]
) -> None:
    """``ALTER TABLE ... DROP PARTITION``."""
    able = _partitions(access, "DROP PARTITION")
    with access.redefining(name.schema, name.table):
        able.drop_partitions(access.session, name.schema_table, partitions)


def java_map(entries: JavaObject) -> dict[str, str]:
    """A Java map of texts."""
    return {str(key): str(entries.get(key)) for key in entries.keySet()}


def _schemas(access: CatalogAccess, statement: str) -> SupportsSchemaDefinition:
    if not isinstance(access.metadata, SupportsSchemaDefinition):
        raise read_only(access.catalog, statement)
    return access.metadata


def _tables(access: CatalogAccess, statement: str) -> SupportsTableDefinition:
    if not isinstance(access.metadata, SupportsTableDefinition):
        raise read_only(access.catalog, statement)
    return access.metadata


def _partitions(access: CatalogAccess, statement: str) -> SupportsPartitionDefinition:
    if not isinstance(access.metadata, SupportsPartitionDefinition):
        raise read_only(access.catalog, statement)
    return access.metadata


def _definition(
    jvm: Jvm, name: CatalogSchemaTableName, columns: JavaObject, transforms: JavaObject, given: Mapping[str, str]
) -> TableDefinition:
    # Options are in the map twice: unchanged, and with a prefix.
    options = {key[len(_OPTION) :] for key in given if key.startswith(_OPTION)}
    storage = {key: value for key, value in given.items() if key in _STORAGE or key.startswith(_OPTION)}
    properties = {
        key: value for key, value in given.items() if key not in storage and key not in options and key not in _RESERVED
    }
    keys, buckets = read_transforms(jvm, name, transforms)
    return TableDefinition(
        name.schema_table,
        _columns(jvm, columns),
        partitioned_by=keys,
        location=given.get("location"),
        provider=given["provider"].lower() if "provider" in given else None,
        comment=given.get("comment"),
        properties=tuple(properties.items()),
        storage=tuple(storage.items()),
        buckets=buckets,
    )


def _columns(jvm: Jvm, columns: JavaObject) -> tuple[ColumnMetadata, ...]:
    if jvm.class_name(columns) != "StructType":
        columns = jvm.cls(CATALOG + "CatalogV2Util").v2ColumnsToStructType(columns)
    return tuple(_column(field) for field in json.loads(str(columns.json()))["fields"])


def _column(field: Mapping[str, object]) -> ColumnMetadata:
    name, kind, metadata = str(field["name"]), field["type"], field["metadata"]
    assert isinstance(metadata, dict)
    # Spark may have replaced char and varchar by a string.
    declared = str(metadata.get("__CHAR_VARCHAR_TYPE_STRING", kind)).removesuffix(_BYTES_COMPARED)
    if isinstance(kind, str) and " collate " in kind and not kind.endswith(_BYTES_COMPARED):
        raise NotSupportedError(f"column '{name}' has a collation, which only Spark supports; declare it as STRING")
    comment = metadata.get("comment")
    return ColumnMetadata(
        name,
        arrow_type(kind),
        bool(field["nullable"]),
        None if comment is None else str(comment),
        declared_type=declared if _DECLARED.fullmatch(declared) else None,
    )
