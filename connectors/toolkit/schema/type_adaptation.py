"""From the types of a file to the types of a table: nested ones, and those that became others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from connectors.toolkit.schema.column_sources import find_column
from connectors.toolkit.schema.time_casts import ArrayFunction
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.union_structs import UNION_TAG, branch_count
from connectors.toolkit.schema.value_casts import leaf_cast, refused_branch, refused_cast

__all__ = ["LOSSLESS", "LOSSY", "CastRules", "adaptation", "map_nested"]

LeafCast = Callable[[pa.DataType, pa.DataType, TimeConventions, str], ArrayFunction | None]
"""The function between two types that are not nested; ``None`` where they are the same, an error where there is none.

The string names the column and the file for the message."""


@dataclass(frozen=True, slots=True)
class CastRules:
    """How the types of a file become those of a table.

    Attributes:
        leaf: The cast of types that are not nested.
        fields_by_position: Fields of structs are found by position; else by name.
        unions_by_value: Of a union of more types than the table's, only values of those types are refused; else all.
    """

    leaf: LeafCast
    fields_by_position: bool = False
    unions_by_value: bool = False


LOSSY = CastRules(partial(leaf_cast, strict=False))
"""Every cast there is; a value that does not fit becomes NULL."""
LOSSLESS = CastRules(partial(leaf_cast, strict=True))
"""Only casts that keep every value; others are refused."""


def adaptation(
    source: pa.DataType,
    target: pa.DataType,
    conventions: TimeConventions,
    where: str,
    rules: CastRules = LOSSY,
    whole: pa.DataType | None = None,
) -> ArrayFunction | None:
    """The function from arrays of a file's type to arrays of a table's type; ``None`` where they are the same.

    Fields of structs are matched by name, whatever their case, unless the rules say by position; a field that the file
    lacks is NULL.

    Args:
        source: The file's type.
        target: The table's type, which may be narrowed.
        conventions: The file's calendar and zone.
        where: Names the column and the file for messages.
        rules: Which casts there are.
        whole: The table's type where ``target`` is narrowed and the rules find fields by position.

    Raises:
        NotSupportedError: There is no such cast.
    """
    return _Adapter(conventions, rules).function(source, target, whole or target, where)


def _find_fields(source: pa.DataType, target: pa.DataType, *, by_position: bool) -> list[int | None]:
    """The position in one struct of each field of another, or ``None`` where it has none.

    Args:
        source: The struct with the fields; those of a ``uniontype`` are found by name alone.
        target: The struct whose fields are wanted, all of them where ``by_position``.
        by_position: Fields are found by position.
    """
    if by_position and branch_count(source) is None:
        return [at if at < source.num_fields else None for at in range(target.num_fields)]
    schema = pa.schema(list(source))
    return [find_column(schema, field.name) for field in target]


def map_nested(
    array: pa.Array, target: pa.DataType, children: Callable[[Sequence[pa.Array]], list[pa.Array]]
) -> pa.Array:
    """Rebuilds a list, map or struct array with other children; NULLs and lengths stay.

    Args:
        array: Of any of these types, sliced or not.
        target: Type of the result.
        children: From the children (values; keys and items; fields) to those of the target.
    """
    nulls = array.is_null() if array.null_count else None
    if pa.types.is_struct(target):
        parts = children(array.flatten())
        fields = list(target)
        if not fields:
            return pa.nulls(len(array), target) if nulls is not None and array.null_count == len(array) else array
        return pa.StructArray.from_arrays(parts, fields=fields, mask=nulls)
    if pa.types.is_fixed_size_list(array.type):
        array = array.cast(pa.list_(array.type.value_field))
    # Offsets of a slice do not begin at 0, and from_arrays takes a mask only with offsets of their own.
    offsets = pa.array(array.offsets.to_numpy(zero_copy_only=False).astype("int32"))
    if pa.types.is_map(target):
        keys, items = children([array.keys, array.items])
        return pa.MapArray.from_arrays(offsets, keys, items, type=target, mask=nulls)
    (values,) = children([array.values])
    return pa.ListArray.from_arrays(offsets, values, type=target, mask=nulls)


@dataclass(frozen=True, slots=True)
class _Adapter:
    """Makes functions by the rules, for a file of these conventions."""

    conventions: TimeConventions
    rules: CastRules

    def function(
        self, source: pa.DataType, target: pa.DataType, whole: pa.DataType, where: str
    ) -> ArrayFunction | None:
        if _is_list(source) and pa.types.is_list(target):
            values = f"the elements of {where}"
            inner = self.function(source.value_type, target.value_type, whole.value_type, values)
            return None if inner is None and source == target else _list_function(target, inner)
        if pa.types.is_map(source) and pa.types.is_map(target):
            return self._map(source, target, whole, where)
        if pa.types.is_struct(source) and pa.types.is_struct(target):
            return self._struct(source, target, whole, where)
        return self.rules.leaf(source, target, self.conventions, where)

    def _map(self, source: pa.DataType, target: pa.DataType, whole: pa.DataType, where: str) -> ArrayFunction | None:
        keys = self.function(source.key_type, target.key_type, whole.key_type, f"the keys of {where}")
        items = self.function(source.item_type, target.item_type, whole.item_type, f"the values of {where}")
        if keys is None and items is None and source == target:
            return None

        def convert(children: Sequence[pa.Array]) -> list[pa.Array]:
            return [_apply(keys, children[0]), _apply(items, children[1])]

        return lambda array: map_nested(array, target, convert)

    def _struct(self, source: pa.DataType, target: pa.DataType, whole: pa.DataType, where: str) -> ArrayFunction | None:
        lacks = (branch_count(source) or 0) > (branch_count(target) or 128)
        if lacks and not self.rules.unions_by_value:
            # A value may be of a branch that the table does not have; Hive refuses this, too (ORC's SchemaEvolution).
            raise refused_cast(source, target, where)
        found = _find_fields(source, whole, by_position=self.rules.fields_by_position)
        chosen = (
            [*range(len(found))] if len(found) == target.num_fields else [whole.get_field_index(f.name) for f in target]
        )
        positions = [found[at] if at >= 0 else None for at in chosen]
        functions = [
            None
            if position is None
            else self.function(source[position].type, field.type, whole[at].type, f"{field.name} in {where}")
            for field, position, at in zip(target, positions, chosen, strict=True)
        ]
        if source == target and not any(functions) and positions == [*range(target.num_fields)]:
            return None

        def convert(children: Sequence[pa.Array]) -> list[pa.Array]:
            if lacks:
                _check_branches(children[source.get_field_index(UNION_TAG)], source, target, where)
            rows = len(children[0]) if children else 0
            return [
                pa.nulls(rows, field.type) if position is None else _apply(function, children[position])
                for field, position, function in zip(target, positions, functions, strict=True)
            ]

        return lambda array: map_nested(array, target, convert)


def _is_list(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_list(arrow) or pa.types.is_large_list(arrow) or pa.types.is_fixed_size_list(arrow))


def _apply(function: ArrayFunction | None, array: pa.Array) -> pa.Array:
    return function(array) if function else array


def _list_function(target: pa.DataType, inner: ArrayFunction | None) -> ArrayFunction:
    return lambda array: map_nested(array, target, lambda children: [_apply(inner, children[0])])


def _check_branches(tags: pa.Array, source: pa.DataType, target: pa.DataType, where: str) -> None:
    """Refuses values of branches that the table lacks: Hive has no number for them (``StandardUnion``), and fails."""
    branches = branch_count(target)
    largest = pc.max(tags).as_py()
    if branches is not None and largest is not None and largest >= branches:
        raise refused_branch(largest, source, target, where)
