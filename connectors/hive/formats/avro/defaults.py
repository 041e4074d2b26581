"""Defaults of a table's own Avro schema as values of Arrow. Executor side.

Avro specification, "Complex types": the default of bytes is a text whose characters are the bytes, that of a union a
value of one of its types, and a record's may leave out fields that have defaults of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal
from typing import cast

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hive import error_codes
from connectors.hive.formats.avro.types import natural_type
from connectors.toolkit.avro.schema import Json, is_wide_union, union_branches

__all__ = ["default_array"]

_KINDS: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "int": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "bytes": (str,),
    "fixed": (str,),
    "string": (str,),
    "enum": (str,),
    "array": (list,),
    "map": (dict,),
    "record": (dict,),
}


def default_array(field: Mapping[str, Json], target: pa.DataType, where: str) -> pa.Array:
    """The default of a field, as an array of one element.

    Args:
        field: The field, as ``reader_fields`` gives it, with a ``default``.
        target: The type of the table's column.
        where: Names the column and the file for messages.

    Returns:
        An array of ``natural_type`` of the field's type, or of the column's type if the value is NULL.

    Raises:
        NotSupportedError: The default is no value of the field's type (code ``HIVE_BAD_TABLE``).
    """
    node, default = field["type"], field["default"]
    if default is None:
        return pa.nulls(1, target)
    natural = natural_type(node, target, where)
    try:
        return pa.array([_value(default, node, natural)], natural)
    except (ValueError, TypeError, KeyError, OverflowError, pa.ArrowException) as error:
        raise NotSupportedError(
            f"the table's Avro schema of {where} has the default {default!r} for the field {field['name']!r}, which is "
            f"no value of its type: {error}; correct avro.schema.literal or avro.schema.url",
            error_codes.HIVE_BAD_TABLE,
        ) from error


def _value(default: Json, node: Json, natural: pa.DataType) -> object:
    """A default as a value that pyarrow takes for the type."""
    if isinstance(node, list):
        return _union_value(default, node, natural)
    kind = str(node["type"] if isinstance(node, dict) else node)
    if not _is(default, node):
        raise ValueError(f"expected {kind}")
    if not isinstance(node, dict):
        return str(default).encode("latin-1") if kind == "bytes" else default
    if kind in ("bytes", "fixed"):
        raw = str(default).encode("latin-1")
        if not pa.types.is_decimal(natural):
            return raw
        # With no rounding: the bytes may be more than 28 digits.
        return Decimal(int.from_bytes(raw, "big", signed=True)).scaleb(-natural.scale, Context(prec=77))
    if isinstance(default, list):
        return [_value(one, node["items"], natural.value_type) for one in default]
    if isinstance(default, dict):
        if kind == "map":
            return [(key, _value(one, node["values"], natural.item_type)) for key, one in default.items()]
        members = {str(member["name"]): member for member in cast("list[dict[str, Json]]", node["fields"])}
        given = {name: member["default"] for name, member in members.items() if "default" in member} | default
        if missing := members.keys() - given.keys():
            raise ValueError(f"its record lacks the field {min(missing)!r}")
        return {name: _value(given[name], member["type"], natural[name].type) for name, member in members.items()}
    return default


def _union_value(default: Json, node: list[Json], natural: pa.DataType) -> object:
    found = [branch for branch in node if _is(default, branch)]
    if not found:
        raise ValueError("expected a value of a type of the union")
    if default is None or not is_wide_union(node):
        return None if default is None else _value(default, found[0], natural)
    child = natural.field(union_branches(node).index(found[0]) + 1)
    return {"tag": int(child.name.removeprefix("field")), child.name: _value(default, found[0], child.type)}


def _is(value: Json, node: Json) -> bool:
    kind = str(node["type"] if isinstance(node, dict) else node)
    return isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))
