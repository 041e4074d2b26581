"""From the schema that an Avro file was written with to the columns of a table. Executor side.

Hive reads a file with a schema of its own: the one that the table's properties give, or one made of the columns, in
which each may be NULL (``AvroSerdeUtils.determineSchemaOrThrowException``, ``TypeInfoToSchema``). Fields are matched
by name or alias, and what the file lacks has the default (Avro specification, "Schema Resolution").
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.toolkit.avro_schema import AvroRecordSchema, Json, is_wide_union, union_branch, union_branches
from connectors.toolkit.schema_adapter import adaptation
from connectors.toolkit.time_conventions import TimeConventions
from connectors.toolkit.value_casts import ArrayFunction

__all__ = ["ColumnPlan", "check_reader_schema", "plan_column"]

_SIMPLE = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
    "fixed": pa.binary(),
    "null": pa.null(),
}
_UNITS = {
    "timestamp-millis": pa.timestamp("ms", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("ms"),
    "local-timestamp-micros": pa.timestamp("us"),
}


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """How a column comes about.

    Attributes:
        field: The field of the file; ``None`` where it has none.
        natural: The Arrow type in which the field is read.
        convert: From that type to the column's; ``None`` where they are the same.
        default: Where there is no field: the column's value, as an array of one element.
    """

    field: str | None
    natural: pa.DataType
    convert: ArrayFunction | None
    default: pa.Array | None = None


def check_reader_schema(text: str, where: str) -> Mapping[str, Json]:
    """The fields of the table's own schema, by name in lower case.

    Raises:
        NotSupportedError: It is no schema of a record.
    """
    try:
        AvroRecordSchema(text)
        fields = cast("list[dict[str, Json]]", json.loads(text)["fields"])
    except (ValueError, KeyError, TypeError) as error:
        raise NotSupportedError(
            f"{where} has an Avro schema that cannot be read: {error}; correct avro.schema.literal or avro.schema.url",
            error_codes.HIVE_BAD_TABLE,
        ) from error
    return {str(field["name"]).lower(): field for field in fields}


def plan_column(
    name: str,
    target: pa.DataType,
    writer: AvroRecordSchema,
    reader: Mapping[str, Json] | None,
    conventions: TimeConventions,
    where: str,
) -> ColumnPlan:
    """How a column of the table is read from a file.

    Args:
        name: The column.
        target: Its type.
        writer: The file's schema.
        reader: ``check_reader_schema`` of the table's own schema; ``None`` where it has none.
        conventions: Calendar and zone of the file.
        where: Names the file for messages.

    Raises:
        NotSupportedError: The types do not go together, or the file lacks a field without a default.
    """
    told = cast("dict[str, Json]", (reader or {}).get(name.lower(), {}))
    aliases = cast("list[str]", told.get("aliases", []))
    field = _find(writer, [str(told.get("name", name)), name, *aliases])
    where = f"column '{name}' of {where}"
    if field is not None:
        node = writer.fields[field]
        _check_nested(node, told.get("type"), where)
        natural = _natural(node, target, where)
        return ColumnPlan(field, natural, adaptation(natural, target, conventions, where))
    if told and "default" not in told:
        raise NotSupportedError(f"{where} is not there, and the table's Avro schema gives it no default")
    default = told.get("default")
    if default is None:
        return ColumnPlan(None, target, None, pa.nulls(1, target))
    node = AvroRecordSchema(json.dumps({"type": "record", "name": "r", "fields": [told]})).fields[str(told["name"])]
    node = node[0] if isinstance(node, list) else node
    natural = _natural(node, target, where)
    made = adaptation(natural, target, conventions, where)
    value = pa.array([_json_value(default, node)], natural)
    return ColumnPlan(None, natural, None, made(value) if made else value)


def _find(writer: AvroRecordSchema, names: list[str]) -> str | None:
    for name in names:
        if name in writer.fields:
            return name
    lowered: dict[str, str] = {}
    for field in writer.fields:
        lowered.setdefault(field.lower(), field)
    return next((lowered[name.lower()] for name in names if name.lower() in lowered), None)


def _check_nested(node: Json, reader: Json, where: str) -> None:
    """Refuses what a table's own schema says inside of records and is not done: other names, and defaults."""
    node, reader = union_branch(node), union_branch(reader)
    if not isinstance(node, dict) or not isinstance(reader, dict):
        return
    for key in ("items", "values"):
        if key in node and key in reader:
            _check_nested(node[key], reader[key], where)
    if "fields" not in node or "fields" not in reader:
        return
    known = {str(field["name"]): field["type"] for field in cast("list[dict[str, Json]]", node["fields"])}
    for field in cast("list[dict[str, Json]]", reader["fields"]):
        if str(field["name"]) in known:
            _check_nested(known[str(field["name"])], field["type"], where)
        elif field.get("default") is not None or set(cast("list[str]", field.get("aliases", []))) & set(known):
            raise NotSupportedError(
                f"{where} lacks the field {field['name']!r} in a record, for which the table's Avro schema has a "
                "default or an alias; these are understood for columns only"
            )


def _natural(node: Json, target: pa.DataType, where: str) -> pa.DataType:
    """The Arrow type in which a field is read, so that it can become the target."""
    if is_wide_union(node):
        return _natural_union(union_branches(node), target, where)
    node = union_branch(node)
    if not isinstance(node, dict):
        return _leaf(str(node), {}, target)
    kind = node["type"]
    if kind == "record":
        known = {field.name.lower(): field.type for field in target} if pa.types.is_struct(target) else {}
        members = [(str(field["name"]), field["type"]) for field in cast("list[dict[str, Json]]", node["fields"])]
        fields = [(name, _natural(one, known.get(name.lower(), pa.null()), where)) for name, one in members]
        return pa.struct(fields)
    if kind == "array":
        inner = target.value_type if pa.types.is_list(target) else pa.null()
        return pa.list_(_natural(node["items"], inner, where))
    if kind == "map":
        inner = target.item_type if pa.types.is_map(target) else pa.null()
        return pa.map_(pa.string(), _natural(node["values"], inner, where))
    return _leaf(str(kind), node, target)


def _natural_union(branches: Sequence[Json], target: pa.DataType, where: str) -> pa.DataType:
    """A struct of the branch's number and of the branches in the file's order, named as the table names them.

    Hive numbers the branches by the table's schema, null left out (``AvroDeserializer.deserializeUnion``).
    """
    fields = list(target)[1:] if pa.types.is_struct(target) else []
    if pa.types.is_null(target):
        fields = [pa.field(f"field{number}", target) for number in range(len(branches))]
    named = [field.name for field in fields] == [f"field{number}" for number in range(len(fields))]
    found = [_places(branch, fields, where) for branch in branches]
    if named and len(branches) == len(fields) and all(number in places for number, places in enumerate(found)):
        found = [[number] for number in range(len(branches))]
    if not named or any(len(places) != 1 for places in found) or len({at for [at] in found}) < len(found):
        raise NotSupportedError(
            f"{where} is a union of {len(branches)} types in the file, and {target} in the table; expected a uniontype "
            "that has each of them once"
        )
    members = [
        (fields[at].name, _natural(branch, fields[at].type, where))
        for branch, [at] in zip(branches, found, strict=True)
    ]
    return pa.struct([("tag", pa.int8()), *members])


def _places(branch: Json, fields: Sequence[pa.Field], where: str) -> list[int]:
    """The fields whose type a branch of a union may have."""
    return [at for at, field in enumerate(fields) if _alike(_natural(branch, field.type, where), field.type)]


def _alike(natural: pa.DataType, target: pa.DataType) -> bool:
    if pa.types.is_null(target) or natural == target:
        return True
    if pa.types.is_integer(target) and target.bit_width < 32:
        return bool(natural == pa.int32())
    kinds = (pa.types.is_struct, pa.types.is_list, pa.types.is_map, pa.types.is_timestamp, pa.types.is_decimal)
    return any(kind(natural) and kind(target) for kind in kinds)


def _leaf(kind: str, node: Mapping[str, Json], target: pa.DataType) -> pa.DataType:
    logical = str(node.get("logicalType", ""))
    if kind == "long" and pa.types.is_timestamp(target):
        # Hive takes any long as milliseconds; others write microseconds, and say so.
        return _UNITS.get(logical, _UNITS["timestamp-millis"])
    if kind == "int" and pa.types.is_date(target):
        return pa.date32()
    if kind in ("bytes", "fixed") and logical == "decimal" and not pa.types.is_binary(target):
        precision, scale = int(cast(int, node.get("precision", 38))), int(cast(int, node.get("scale", 0)))
        if 1 <= precision <= 38 and 0 <= scale <= precision:
            return pa.decimal128(precision, scale)
    return _SIMPLE[kind]


def _json_value(value: Json, node: Json) -> object:
    """A default as Avro's JSON has it, as a value that pyarrow takes."""
    kind = node["type"] if isinstance(node, dict) else node
    if kind in ("bytes", "fixed"):
        raw = str(value).encode("latin-1")
        if isinstance(node, dict) and node.get("logicalType") == "decimal":
            raise NotSupportedError("a decimal with a default other than NULL in an Avro schema is not supported")
        return raw
    return list(value.items()) if kind == "map" and isinstance(value, dict) else value
