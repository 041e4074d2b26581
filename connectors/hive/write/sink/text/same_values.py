"""Whether two arrays hold the same values. Executor side."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.write.sink.text.leaves import compact

__all__ = ["same_values"]


def same_values(one: pa.Array, other: pa.Array) -> bool:
    """Whether two arrays of one type are equal, NaN taken for NaN: ``pyarrow.Array.equals`` does not."""
    if one.equals(other):
        return True
    if one.type != other.type or len(one) != len(other) or not one.is_null().equals(other.is_null()):
        return False
    if pa.types.is_floating(one.type):
        both_nan = pc.and_(pc.is_nan(one), pc.is_nan(other))
        return bool(pc.all(pc.or_(both_nan, pc.equal(one, other)), min_count=0).as_py())
    if pa.types.is_struct(one.type):
        return all(same_values(*pair) for pair in zip(one.flatten(), other.flatten(), strict=True))
    if not (pa.types.is_list(one.type) or pa.types.is_map(one.type)):
        return False
    first, second = compact(one), compact(other)
    if not first.offsets.equals(second.offsets):
        return False
    if pa.types.is_map(one.type):
        return same_values(first.keys, second.keys) and same_values(first.items, second.items)
    return same_values(first.values, second.values)
