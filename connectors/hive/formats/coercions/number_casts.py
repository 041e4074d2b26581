"""Numbers and booleans of files in columns of other types. A number that the column cannot hold is NULL.

Sources: ORC's ``ConvertTreeReaderFactory``, Hive's ``ParquetDataColumnReaderFactory`` and
``PrimitiveObjectInspectorUtils`` of 4.0.
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from connectors.hive.formats.coercions.java_numbers import decimal_texts, float_texts
from connectors.hive.formats.text.values import parse_decimals, real_nulls
from connectors.toolkit.schema.time_casts import ArrayFunction
from connectors.toolkit.schema.value_casts import decimal_to_integer, narrow_integer, to_decimal

__all__ = [
    "booleans_to_numbers",
    "booleans_to_texts",
    "bounded_floats",
    "decimals_to_booleans",
    "decimals_to_floats",
    "decimals_to_integers",
    "decimals_to_texts",
    "floats_to_booleans",
    "floats_to_decimals",
    "floats_to_integers",
    "floats_to_saturated_booleans",
    "floats_to_texts",
    "integers_to_booleans",
    "integers_to_decimals",
    "integers_to_floats",
    "integers_to_integers",
    "integers_to_texts",
    "whole_numbers_only",
]

_LEAST_FLOAT, _MOST_FLOAT = 2.0**-126, (2 - 2.0**-23) * 2.0**127


def booleans_to_numbers(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """1 and 0."""
    return lambda array: array.cast(pa.int8()).cast(target)


def booleans_to_texts(true: str, false: str) -> ArrayFunction:
    """Two words."""
    return lambda array: pc.if_else(array, true, false)


def bounded_floats(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """The nearest number; NULL where a finite one is too large or too small to keep its digits.

    So Hive's readers of Parquet have it, which take 0, NaN and infinity for such, too.
    """
    nearest = integers_to_floats(source, target)
    if source != pa.float64() or target != pa.float32():
        return nearest

    def cast(array: pa.Array) -> pa.Array:
        size = pc.abs(array)
        inside = pc.and_(pc.greater_equal(size, _LEAST_FLOAT), pc.less_equal(size, _MOST_FLOAT))
        exact = pc.or_(pc.equal(size, 0.0), pc.invert(pc.is_finite(array)))
        return real_nulls(nearest(array), pc.or_(inside, exact))

    return cast


def integers_to_booleans(array: pa.Array) -> pa.Array:
    """All but 0 is true."""
    return pc.not_equal(array, pa.scalar(0, array.type))


def integers_to_integers(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """NULL outside of the target's range."""
    return narrow_integer(source, target)


def integers_to_floats(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """The nearest number."""
    return lambda array: array.cast(target, safe=False)


def integers_to_decimals(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """NULL where the whole part does not fit."""
    return to_decimal(source, target)


def integers_to_texts(array: pa.Array) -> pa.Array:
    """Decimal digits."""
    return array.cast(pa.string())


def floats_to_booleans(array: pa.Array) -> pa.Array:
    """Whether the whole part is not 0, as Hive has it: 0.5 is false. NULL out of range of a ``bigint``."""
    return integers_to_booleans(floats_to_integers(array.type, pa.int64())(array))


def floats_to_saturated_booleans(array: pa.Array) -> pa.Array:
    """The same as of a Java ``int``: what is too large for it, and infinity, is true; NaN is false."""
    numbers = array.cast(pa.float64())
    return pc.and_(pc.greater_equal(pc.abs(numbers), 1.0), pc.invert(pc.is_nan(numbers)))


def floats_to_integers(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """The whole part; NULL for what is not finite or out of range."""
    bits = target.bit_width - 1

    def cast(array: pa.Array) -> pa.Array:
        whole = pc.trunc(array.cast(pa.float64()))
        inside = pc.and_(pc.greater_equal(whole, -float(1 << bits)), pc.less(whole, float(1 << bits)))
        # A cast looks at values that are NULL, too.
        return real_nulls(pc.if_else(inside, whole, 0.0).cast(target), inside)

    return cast


def floats_to_decimals(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """Of the shortest digits that tell the number, rounded half up; NULL where they do not fit.

    Args:
        source: The type whose digits count.
        target: The decimal.
    """
    return lambda array: parse_decimals(float_texts(array.cast(source)), target)


def floats_to_texts(source: pa.DataType, *, nan: bool) -> ArrayFunction:
    """As Java's ``toString`` writes them.

    Args:
        source: The type whose digits count.
        nan: Whether NaN is a text; else it is NULL.
    """

    def cast(array: pa.Array) -> pa.Array:
        found = float_texts(array.cast(source))
        return found if nan else real_nulls(found, pc.invert(pc.is_nan(array)))

    return cast


def decimals_to_booleans(array: pa.Array) -> pa.Array:
    """All but 0 is true."""
    return pc.not_equal(array, pa.scalar(Decimal(0), array.type))


def decimals_to_integers(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """The whole part; NULL out of range."""
    return decimal_to_integer(source, target)


def decimals_to_floats(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """The nearest number; Arrow's own cast multiplies, and may miss it."""
    return lambda array: array.cast(pa.string()).cast(target)


def decimals_to_texts(*, stripped: bool) -> ArrayFunction:
    """Digits; either all of the scale, or none behind the last that is not 0."""
    return lambda array: decimal_texts(array, stripped=stripped)


def whole_numbers_only(function: ArrayFunction) -> ArrayFunction:
    """The function with NULL for numbers that have a fraction."""
    return lambda array: real_nulls(function(array), pc.equal(array, pc.trunc(array)))
