"""What a Parquet footer tells: types, leaves of nested columns, statistics of row groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import accumulate

import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import TupleDomain, Value
from connectors.toolkit.parquet.maps import restored_type
from connectors.toolkit.read.arrow_filter import ColumnBounds, may_match
from connectors.toolkit.schema.column_sources import ColumnSource, find_column
from connectors.toolkit.schema.time_conventions import INT96, TimeConventions

__all__ = ["keeps_order", "leaf_starts", "narrow_schema", "row_group_may_match", "typed_schema"]

_GREGORIAN_START = date(1582, 10, 15)


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
    fields_by_place: bool = False,
) -> tuple[pa.Schema, list[int]]:
    """Finds what has to be read for some columns.

    A struct of which no field is asked still needs one leaf, since only a leaf tells its NULLs. Where fields are found
    by their place, all of them are read.

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
        if position in chosen or fields_by_place:
            narrowed, leaves = source, list(range(starts[position], starts[position + 1]))
        fields[position] = schema.field(position).with_type(narrowed)
        chosen[position] = leaves
    return pa.schema(fields), sorted(leaf for leaves in chosen.values() for leaf in leaves)


def row_group_may_match(
    file: pq.ParquetFile,
    group: int,
    schema: pa.Schema,
    predicate: TupleDomain[ColumnHandle],
    sources: Mapping[str, ColumnSource],
    conventions: TimeConventions,
) -> bool:
    """Whether a row group can hold rows of the predicate, by its statistics; true on doubt."""
    row_group = file.metadata.row_group(group)
    starts = leaf_starts(schema)
    for column, domain in dict(predicate.domains or {}).items():
        position = find_column(schema, sources.get(column.name, column.name))
        bounds: ColumnBounds | None
        if position is None:
            bounds = ColumnBounds(None, None, row_group.num_rows, row_group.num_rows)
        elif pa.types.is_nested(schema.field(position).type):
            bounds = None
        else:
            chunk = row_group.column(starts[position])
            bounds = _bounds(chunk, row_group.num_rows, schema.field(position).type, domain.type, conventions)
        if bounds is not None and not may_match(domain, bounds):
            return False
    return True


def keeps_order(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether the table's values are in the order of the file's values, each file value giving a table value."""
    if source == INT96:
        return False
    if pa.types.is_dictionary(source):
        source = source.value_type
    if pa.types.is_timestamp(source):
        same_kind = pa.types.is_timestamp(target) and (source.tz is None) == (target.tz is None)
        return bool(same_kind and source.unit in ("ms", "us"))
    if pa.types.is_signed_integer(source) or pa.types.is_floating(source):
        same_kind = pa.types.is_signed_integer(target) or pa.types.is_floating(target)
        if not same_kind or target.bit_width < source.bit_width:
            return False
        if pa.types.is_floating(source):
            return bool(pa.types.is_floating(target))
        # Python rounds an integer to a double and that to a float, Arrow rounds once.
        return bool(target != pa.float32() or source.bit_width <= 16)
    if pa.types.is_decimal(source):
        if not pa.types.is_decimal(target) or target.scale < source.scale:
            return False
        return bool(target.precision - target.scale >= source.precision - source.scale)
    return bool(
        source == target
        and (
            pa.types.is_boolean(source)
            or pa.types.is_string(source)
            or pa.types.is_binary(source)
            or pa.types.is_date(source)
        )
    )


def leaf_starts(fields: Iterable[pa.Field], start: int = 0) -> list[int]:
    """The number of the first leaf of each column, and at the end the number of all leaves; counted from ``start``."""
    return list(accumulate((_leaf_count(field.type) for field in fields), initial=start))


def _bounds(
    chunk: pq.ColumnChunkMetaData, rows: int, source: pa.DataType, target: pa.DataType, conventions: TimeConventions
) -> ColumnBounds | None:
    """Bounds of the values as the table shows them, or ``None`` where nothing can be said."""
    statistics = chunk.statistics
    if statistics is None or not keeps_order(source, target):
        return None
    nulls = statistics.null_count if statistics.has_null_count else None
    if not statistics.has_min_max:
        return ColumnBounds(None, None, nulls, rows)
    try:
        low, high = (_as_target(value, target) for value in (statistics.min, statistics.max))
    except (ValueError, OverflowError, ArithmeticError, NotImplementedError, pa.ArrowException):
        return ColumnBounds(None, None, nulls, rows)
    hybrid = conventions.hybrid_dates if pa.types.is_date(source) else conventions.legacy_instants
    if hybrid and _before_gregorian(low):
        return ColumnBounds(None, None, nulls, rows)
    return ColumnBounds(low, high, nulls, rows)


def _as_target(value: object, target: pa.DataType) -> Value:
    if pa.types.is_floating(target):
        return float(value)  # type: ignore[arg-type]  # a number, by keeps_order
    if isinstance(value, datetime):
        if target.tz is None:
            return value.replace(tzinfo=None)
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    return value  # type: ignore[return-value]  # of the target's kind, by keeps_order


def _before_gregorian(low: Value) -> bool:
    if isinstance(low, datetime):
        return low.date() < _GREGORIAN_START
    return isinstance(low, date) and low < _GREGORIAN_START


def _leaf_count(arrow: pa.DataType) -> int:
    if isinstance(arrow, pa.BaseExtensionType):
        arrow = arrow.storage_type
    if pa.types.is_map(arrow):
        return _leaf_count(arrow.key_type) + _leaf_count(arrow.item_type)
    if pa.types.is_struct(arrow):
        return sum(_leaf_count(field.type) for field in arrow)
    if pa.types.is_nested(arrow) and not pa.types.is_union(arrow):
        return _leaf_count(arrow.value_type)
    return 1


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
