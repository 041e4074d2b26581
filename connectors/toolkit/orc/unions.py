"""Unions of ORC as structs: the number of the branch, then one field for each branch. Executor side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import CorruptFileError
from connectors.toolkit.orc.footer import OrcType
from connectors.toolkit.orc.union_tags import UnionSlots
from connectors.toolkit.schema.type_adaptation import map_nested
from connectors.toolkit.schema.union_structs import union_struct

__all__ = ["OrcNode", "holds_union", "orc_nodes", "union_struct_type", "unions_to_structs"]

_Bits: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class OrcNode:
    """A type as it is read.

    Attributes:
        number: Its number among the file's types.
        children: Those inside of it that are read, in the order of the Arrow type.
    """

    number: int
    children: tuple[OrcNode, ...]


def orc_nodes(read: pa.Schema, full: pa.Schema, types: Sequence[OrcType], where: str) -> tuple[OrcNode, ...]:
    """The types of columns as they are read.

    Args:
        read: The columns, narrowed to what is read.
        full: The file's schema.
        types: All types of the file, as the footer numbers them.
        where: Names the file for messages.

    Raises:
        CorruptFileError: The types do not belong together.
    """
    try:
        return _node(pa.struct(list(read)), pa.struct(list(full)), types, 0).children
    except (IndexError, ValueError) as error:
        raise CorruptFileError(f"{where} cannot be read as ORC: its types do not belong together") from error


def holds_union(arrow: pa.DataType) -> bool:
    """Whether a type is a union, or has one inside."""
    return bool(pa.types.is_union(arrow)) or any(
        holds_union(arrow.field(index).type) for index in range(arrow.num_fields)
    )


def union_struct_type(arrow: pa.DataType) -> pa.DataType:
    """A type with structs instead of unions."""
    if not holds_union(arrow):
        return arrow
    if pa.types.is_union(arrow):
        return union_struct([union_struct_type(arrow.field(index).type) for index in range(arrow.num_fields)])
    if pa.types.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(union_struct_type(arrow.value_type)))
    if pa.types.is_map(arrow):
        return pa.map_(
            union_struct_type(arrow.key_type), arrow.item_field.with_type(union_struct_type(arrow.item_type))
        )
    return pa.struct([field.with_type(union_struct_type(field.type)) for field in arrow])


def unions_to_structs(
    array: pa.Array, node: OrcNode, slots: Mapping[int, UnionSlots], exists: _Bits | None = None
) -> pa.Array:
    """An array as pyarrow reads it from ORC, with structs instead of unions.

    Args:
        array: Of any type.
        node: The type in the file.
        slots: Which unions are there, by the numbers of their types; of those that are not, pyarrow makes unions of
            the first branch with no value.
        exists: Which values have a parent that is there; ``None`` for all.

    Raises:
        CorruptFileError: The file has fewer of these unions than values.
    """
    if not holds_union(array.type):
        return array
    if exists is None:
        exists = np.ones(len(array), bool)
    if pa.types.is_union(array.type):
        return _struct(array, node, slots, exists)
    target = union_struct_type(array.type)
    if pa.types.is_struct(target):
        # Not flatten(), which ends the process over a union.
        exists = exists & array.is_valid().to_numpy(zero_copy_only=False)
        fields = [array.field(index) for index in range(array.type.num_fields)]
        parts = [unions_to_structs(one, inner, slots, exists) for one, inner in zip(fields, node.children, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=list(target), mask=array.is_null())

    def convert(children: Sequence[pa.Array]) -> list[pa.Array]:
        return [unions_to_structs(child, inner, slots) for child, inner in zip(children, node.children, strict=True)]

    return map_nested(array, target, convert)


def _struct(array: pa.UnionArray, node: OrcNode, slots: Mapping[int, UnionSlots], exists: _Bits) -> pa.Array:
    target = union_struct_type(array.type)
    tags = array.type_codes.to_numpy(zero_copy_only=False)
    children = [array.field(index) for index in range(array.type.num_fields)]
    nulls = slots[node.number].nulls(exists)
    branches = []
    for index, child in enumerate(children):
        chosen = (tags == index) & ~nulls
        if pc.any(pc.and_(child.is_valid(), pa.array((tags != index) & ~nulls))).as_py():
            child = child.take(pa.array(np.arange(len(child)), mask=tags != index))
        branches.append(unions_to_structs(child, node.children[index], slots, exists & chosen))
    return pa.StructArray.from_arrays(
        [pa.array(tags.astype(np.int8)), *branches], fields=list(target), mask=pa.array(nulls)
    )


def _node(read: pa.DataType, full: pa.DataType, types: Sequence[OrcType], number: int) -> OrcNode:
    inner, known = _inner(read), _inner(full)
    numbers = types[number].children
    if len(numbers) != len(known):
        raise ValueError("types of another shape")
    positions = [*range(len(known))]
    if len(inner) < len(known):
        names = [name for name, _ in known]
        positions = [names.index(name) for name, _ in inner]
    pairs = zip(inner, positions, strict=True)
    return OrcNode(number, tuple(_node(one, known[at][1], types, numbers[at]) for (_, one), at in pairs))


def _inner(arrow: pa.DataType) -> list[tuple[str, pa.DataType]]:
    if pa.types.is_map(arrow):
        return [("key", arrow.key_type), ("value", arrow.item_type)]
    return [(arrow.field(at).name, arrow.field(at).type) for at in range(arrow.num_fields)]
