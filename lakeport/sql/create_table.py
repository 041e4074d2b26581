"""``SHOW CREATE TABLE`` as Spark writes it (``ShowCreateTableExec``). Needs no Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from connector_spi.names import CatalogSchemaTableName, quote_identifier
from connector_spi.schema import ColumnMetadata, TableBuckets, TableMetadata
from lakeport.type_names import simple_name

__all__ = ["create_table_text"]

_RESERVED = frozenset(
    {"collation", "comment", "external", "is_managed_location", "location", "owner", "provider", "table_type"}
)
"""Properties that have a clause of their own, or none (``CatalogV2Util.TABLE_RESERVED_PROPERTIES``)."""
_OPTION = "option."
# The default of spark.redaction.regex.
_SECRET = re.compile(r"(?i)secret|password|token|access[.]?key")
_REDACTED = "*********(redacted)"


def create_table_text(name: CatalogSchemaTableName, table: TableMetadata) -> str:
    """The statement that defines a table as this one is.

    Args:
        name: The full name.
        table: Its visible columns are those of the statement.
    """
    shown = ".".join(quote_identifier(part) for part in (name.catalog, name.schema, name.table))
    columns = ",\n  ".join(map(_column, table.visible_columns()))
    return f"CREATE TABLE {shown} (\n  {columns})\n" + "".join(f"{clause}\n" for clause in _clauses(table))


def _clauses(table: TableMetadata) -> Iterator[str]:
    properties = dict(table.properties)
    if provider := properties.get("provider"):
        yield f"USING {provider}"
    options = {key.removeprefix(_OPTION): text for key, text in properties.items() if key.startswith(_OPTION)}
    if options:
        yield f"OPTIONS (\n  {_assignments(options)})"
    layout = [*map(quote_identifier, table.partitioned_by), *([_bucket(table.buckets)] if table.buckets else [])]
    if layout:
        yield f"PARTITIONED BY ({', '.join(layout)})"
    if table.comment:
        yield f"COMMENT {_text(table.comment)}"
    if "location" in properties and properties.get("is_managed_location") != "true":
        yield f"LOCATION {_text(properties['location'])}"
    others = {
        key: text
        for key, text in properties.items()
        if key not in _RESERVED and not key.startswith(_OPTION) and key not in options
    }
    if others:
        yield f"TBLPROPERTIES (\n  {_assignments(others)})"


def _bucket(buckets: TableBuckets) -> str:
    """Spark shows ``CLUSTERED BY`` as the transform that it becomes."""
    columns, sorted_by = (list(map(quote_identifier, names)) for names in (buckets.columns, buckets.sorted_by))
    if sorted_by:
        return f"sorted_bucket({', '.join([*columns, str(buckets.count), *sorted_by])})"
    return f"bucket({', '.join([str(buckets.count), *columns])})"


def _column(column: ColumnMetadata) -> str:
    kind = column.declared_type.upper() if column.declared_type else _type(column.type)
    parts = [quote_identifier(column.name), kind, *([] if column.nullable else ["NOT NULL"])]
    return " ".join([*parts, *([f"COMMENT {_text(column.comment)}"] if column.comment else [])])


def _type(data_type: pa.DataType) -> str:
    types = pa.types
    if types.is_dictionary(data_type):
        return _type(data_type.value_type)
    if types.is_list(data_type) or types.is_large_list(data_type) or types.is_fixed_size_list(data_type):
        return f"ARRAY<{_type(data_type.value_type)}>"
    if types.is_map(data_type):
        return f"MAP<{_type(data_type.key_type)}, {_type(data_type.item_type)}>"
    if types.is_struct(data_type):
        return f"STRUCT<{', '.join(f'{quote_identifier(field.name)}: {_type(field.type)}' for field in data_type)}>"
    return (simple_name(data_type) or str(data_type)).upper()


def _assignments(found: dict[str, str]) -> str:
    shown = {key: _REDACTED if _SECRET.search(key) or _SECRET.search(text) else text for key, text in found.items()}
    return ",\n  ".join(f"{_text(key)} = {_text(shown[key])}" for key in sorted(shown))


def _text(value: str) -> str:
    quoted = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"
