"""Arrow types and Spark's types, both ways, as Spark's JSON.

Arrow ``timestamp[us]`` without zone is Spark's TIMESTAMP_NTZ, with a zone it is TIMESTAMP.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql import types as pyspark_types

from connector_spi.errors import NotSupportedError
from connector_spi.schema import ColumnMetadata
from lakeport.type_names import JSON_NAMES, json_name, simple_name

__all__ = ["arrow_schema", "arrow_type", "char_lengths", "spark_schema_json", "spark_type_json", "task_schema"]

# Spark 4.0 has no TIME; nanoseconds came later than TIME did.
_HAS_TIME = hasattr(pyspark_types, "TimeType")
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_TIME = re.compile(r"time\(\d\)")
_CHAR = re.compile(r"char\((\d+)\)")
_DECLARED = re.compile(r"(?:var)?char\(\d+\)")
# What Spark itself hides char and varchar behind (CharVarcharUtils).
_DECLARED_TEXT = "__CHAR_VARCHAR_TYPE_STRING"
_TEXT = re.compile(r"(?:(?:char|varchar)\(\d+\)|string)(?: collate .*)?")
_MAX_PRECISION = 38


def spark_schema_json(columns: Iterable[ColumnMetadata], *, char: bool = False) -> str:
    """The Spark struct of a table's columns, as JSON text; comments are kept.

    Args:
        columns: The columns.
        char: Mark columns declared as ``char(n)`` or ``varchar(n)``. Spark pads the texts that it compares with the
            former, as Hive and Trino do, and shows both in ``SHOW CREATE TABLE``.

    Raises:
        NotSupportedError: Spark does not have a column's type; the message names the column.
    """
    fields = []
    for column in columns:
        metadata = {"comment": column.comment} if column.comment else {}
        declared = (column.declared_type or "").lower()
        if char and _DECLARED.fullmatch(declared):
            metadata[_DECLARED_TEXT] = declared
        fields.append(_field(column.name, _spark_type(column.type, column.name), column.nullable, metadata))
    return json.dumps({"type": "struct", "fields": fields})


def char_lengths(struct_json: str) -> dict[str, int]:
    """The columns of a Spark struct, given as JSON text, that are marked as ``char(n)``, and their n."""
    declared = {field["name"]: field["metadata"].get(_DECLARED_TEXT, "") for field in json.loads(struct_json)["fields"]}
    found = {name: _CHAR.fullmatch(text) for name, text in declared.items()}
    return {name: int(match.group(1)) for name, match in found.items() if match}


def spark_type_json(data_type: pa.DataType, column: str) -> str:
    """One Spark type as JSON text; ``column`` is for the message where Spark has no such type."""
    return json.dumps(_spark_type(data_type, column))


def arrow_schema(struct_json: str) -> pa.Schema:
    """The Arrow schema of a Spark struct given as JSON text."""
    return pa.schema([_arrow_field(field) for field in json.loads(struct_json)["fields"]])


def arrow_type(type_json: object) -> pa.DataType:
    """The Arrow type of a Spark type in its parsed JSON form.

    Raises:
        NotSupportedError: No Lakeport table can have the type.
    """
    if isinstance(type_json, str):
        return _arrow_simple(type_json)
    assert isinstance(type_json, dict)
    kind = type_json["type"]
    if kind == "struct":
        return pa.struct([_arrow_field(field) for field in type_json["fields"]])
    if kind == "array":
        return pa.list_(pa.field("element", arrow_type(type_json["elementType"]), type_json["containsNull"]))
    if kind == "map":
        value = pa.field("value", arrow_type(type_json["valueType"]), type_json["valueContainsNull"])
        return pa.map_(arrow_type(type_json["keyType"]), value)
    raise NotSupportedError(f"Spark type {kind} has no counterpart in Lakeport")


def task_schema(schema: pa.Schema) -> pa.Schema:
    """The exact Arrow schema that Spark requires from a task: plain strings, microseconds, nullable fields."""
    return pa.schema([pa.field(field.name, _plain(field.type)) for field in schema])


def _spark_type(data_type: pa.DataType, column: str) -> object:
    types = pa.types
    simple = simple_name(data_type)
    too_wide = types.is_decimal(data_type) and data_type.precision > _MAX_PRECISION
    if simple is not None and not too_wide and (_HAS_TIME or not types.is_time(data_type)):
        return json_name(simple)
    if types.is_dictionary(data_type):
        return _spark_type(data_type.value_type, column)
    if types.is_list(data_type) or types.is_large_list(data_type) or types.is_fixed_size_list(data_type):
        element = _spark_type(data_type.value_type, column)
        return {"type": "array", "elementType": element, "containsNull": data_type.value_field.nullable}
    if types.is_map(data_type):
        return {
            "type": "map",
            "keyType": _spark_type(data_type.key_type, column),
            "valueType": _spark_type(data_type.item_type, column),
            "valueContainsNull": data_type.item_field.nullable,
        }
    if types.is_struct(data_type):
        fields = [_field(f.name, _spark_type(f.type, f"{column}.{f.name}"), f.nullable, {}) for f in data_type]
        return {"type": "struct", "fields": fields}
    raise NotSupportedError(
        f"column '{column}' has the type {data_type}, which Spark does not have; "
        "read the table with session.arrow(), which needs no Spark"
    )


def _field(name: str, data_type: object, nullable: bool, metadata: dict[str, str]) -> dict[str, object]:
    return {"name": name, "type": data_type, "nullable": nullable, "metadata": metadata}


def _arrow_field(field: dict[str, object]) -> pa.Field:
    return pa.field(str(field["name"]), arrow_type(field["type"]), bool(field["nullable"]))


def _arrow_simple(name: str) -> pa.DataType:
    if name == "decimal":
        return pa.decimal128(10, 0)
    decimal = _DECIMAL.fullmatch(name)
    if decimal:
        return pa.decimal128(int(decimal.group(1)), int(decimal.group(2)))
    if _TEXT.fullmatch(name):
        return pa.string()
    if _TIME.fullmatch(name):
        return pa.time64("us")
    found = JSON_NAMES.get(name)
    if found is None:
        raise NotSupportedError(f"Spark type {name} has no counterpart in Lakeport")
    return found


def _plain(data_type: pa.DataType) -> pa.DataType:
    """The only Arrow type that Spark's reader accepts for a type."""
    types = pa.types
    if types.is_time(data_type):
        return pa.time64("ns")
    if types.is_struct(data_type):
        return pa.struct([pa.field(f.name, _plain(f.type)) for f in data_type])
    if types.is_map(data_type):
        return pa.map_(_plain(data_type.key_type), _plain(data_type.item_type))
    if types.is_list(data_type) or types.is_large_list(data_type) or types.is_fixed_size_list(data_type):
        return pa.list_(pa.field("element", _plain(data_type.value_type)))
    return arrow_type(_spark_type(data_type, ""))
