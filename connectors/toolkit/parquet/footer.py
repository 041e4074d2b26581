"""Types of a Parquet file, and the leaves of its nested columns, by its footer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.handles import ColumnHandle
from connectors.toolkit.parquet.maps import restored_type
from connectors.toolkit.schema.column_sources import ColumnSource, find_column
from connectors.toolkit.schema.time_conventions import INT96

__all__ = ["leaf_starts", "narrow_schema", "typed_schema"]


def typed_schema(file: pq.ParquetFile) -> pa.Schema:
    """The file's Arrow schema, with INT96 leaves marked by ``time_conventions.INT96``."""
    read: pa.Schema = file.schema_arrow.remove_metadata()
    schema = pa.schema([field.with_type(restored_type(field.type)) for field in read])
    parquet = file.schema
    physical = [parquet.column(index).physical_type for index in range(len(parquet))]
    if "INT96" not in physical or sum(_leaf_count(field.type) for field in schema) != len(physical):
        return schema
    leaves = iter(physical)
    return pa.schema([field.with_type(_mark(field.type, leaves)) for field in schema])


def narrow_schema(
    schema: pa.Schema,
    columns: Sequence[ColumnHandle],
    sources: Mapping[str, ColumnSource],
    *,
    fields_by_position: bool = False,
) -> tuple[pa.Schema, list[int]]:
    """Finds what has to be read for some columns.

    A struct of which no field is asked still needs one leaf, since only a leaf shows its NULLs. Where fields are found
    by position, all of them are read.

    Returns:
        The schema with the types of the columns narrowed to what is read, and the indices of the leaves, sorted.
    """
    starts = leaf_starts(schema)
    fields = list(schema)
    chosen: dict[int, list[int]] = {}
    for column in columns:
        position = find_column(schema, sources.get(column.name, column.name))
        if position is None:
            continue
        source = schema.field(position).type
        narrowed, leaves = _narrow(source, column.type, starts[position])
        if position in chosen or fields_by_position:
            narrowed, leaves = source, list(range(starts[position], starts[position + 1]))
        fields[position] = schema.field(position).with_type(narrowed)
        chosen[position] = leaves
    return pa.schema(fields), sorted(leaf for leaves in chosen.values() for leaf in leaves)


def leaf_starts(fields: Iterable[pa.Field], start: int = 0) -> list[int]:
    """The number of the first leaf of each column, and at the end the number of all leaves; counted from ``start``."""
    return list(accumulate((_leaf_count(field.type) for field in fields), initial=start))


def _leaf_count(arrow: pa.DataType) -> int:
    if not pa.types.is_nested(arrow):
        return 1
    if pa.types.is_map(arrow):
        return _leaf_count(arrow.key_type) + _leaf_count(arrow.item_type)
    if pa.types.is_struct(arrow):
        return sum(_leaf_count(field.type) for field in arrow)
    return 1 if pa.types.is_union(arrow) else _leaf_count(arrow.value_type)


def _mark(arrow: pa.DataType, leaves: Iterator[str]) -> pa.DataType:
    if pa.types.is_map(arrow):
        return pa.map_(_mark(arrow.key_type, leaves), arrow.item_field.with_type(_mark(arrow.item_type, leaves)))
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(_mark(field.type, leaves)) for field in arrow])
    if pa.types.is_list(arrow):
        return pa.list_(arrow.value_field.with_type(_mark(arrow.value_type, leaves)))
    return INT96 if next(leaves) == "INT96" else arrow


def _narrow(source: pa.DataType, target: pa.DataType, start: int) -> tuple[pa.DataType, list[int]]:
    """What of ``source``, whose leaves begin at ``start``, has to be read for ``target``: type and leaves."""
    if pa.types.is_struct(source) and pa.types.is_struct(target):
        return _narrow_struct(source, target, start)
    if pa.types.is_map(source) and pa.types.is_map(target):
        keys = _leaf_count(source.key_type)
        items, leaves = _narrow(source.item_type, target.item_type, start + keys)
        narrowed = pa.map_(source.key_field, source.item_field.with_type(items))
        return narrowed, [*range(start, start + keys), *leaves]
    if pa.types.is_list(source) and pa.types.is_list(target):
        values, leaves = _narrow(source.value_type, target.value_type, start)
        return pa.list_(source.value_field.with_type(values)), leaves
    return source, list(range(start, start + _leaf_count(source)))


def _narrow_struct(source: pa.DataType, target: pa.DataType, start: int) -> tuple[pa.DataType, list[int]]:
    starts = leaf_starts(list(source), start)
    schema = pa.schema(list(source))
    fields: dict[int, pa.Field] = {}
    leaves: dict[int, list[int]] = {}
    for field in target:
        position = find_column(schema, field.name)
        if position is not None:
            narrowed, leaves[position] = _narrow(source[position].type, field.type, starts[position])
            fields[position] = source[position].with_type(narrowed)
    if not fields:
        narrowed, leaves[0] = _first_leaf(source[0].type, start)
        fields[0] = source[0].with_type(narrowed)
    return pa.struct([fields[at] for at in sorted(fields)]), [leaf for at in sorted(leaves) for leaf in leaves[at]]


def _first_leaf(arrow: pa.DataType, start: int) -> tuple[pa.DataType, list[int]]:
    if pa.types.is_struct(arrow):
        narrowed, leaves = _first_leaf(arrow[0].type, start)
        return pa.struct([arrow[0].with_type(narrowed)]), leaves
    return arrow, list(range(start, start + _leaf_count(arrow)))
