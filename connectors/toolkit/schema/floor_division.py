"""Division that rounds down. Executor side."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["floor_divide"]


def floor_divide(numbers: pa.Array, by: int) -> pa.Array:
    """Whole numbers divided and rounded down, right over all of their range.

    Arrow's division rounds towards zero, and its ``floor_temporal`` wraps around at the lowest numbers.

    Args:
        numbers: 64-bit integers.
        by: More than 1.
    """
    whole = pc.divide(numbers, by)
    below = pc.less(numbers, pc.multiply(whole, by))
    return pc.subtract(whole, below.cast(pa.int64()))
