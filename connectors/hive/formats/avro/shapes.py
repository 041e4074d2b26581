"""Values of an Avro file in the shape that a table's own schema gives them. Executor side.

Avro specification, "Schema Resolution" and "Aliases": fields of records are found by their names or by names that the
table's schema says they had, what the file lacks has the default, a symbol that an enum lacks is the enum's default,
and a type that is now one of a union is that one. Columns follow ``avro_resolution``; this is what lies inside of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.hive.formats.avro.defaults import default_array
from connectors.hive.formats.avro.names import field_type, reader_types, record_fields
from connectors.hive.formats.avro.types import union_position
from connectors.toolkit.avro.schema import Json, is_wide_union, union_branch, union_branches
from connectors.toolkit.schema.time_casts import ArrayFunction
from connectors.toolkit.schema.type_adaptation import map_nested
from connectors.toolkit.schema.union_structs import UNION_TAG, is_union_struct

__all__ = ["repeated", "shape"]


def shape(
    natural: pa.DataType, node: Json, reader: Json, target: pa.DataType, where: str
) -> tuple[pa.DataType, ArrayFunction | None]:
    """How values become those of the table's schema.

    Args:
        natural: The Arrow type in which they are read.
        node: Their type in the file, as ``renamed`` gives it.
        reader: Their type in the table's schema; None where it has none.
        target: The type of the table's column.
        where: Names the column and the file for messages.

    Returns:
        The type that they get, and the function to it; ``None`` where they stay.

    Raises:
        NotSupportedError: A record lacks a field without a default.
    """
    if is_wide_union(node):
        return _shape_union(natural, node, reader, target, where)
    node = union_branch(node)
    if is_union_struct(target):
        return _into_union(natural, node, reader, target, where)
    [reader] = reader_types([node], reader)
    if not isinstance(node, dict) or not isinstance(reader, dict):
        return natural, None
    kind = node["type"]
    if kind == "record" and pa.types.is_struct(target):
        return _shape_record(natural, node, reader, target, where)
    if kind == "array" and pa.types.is_list(target):
        inner, function = shape(natural.value_type, node["items"], reader["items"], target.value_type, where)
        return _nested(natural, pa.list_(inner), [function])
    if kind == "map" and pa.types.is_map(target):
        inner, function = shape(natural.item_type, node["values"], reader["values"], target.item_type, where)
        return _nested(natural, pa.map_(natural.key_type, inner), [None, function])
    if kind == "enum" and "default" in reader:
        return natural, _symbols(cast("list[str]", reader["symbols"]), str(reader["default"]))
    return natural, None


def repeated(value: pa.Array, rows: int) -> pa.Array:
    """An array of one element so many times."""
    return value.take(pa.array(np.zeros(rows, dtype=np.int32)))


def _shape_record(
    natural: pa.DataType, node: Mapping[str, Json], reader: Mapping[str, Json], target: pa.DataType, where: str
) -> tuple[pa.DataType, ArrayFunction | None]:
    known, members = record_fields(reader), record_fields(node)
    wanted = {field.name.lower(): field.type for field in target}
    fields: list[tuple[str, pa.DataType]] = []
    functions: list[ArrayFunction | None] = []
    for (name, member), child in zip(members.items(), natural, strict=True):
        inner: tuple[pa.DataType, ArrayFunction | None] = (child.type, None)
        if name.lower() in wanted:
            asked = field_type(known.get(name))
            inner = shape(child.type, member["type"], asked, wanted[name.lower()], f"{name} in {where}")
        fields.append((name, inner[0]))
        functions.append(inner[1])
    defaults: list[pa.Array] = []
    for name in (name for name in known if name not in members and name.lower() in wanted):
        if "default" not in known[name]:
            raise NotSupportedError(f"{name} in {where} is not there, and the table's Avro schema gives it no default")
        value = default_array(known[name], wanted[name.lower()], f"{name} in {where}")
        fields.append((name, value.type))
        defaults.append(value)
    return _nested(natural, pa.struct(fields), functions, defaults)


def _shape_union(
    natural: pa.DataType, node: Json, reader: Json, target: pa.DataType, where: str
) -> tuple[pa.DataType, ArrayFunction | None]:
    if not is_union_struct(target):
        return natural, None
    branches = union_branches(node)
    fields = [natural.field(0)]
    functions: list[ArrayFunction | None] = [None]
    for branch, asked, child in zip(branches, reader_types(branches, reader), list(natural)[1:], strict=True):
        inner, function = shape(child.type, branch, asked, target.field(child.name).type, f"{child.name} in {where}")
        fields.append(pa.field(child.name, inner))
        functions.append(function)
    return _nested(natural, pa.struct(fields), functions)


def _into_union(
    natural: pa.DataType, node: Json, reader: Json, target: pa.DataType, where: str
) -> tuple[pa.DataType, ArrayFunction | None]:
    """A type that is one of a ``uniontype`` in the table."""
    position = union_position(node, target, where)
    branch = target.field(position + 1)
    inner, function = shape(natural, node, reader, branch.type, where)
    made = pa.struct([(UNION_TAG, pa.int8()), (branch.name, inner)])
    tag = pa.array([position], pa.int8())

    def convert(array: pa.Array) -> pa.Array:
        values = function(array) if function else array
        return pa.StructArray.from_arrays(
            [repeated(tag, len(array)), values], fields=list(made), mask=array.is_null() if array.null_count else None
        )

    return made, convert


def _nested(
    natural: pa.DataType,
    made: pa.DataType,
    functions: Sequence[ArrayFunction | None],
    added: Sequence[pa.Array] = (),
) -> tuple[pa.DataType, ArrayFunction | None]:
    """Each child by its function, and children that are the same for all."""
    if not added and not any(functions):
        return natural, None

    def convert(array: pa.Array) -> pa.Array:
        def children(found: Sequence[pa.Array]) -> list[pa.Array]:
            own = [function(one) if function else one for function, one in zip(functions, found, strict=True)]
            return own + [repeated(value, len(array)) for value in added]

        return map_nested(array, made, children)

    return made, convert


def _symbols(symbols: Sequence[str], default: str) -> ArrayFunction:
    known, value = pa.array(symbols, pa.string()), pa.scalar(default, pa.string())

    def convert(array: pa.Array) -> pa.Array:
        return pc.if_else(pc.or_(array.is_null(), pc.is_in(array, known)), array, value)

    return convert
