"""Which values of a Parquet file are in the order of the table's values. Executor side."""

from __future__ import annotations

import pyarrow as pa

from connectors.toolkit.schema.time_conventions import INT96

__all__ = ["keeps_order"]


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
