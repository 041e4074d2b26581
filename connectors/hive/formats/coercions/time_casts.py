"""Numbers as timestamps and timestamps as numbers and texts: seconds since 1970, with or without a fraction.

What lies outside of 64-bit microseconds, some 292,000 years, is NULL; Hive shows a wrong time there. So is the text of
a date or time outside of the years from -32767 to 32767, which Arrow does not write.
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.formats.text.values import real_nulls
from connectors.toolkit.schema.decimal_rounding import rounded_down
from connectors.toolkit.schema.floor_division import floor_divide
from connectors.toolkit.schema.time_casts import ArrayFunction
from connectors.toolkit.schema.value_casts import narrow_integer, to_decimal

__all__ = [
    "dates_to_texts",
    "dates_to_timestamps",
    "decimals_to_timestamps",
    "floats_to_timestamps",
    "integers_to_timestamps",
    "timestamps_to_booleans",
    "timestamps_to_dates",
    "timestamps_to_decimals",
    "timestamps_to_floats",
    "timestamps_to_integers",
    "timestamps_to_texts",
]

_MICROS = pa.timestamp("us")
_DAY_MICROS = 86_400_000_000
_WIDE = pa.decimal256(76, 6)


def integers_to_timestamps(unit: int) -> ArrayFunction:
    """Whole numbers of a unit of so many microseconds."""
    most = ((1 << 63) - 1) // unit

    def cast(array: pa.Array) -> pa.Array:
        numbers = array.cast(pa.int64())
        inside = pc.and_(pc.less_equal(numbers, most), pc.greater_equal(numbers, -most))
        return pc.multiply(real_nulls(numbers, inside), unit).cast(_MICROS)

    return cast


def floats_to_timestamps(*, millis: bool) -> ArrayFunction:
    """Seconds, rounded to milliseconds or cut down to microseconds."""

    def cast(array: pa.Array) -> pa.Array:
        seconds = array.cast(pa.float64())
        inside = pc.less(pc.abs(seconds), 9e12)
        kept = pc.if_else(inside, seconds, 0.0)
        # The whole part apart, since all digits of the product would not fit.
        whole = pc.floor(kept)
        part = pc.subtract(kept, whole)
        if millis:
            part = pc.multiply(pc.floor(pc.add(pc.multiply(part, 1e3), 0.5)), 1e3)
        else:
            # Java cuts nanoseconds off, which it finds by decimal digits.
            part = pc.floor(pc.divide(pc.round(pc.multiply(part, 1e9)), 1e3))
        micros = pc.add(pc.multiply(whole.cast(pa.int64()), 1_000_000), part.cast(pa.int64()))
        return real_nulls(micros, inside).cast(_MICROS)

    return cast


def decimals_to_timestamps(array: pa.Array) -> pa.Array:
    """Seconds, cut down to microseconds."""
    inside = pc.less(pc.abs(array.cast(pa.decimal256(76, array.type.scale))), Decimal(9 * 10**12))
    kept = pc.if_else(inside, array.cast(pa.decimal256(76, array.type.scale)), Decimal(0))
    floored = rounded_down(kept, 6).cast(_WIDE)
    micros = pc.multiply(floored.cast(pa.decimal256(40, 6)), pa.scalar(Decimal(10**6), pa.decimal256(7, 0)))
    return real_nulls(micros.cast(pa.int64()), inside).cast(_MICROS)


def timestamps_to_booleans(array: pa.Array) -> pa.Array:
    """All but midnight of 1970-01-01 is true."""
    return pc.not_equal(array.view(pa.int64()), 0)


def timestamps_to_integers(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """Whole seconds, rounded down; NULL out of range."""
    narrow = narrow_integer(pa.int64(), target)
    return lambda array: narrow(floor_divide(array.view(pa.int64()), 1_000_000))


def timestamps_to_floats(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """Seconds: the whole ones and the fraction added as doubles, since microseconds have more digits than these."""

    def cast(array: pa.Array) -> pa.Array:
        micros = array.view(pa.int64())
        whole = floor_divide(micros, 1_000_000)
        part = pc.subtract(micros, pc.multiply(whole, 1_000_000))
        return pc.add(whole.cast(pa.float64()), pc.divide(part.cast(pa.float64()), 1e6)).cast(target, safe=False)

    return cast


def timestamps_to_decimals(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """Seconds, rounded half up; NULL where they do not fit."""
    exact = pa.decimal128(19, 6)
    cast = to_decimal(exact, target)
    millionth = pa.scalar(Decimal("0.000001"), pa.decimal128(7, 6))
    return lambda array: cast(
        pc.multiply(array.view(pa.int64()).cast(pa.decimal128(19, 0)), millionth).cast(pa.decimal256(30, 6))
    )


def timestamps_to_dates(array: pa.Array) -> pa.Array:
    """The day."""
    return floor_divide(array.view(pa.int64()), _DAY_MICROS).cast(pa.int32()).cast(pa.date32())


def dates_to_timestamps(array: pa.Array) -> pa.Array:
    """Midnight."""
    days = array.cast(pa.int32()).cast(pa.int64())
    inside = pc.less_equal(pc.abs(days), ((1 << 63) - 1) // _DAY_MICROS)
    return pc.multiply(real_nulls(days, inside), _DAY_MICROS).cast(_MICROS)


def dates_to_texts(array: pa.Array) -> pa.Array:
    """``yyyy-MM-dd``."""
    return _written(array)


def timestamps_to_texts(array: pa.Array) -> pa.Array:
    """``yyyy-MM-dd HH:mm:ss`` and the fraction without zeros at its end."""
    texts = _written(array)
    return pc.replace_substring_regex(pc.replace_substring_regex(texts, r"(\.[0-9]*[1-9])0+$", r"\1"), r"\.0+$", "")


def _written(array: pa.Array) -> pa.Array:
    texts = array.cast(pa.string())
    # For a time that it cannot write Arrow puts words in angle brackets.
    return real_nulls(texts, pc.invert(pc.starts_with(texts, "<")))
