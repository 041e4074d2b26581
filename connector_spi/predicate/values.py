"""Values that predicates compare, and how each Arrow type compares them."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError

__all__ = ["Comparability", "Value", "comparability", "normalize"]

Value: TypeAlias = bool | int | float | str | bytes | Decimal | date | datetime | time
"""A value of a column as Python holds it; timestamps with a time zone are aware and in UTC, others naive."""

# Dictionary-encoded values compare as the values that they stand for.
_ORDERED_TESTS = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
    pa.types.is_binary_view,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
)
_NARROW_FLOATS = ((pa.types.is_float16, "<e"), (pa.types.is_float32, "<f"))


class Comparability(Enum):
    """What can be asked of two values of a type."""

    ORDERABLE = "orderable"
    COMPARABLE = "comparable"
    NEITHER = "neither"


@lru_cache(maxsize=1024)
def comparability(data_type: pa.DataType) -> Comparability:
    """Tells how values of an Arrow type compare.

    Numbers, decimals, strings, binaries, booleans, dates, times and timestamps are orderable. A UUID is comparable
    only: Java orders its two halves as signed numbers, other engines order its bytes. Nested types, intervals and
    all others are neither.
    """
    if pa.types.is_dictionary(data_type):
        return comparability(data_type.value_type)
    if isinstance(data_type, pa.UuidType):
        return Comparability.COMPARABLE
    if isinstance(data_type, pa.BaseExtensionType):
        return Comparability.NEITHER
    if any(test(data_type) for test in _ORDERED_TESTS):
        return Comparability.ORDERABLE
    return Comparability.NEITHER


def normalize(data_type: pa.DataType, value: Value) -> Value:
    """Brings a value into the one form in which values of its type are compared.

    Floats: -0.0 becomes 0.0, and a value of a 16 or 32 bit column is rounded to the nearest such float, as a literal
    of that type is. Integers are taken for floats and decimals where they stand for the same number. Aware timestamps
    become UTC. A UUID is its 16 bytes.

    Raises:
        InvalidArgumentError: The value is not of the type, or the type's values do not compare.
    """
    return _normalizer(data_type)(value)


@lru_cache(maxsize=1024)
def _normalizer(data_type: pa.DataType) -> Callable[[Value], Value]:
    if pa.types.is_dictionary(data_type):
        return _normalizer(data_type.value_type)
    if comparability(data_type) is Comparability.NEITHER:

        def refuse(value: Value) -> Value:
            raise InvalidArgumentError(
                f"values of the type {data_type} do not compare, so no predicate can hold {value!r:.80}; "
                "use all, none, only_null or not_null"
            )

        return refuse
    convert = _converter(data_type)

    def check(value: Value) -> Value:
        converted = convert(value)
        if converted is None:
            raise InvalidArgumentError(
                f"{value!r:.80} ({type(value).__qualname__}) is not a value of the type {data_type}; "
                "give the Python value that Arrow has for this type"
            )
        return converted

    return check


def _converter(data_type: pa.DataType) -> Callable[[Value], Value | None]:
    if pa.types.is_floating(data_type):
        for test, layout in _NARROW_FLOATS:
            if test(data_type):
                return lambda value: _narrow_float(value, layout)
        return _float
    if pa.types.is_timestamp(data_type):
        return _utc if data_type.tz is not None else _naive
    if pa.types.is_date(data_type):
        return lambda value: value if isinstance(value, date) and not isinstance(value, datetime) else None
    if pa.types.is_integer(data_type):
        return lambda value: value if isinstance(value, int) and not isinstance(value, bool) else None
    if pa.types.is_decimal(data_type):
        return _decimal
    if pa.types.is_boolean(data_type):
        return lambda value: value if isinstance(value, bool) else None
    if pa.types.is_time(data_type):
        return lambda value: value if isinstance(value, time) and value.tzinfo is None else None
    if isinstance(data_type, pa.UuidType):
        return lambda value: value if isinstance(value, bytes) and len(value) == 16 else None
    text = any(test(data_type) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))
    expected = str if text else bytes
    return lambda value: value if isinstance(value, expected) else None


def _float(value: Value) -> Value | None:
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if number == value else None
    if not isinstance(value, float):
        return None
    # The sum turns -0.0 into 0.0. One NaN object for all: Python's sets and tuples compare by identity first.
    return math.nan if math.isnan(value) else float(value) + 0.0


def _narrow_float(value: Value, layout: str) -> Value | None:
    number = _float(value)
    if number is None or not isinstance(number, float) or not math.isfinite(number):
        return number
    try:
        narrow: float = struct.unpack(layout, struct.pack(layout, number))[0]
    except OverflowError:
        return None
    return narrow + 0.0


def _decimal(value: Value) -> Value | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    return value if isinstance(value, Decimal) and value.is_finite() else None


def _utc(value: Value) -> Value | None:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        return None
    return value if value.tzinfo is UTC else value.astimezone(UTC)


def _naive(value: Value) -> Value | None:
    if not isinstance(value, datetime) or value.tzinfo is not None:
        return None
    return value.replace(fold=0) if value.fold else value
