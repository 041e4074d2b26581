"""Names of types as Spark's SQL writes them. Needs no Spark."""

from __future__ import annotations

import pyarrow as pa

from connector_spi.schema import ColumnMetadata

__all__ = ["type_name"]

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
    pa.large_string(): "string",
    pa.string_view(): "string",
    pa.binary(): "binary",
    pa.large_binary(): "binary",
    pa.binary_view(): "binary",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp_ntz",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.time32("s"): "time(0)",
    pa.time32("ms"): "time(3)",
    pa.time64("us"): "time(6)",
    pa.duration("us"): "interval day to second",
}


def type_name(column: ColumnMetadata) -> str:
    """The declared type of a column, such as ``varchar(10)``, or the name of its Arrow type in Spark's SQL.

    A type that Spark lacks has Arrow's own name.
    """
    return column.declared_type or _name(column.type)


def _name(data_type: pa.DataType) -> str:
    types = pa.types
    if types.is_decimal(data_type):
        return f"decimal({data_type.precision},{data_type.scale})"
    if types.is_list(data_type) or types.is_large_list(data_type):
        return f"array<{_name(data_type.value_type)}>"
    if types.is_map(data_type):
        return f"map<{_name(data_type.key_type)},{_name(data_type.item_type)}>"
    if types.is_struct(data_type):
        return f"struct<{','.join(f'{field.name}:{_name(field.type)}' for field in data_type)}>"
    if types.is_dictionary(data_type):
        return _name(data_type.value_type)
    return _NAMES.get(data_type, str(data_type))
