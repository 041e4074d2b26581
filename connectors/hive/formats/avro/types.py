"""The Arrow types in which fields of an Avro file are read, so that they can become those of a table's columns.

Executor side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.toolkit.avro.primitives import PRIMITIVES, TIMESTAMPS
from connectors.toolkit.avro.schema import Json, is_wide_union, union_branch, union_branches
from connectors.toolkit.schema.union_structs import is_union_struct

__all__ = ["UNION_POSITION", "natural_type", "union_position"]

UNION_POSITION = "union position"
"""The key under which a type of the file says which type of the table's union it is, null not counted."""

_SIMPLE = {**PRIMITIVES, "enum": pa.string(), "fixed": pa.binary()}


def natural_type(node: Json, target: pa.DataType, where: str) -> pa.DataType:
    """The Arrow type in which a field is read.

    Args:
        node: The field's type in the file.
        target: The type of the table's column; null where it has none.
        where: Names the column and the file for messages.

    Raises:
        NotSupportedError: It is a union of several types, and the column none of these types.
    """
    if is_wide_union(node):
        return _union(union_branches(node), target, where)
    node = union_branch(node)
    if is_union_struct(target):
        position = union_position(node, target, where)
        return natural_type(node, target.field(position + 1).type, where)
    if not isinstance(node, dict):
        return _leaf(str(node), {}, target)
    kind = node["type"]
    if kind == "record":
        known = {field.name.lower(): field.type for field in target} if pa.types.is_struct(target) else {}
        members = [(str(field["name"]), field["type"]) for field in cast("list[dict[str, Json]]", node["fields"])]
        fields = [(name, natural_type(one, known.get(name.lower(), pa.null()), where)) for name, one in members]
        return pa.struct(fields)
    if kind == "array":
        inner = target.value_type if pa.types.is_list(target) else pa.null()
        return pa.list_(natural_type(node["items"], inner, where))
    if kind == "map":
        inner = target.item_type if pa.types.is_map(target) else pa.null()
        return pa.map_(pa.string(), natural_type(node["values"], inner, where))
    return _leaf(str(kind), node, target)


def union_position(node: Json, target: pa.DataType, where: str) -> int:
    """Which type of a ``uniontype`` a field's values are of: what it says itself, else the one that it may be.

    Args:
        node: The field's type, no union.
        target: The ``uniontype``.
        where: Names the column and the file for messages.

    Raises:
        NotSupportedError: None of them or several.
    """
    positions = _union_positions(node, list(target)[1:], where)
    if len(positions) != 1:
        raise NotSupportedError(
            f"{where} is {_name(node)} in the file, and {target} in the table; expected a uniontype that has it once"
        )
    return positions[0]


def _union(branches: Sequence[Json], target: pa.DataType, where: str) -> pa.DataType:
    """A struct of the branch's number and of the branches in the file's order, named as the table names them.

    Hive numbers the branches by the table's schema, null left out (``AvroDeserializer.deserializeUnion``).
    """
    fields = list(target)[1:] if pa.types.is_struct(target) else []
    if pa.types.is_null(target):
        fields = [pa.field(f"field{number}", target) for number in range(len(branches))]
    named = [field.name for field in fields] == [f"field{number}" for number in range(len(fields))]
    found = [_union_positions(branch, fields, where) for branch in branches]
    if named and len(branches) == len(fields) and all(number in positions for number, positions in enumerate(found)):
        found = [[number] for number in range(len(branches))]
    if not named or any(len(positions) != 1 for positions in found) or len({at for [at] in found}) < len(found):
        raise NotSupportedError(
            f"{where} is a union of {len(branches)} types in the file, and {target} in the table; expected a uniontype "
            "that has each of them once"
        )
    members = [
        (fields[at].name, natural_type(branch, fields[at].type, where))
        for branch, [at] in zip(branches, found, strict=True)
    ]
    return pa.struct([("tag", pa.int8()), *members])


def _union_positions(branch: Json, fields: Sequence[pa.Field], where: str) -> list[int]:
    """The fields whose type a branch of a union may have."""
    if isinstance(branch, dict) and UNION_POSITION in branch:
        position = cast(int, branch[UNION_POSITION])
        return [position] if position < len(fields) else []
    return [at for at, field in enumerate(fields) if _alike(natural_type(branch, field.type, where), field.type)]


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
        return TIMESTAMPS.get(logical, TIMESTAMPS["timestamp-millis"])
    if kind == "int" and pa.types.is_date(target):
        return pa.date32()
    if kind in ("bytes", "fixed") and logical == "decimal" and not pa.types.is_binary(target):
        precision, scale = int(cast(int, node.get("precision", 38))), int(cast(int, node.get("scale", 0)))
        if 1 <= precision <= 38 and 0 <= scale <= precision:
            return pa.decimal128(precision, scale)
    return _SIMPLE[kind]


def _name(node: Json) -> str:
    return str(node["type"] if isinstance(node, dict) else node)
