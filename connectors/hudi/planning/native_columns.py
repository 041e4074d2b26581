"""Types that any Parquet reader reads alike."""

from __future__ import annotations

import pyarrow as pa

__all__ = ["is_native_type"]


def is_native_type(arrow: pa.DataType) -> bool:
    """Whether values of the type need nothing of Hudi's knowledge.

    Not so are timestamps of milliseconds, whose files may be labelled wrong, wall-clock timestamps and times of day,
    which readers show in several types.
    """
    if pa.types.is_timestamp(arrow):
        return bool(arrow == pa.timestamp("us", "UTC"))
    if pa.types.is_time(arrow) or pa.types.is_null(arrow):
        return False
    if pa.types.is_map(arrow):
        return is_native_type(arrow.key_type) and is_native_type(arrow.item_type)
    return all(is_native_type(arrow.field(index).type) for index in range(arrow.num_fields))
