"""Names of types as Spark's SQL and Spark's JSON write them: their one home. Needs no Spark."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

from connector_spi.schema import ColumnMetadata

__all__ = ["JSON_NAMES", "json_name", "simple_name", "type_name"]

_NAMES: dict[pa.DataType, str] = {
    pa.null(): "void",
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp_ntz",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.duration("us"): "interval day to second",
}
_IN_JSON = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long"}
_ALSO: dict[pa.DataType, str] = {
    pa.large_string(): "string",
    pa.string_view(): "string",
    pa.large_binary(): "binary",
    pa.binary_view(): "binary",
    pa.time32("s"): "time(0)",
    pa.time32("ms"): "time(3)",
    pa.time64("us"): "time(6)",
}


def json_name(name: str) -> str:
    """The name in Spark's JSON of a type that has this name in SQL; only whole numbers have two."""
    return _IN_JSON.get(name, name)


JSON_NAMES: Mapping[str, pa.DataType] = MappingProxyType({json_name(name): arrow for arrow, name in _NAMES.items()})
"""The Arrow types of the names in Spark's JSON that have no parameters."""


def simple_name(data_type: pa.DataType) -> str | None:
    """The name in SQL; ``None`` if Spark has no such type, and for nested types and dictionaries."""
    types = pa.types
    if (known := _NAMES.get(data_type) or _ALSO.get(data_type)) is not None:
        return known
    if types.is_timestamp(data_type):
        return "timestamp_ntz" if data_type.tz is None else "timestamp"
    if types.is_decimal(data_type):
        return f"decimal({data_type.precision},{data_type.scale})"
    return "binary" if types.is_fixed_size_binary(data_type) else None


def type_name(column: ColumnMetadata) -> str:
    """The declared type of a column, such as ``varchar(10)``, or the name of its Arrow type in Spark's SQL.

    A type that Spark lacks has Arrow's own name.
    """
    return column.declared_type or _name(column.type)


def _name(data_type: pa.DataType) -> str:
    types = pa.types
    if types.is_dictionary(data_type):
        return _name(data_type.value_type)
    if types.is_list(data_type) or types.is_large_list(data_type) or types.is_fixed_size_list(data_type):
        return f"array<{_name(data_type.value_type)}>"
    if types.is_map(data_type):
        return f"map<{_name(data_type.key_type)},{_name(data_type.item_type)}>"
    if types.is_struct(data_type):
        return f"struct<{','.join(f'{field.name}:{_name(field.type)}' for field in data_type)}>"
    return simple_name(data_type) or str(data_type)
