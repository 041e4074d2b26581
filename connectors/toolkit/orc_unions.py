"""Unions of ORC as structs: the number of the branch, then one field for each branch. Executor side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import NotSupportedError
from connectors.toolkit.schema_adapter import map_nested
from connectors.toolkit.union_structs import union_struct

__all__ = ["holds_union", "union_struct_type", "unions_to_structs"]


def holds_union(arrow: pa.DataType) -> bool:
    """Whether a type is a union, or has one inside."""
    return bool(pa.types.is_union(arrow)) or any(
        holds_union(arrow.field(index).type) for index in range(arrow.num_fields)
    )


def union_struct_type(arrow: pa.DataType) -> pa.DataType:
    """A type with structs in the place of unions."""
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


def unions_to_structs(array: pa.Array, where: str) -> pa.Array:
    """An array as pyarrow reads it from ORC, with structs in the place of unions.

    Args:
        array: Of any type.
        where: Names the file for messages.

    Raises:
        NotSupportedError: A value is NULL, and it cannot be told whether the union is or its only branch.
    """
    if not holds_union(array.type):
        return array
    if pa.types.is_union(array.type):
        return _struct(array, where)
    target = union_struct_type(array.type)

    def convert(children: Sequence[pa.Array]) -> list[pa.Array]:
        return [unions_to_structs(child, where) for child in children]

    if pa.types.is_struct(target):
        # Not flatten(), which ends the process over a union.
        parts = convert([array.field(index) for index in range(array.type.num_fields)])
        return pa.StructArray.from_arrays(parts, fields=list(target), mask=array.is_null())
    return map_nested(array, target, convert)


def _struct(array: pa.UnionArray, where: str) -> pa.Array:
    target = union_struct_type(array.type)
    tags = array.type_codes.to_numpy(zero_copy_only=False)
    children = [array.field(index) for index in range(array.type.num_fields)]
    nulls = _nulls(tags, children, where)
    branches = []
    for index, child in enumerate(children):
        if pc.any(pc.and_(child.is_valid(), pa.array((tags != index) & ~nulls))).as_py():
            child = child.take(pa.array(np.arange(len(child)), mask=tags != index))
        branches.append(unions_to_structs(child, where))
    return pa.StructArray.from_arrays(
        [pa.array(tags.astype(np.int8)), *branches], fields=list(target), mask=pa.array(nulls)
    )


def _nulls(tags: np.typing.NDArray[np.int8], children: Sequence[pa.Array], where: str) -> np.typing.NDArray[np.bool_]:
    """Which unions are NULL themselves, not only the value of their branch.

    A union of Arrow has no NULLs of its own. Its builder (``SparseUnionBuilder::AppendNull``) gives a NULL to the first
    branch and empty values to the others; of a union that is there, the branches that it does not have are NULL
    (``AppendUnionBatch``).
    """
    empty: np.typing.NDArray[np.bool_] = (tags == 0) & ~_valid(children[0])
    if len(children) > 1:
        empty &= _valid(children[1])
        return empty
    if empty.any():
        raise NotSupportedError(
            f"{where} has a union of one type with values that are NULL, which cannot be told from unions that are "
            "NULL; expected no NULL, or more types"
        )
    return empty


def _valid(array: pa.Array) -> np.typing.NDArray[np.bool_]:
    found: np.typing.NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    return found
