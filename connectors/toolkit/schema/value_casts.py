"""Casts of single values from a file's type to a table's type (Hive's ``ConvertTreeReaderFactory``).

A value that the target type cannot hold becomes NULL, as in Hive. Casts whose text form differs between engines
(floats, booleans, decimals and timestamps to strings) are not done at all.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from connector_spi.errors import ErrorCode, ErrorType, NotSupportedError
from connectors.toolkit.schema.decimal_rounding import cut_to_scale, rounded_half_up
from connectors.toolkit.schema.time_casts import ArrayFunction, date_cast, timestamp_cast
from connectors.toolkit.schema.time_conventions import TimeConventions

__all__ = [
    "decimal_to_integer",
    "leaf_cast",
    "narrow_integer",
    "refused_branch",
    "refused_cast",
    "to_decimal",
]

_UNSUPPORTED = ErrorCode("UNSUPPORTED_COERCION", ErrorType.USER_ERROR)
"""A file has a column in a type that Hive does not turn into the type of the table.

Leave the column out, or rewrite the files.
"""
_INTEGER_TEXT = r"^\s*[+-]?[0-9]{1,38}\s*$"
_NUMBER_TEXT = r"^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\s*$"
_DATE_TEXT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


def leaf_cast(
    source: pa.DataType, target: pa.DataType, conventions: TimeConventions, where: str, strict: bool = False
) -> ArrayFunction | None:
    """The function that turns arrays of ``source`` into arrays of ``target``.

    Args:
        source: Type in the file, not nested; ``INT96`` for that type of Parquet.
        target: Type of the table, not nested.
        conventions: The file's calendar and zone.
        where: Names the column and the file for the message.
        strict: Refuse casts that can lose a value, which then would become NULL.

    Returns:
        The function; ``None`` where the arrays can be taken as they are.

    Raises:
        NotSupportedError: There is no such cast (code ``UNSUPPORTED_COERCION``).
    """
    if pa.types.is_dictionary(source):
        inner = leaf_cast(source.value_type, target, conventions, where, strict)
        return _chain(lambda array: array.dictionary_decode(), inner)
    for matches, make in _CASTS if strict else _CASTS + _LOSSY_CASTS:
        if matches(source, target):
            return make(source, target, conventions)
    raise refused_cast(source, target, where)


def refused_cast(source: pa.DataType, target: pa.DataType, where: str) -> NotSupportedError:
    """The error for a cast that there is not."""
    return NotSupportedError(
        f"{where} is of type {source} in the file and {target} in the table, and values cannot be taken from one "
        "to the other; correct the table's type, or read the column by the file's type",
        _UNSUPPORTED,
    )


def refused_branch(branch: int, source: pa.DataType, target: pa.DataType, where: str) -> NotSupportedError:
    """The error for a value of a ``uniontype`` of which the table has fewer types."""
    return NotSupportedError(
        f"{where} is of type {source} in the file and {target} in the table, and has a value of the type with the "
        f"number {branch}, which the table lacks; add it to the table's uniontype, or leave the column out",
        _UNSUPPORTED,
    )


def narrow_integer(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """Whole numbers to a signed type; those out of its range are NULL.

    Args:
        source: An integer, or a decimal of scale 0.
        target: A signed integer.
    """
    bits = target.bit_width - 1
    # Compared as signed 64-bit numbers or decimals, so that unsigned 64-bit values do not wrap.
    wide = pa.decimal128(38, 0) if pa.types.is_uint64(source) or pa.types.is_decimal(source) else pa.int64()

    def cast(array: pa.Array) -> pa.Array:
        numbers = array.cast(wide)
        inside = pc.and_(
            pc.greater_equal(numbers, pa.scalar(-(1 << bits)).cast(wide)),
            pc.less_equal(numbers, pa.scalar((1 << bits) - 1).cast(wide)),
        )
        return pc.if_else(inside, numbers, pa.scalar(None, wide)).cast(target)

    return cast


def to_decimal(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """Integers and decimals to a decimal, rounded half up; what does not fit is NULL."""
    scale = source.scale if pa.types.is_decimal(source) else 0

    def cast(array: pa.Array) -> pa.Array:
        # 76 digits hold every product of rescaling; HALF_UP is HiveDecimal's rounding.
        numbers = rounded_half_up(array.cast(pa.decimal256(76, scale)), target.scale)
        digits = target.precision - target.scale
        if digits + numbers.type.scale < 76:
            # Else a bound would not fit, and numbers of 38 digits in all cannot overflow.
            inside = pc.less(pc.abs(numbers), pa.scalar(Decimal(10**digits), numbers.type))
            numbers = pc.if_else(inside, numbers, pa.scalar(None, numbers.type))
        return numbers.cast(target)

    return cast


def decimal_to_integer(source: pa.DataType, target: pa.DataType) -> ArrayFunction:
    """The whole part of decimals; NULL out of the integer's range."""
    narrow = narrow_integer(pa.decimal128(38, 0), target)

    def cast(array: pa.Array) -> pa.Array:
        whole = cut_to_scale(array.cast(pa.decimal256(76, source.scale)), 0)
        fits = pc.less(pc.abs(whole), pa.scalar(Decimal(10**38), pa.decimal256(76, 0)))
        return narrow(pc.if_else(fits, whole, pa.scalar(None, whole.type)).cast(pa.decimal128(38, 0)))

    return cast


def _chain(first: ArrayFunction, second: ArrayFunction | None) -> ArrayFunction:
    return first if second is None else lambda array: second(first(array))


def _same(source: pa.DataType, target: pa.DataType, conventions: TimeConventions) -> ArrayFunction | None:
    return None


def _plain_cast(source: pa.DataType, target: pa.DataType, conventions: TimeConventions) -> ArrayFunction | None:
    return lambda array: array.cast(target, safe=False)


def _all_null(source: pa.DataType, target: pa.DataType, conventions: TimeConventions) -> ArrayFunction | None:
    return lambda array: pa.nulls(len(array), target)


def _matched(array: pa.Array, pattern: str) -> pa.Array:
    """The texts that match; the others as NULL."""
    return pc.if_else(pc.match_substring_regex(array, pattern), array, pa.scalar(None, array.type))


def _text_to_integer(source: pa.DataType, target: pa.DataType, conventions: TimeConventions) -> ArrayFunction | None:
    narrow = narrow_integer(pa.decimal128(38, 0), target)
    cast: ArrayFunction = lambda array: pc.utf8_trim_whitespace(  # noqa: E731
        _matched(array.cast(pa.string()), _INTEGER_TEXT)
    ).cast(pa.decimal128(38, 0))
    return _chain(cast, narrow)


def _text_to_float(source: pa.DataType, target: pa.DataType, conventions: TimeConventions) -> ArrayFunction | None:
    return lambda array: pc.utf8_trim_whitespace(_matched(array.cast(pa.string()), _NUMBER_TEXT)).cast(target)


def _text_to_date(source: pa.DataType, target: pa.DataType, conventions: TimeConventions) -> ArrayFunction | None:
    def cast(array: pa.Array) -> pa.Array:
        texts = _matched(array.cast(pa.string()), _DATE_TEXT)
        days = pc.strptime(texts, format="%Y-%m-%d", unit="s", error_is_null=True).cast(pa.date32())
        # strptime takes 2023-02-29 for the first of March; Hive 4 does not (HIVE-25306).
        real = pc.equal(days.cast(pa.string()), texts)
        return pc.if_else(real, days, pa.scalar(None, pa.date32())).cast(target)

    return cast


def _is_text(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_string(arrow) or pa.types.is_large_string(arrow) or pa.types.is_string_view(arrow))


def _is_bytes(arrow: pa.DataType) -> bool:
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_binary_view)
    return any(kind(arrow) for kind in kinds)


def _widens(source: pa.DataType, target: pa.DataType) -> bool:
    if not (pa.types.is_integer(source) and pa.types.is_integer(target)):
        return False
    if pa.types.is_signed_integer(source) == pa.types.is_signed_integer(target):
        return bool(target.bit_width >= source.bit_width)
    return bool(pa.types.is_unsigned_integer(source) and target.bit_width > source.bit_width)


def _same_time(source: pa.DataType, target: pa.DataType) -> bool:
    """A timestamp to a timestamp, or a wall-clock one to a date; a wall-clock time is no instant."""
    if not pa.types.is_timestamp(source):
        return False
    if pa.types.is_date(target):
        return True
    return bool(pa.types.is_timestamp(target)) and not (source.tz is None and target.tz is not None)


def _decimal_widens(source: pa.DataType, target: pa.DataType) -> bool:
    if not (pa.types.is_decimal(source) and pa.types.is_decimal(target)):
        return False
    whole = target.precision - target.scale
    return bool(target.scale >= source.scale and whole >= source.precision - source.scale)


_Matches = Callable[[pa.DataType, pa.DataType], bool]
_Make = Callable[[pa.DataType, pa.DataType, TimeConventions], ArrayFunction | None]
_is = pa.types
_CASTS: tuple[tuple[_Matches, _Make], ...] = (
    (lambda s, t: _is.is_null(s), _all_null),
    (_same_time, timestamp_cast),
    (lambda s, t: _is.is_date(s) and _is.is_date(t), date_cast),
    (lambda s, t: s == t and not _is.is_timestamp(s), _same),
    (_widens, _plain_cast),
    (lambda s, t: _is.is_integer(s) and _is.is_floating(t), _plain_cast),
    (lambda s, t: _is.is_floating(s) and _is.is_floating(t) and t.bit_width >= s.bit_width, _plain_cast),
    (_decimal_widens, lambda s, t, _: to_decimal(s, t)),
    (lambda s, t: _is_text(s) and _is_text(t), _plain_cast),
    (lambda s, t: _is_text(s) and _is_bytes(t), _plain_cast),
    (lambda s, t: _is_bytes(s) and _is_bytes(t), _plain_cast),
    (lambda s, t: _is_bytes(s) and _is_text(t), lambda s, t, _: lambda array: array.cast(pa.binary()).cast(t)),
    (lambda s, t: _is.is_integer(s) and _is_text(t), _plain_cast),
    (lambda s, t: _is.is_date(s) and _is_text(t), _plain_cast),
    (lambda s, t: _is.is_date(s) and _is.is_timestamp(t) and t.tz is None, _plain_cast),
    (lambda s, t: _is.is_time(s) and _is.is_time(t), _plain_cast),
)
_LOSSY_CASTS: tuple[tuple[_Matches, _Make], ...] = (
    (lambda s, t: _is.is_integer(s) and _is.is_signed_integer(t), lambda s, t, _: narrow_integer(s, t)),
    (lambda s, t: _is.is_integer(s) and _is.is_decimal(t), lambda s, t, _: to_decimal(s, t)),
    (lambda s, t: _is.is_floating(s) and _is.is_floating(t), _plain_cast),
    (lambda s, t: _is.is_decimal(s) and _is.is_decimal(t), lambda s, t, _: to_decimal(s, t)),
    (lambda s, t: _is.is_decimal(s) and _is.is_floating(t), _plain_cast),
    (lambda s, t: _is.is_decimal(s) and _is.is_signed_integer(t), lambda s, t, _: decimal_to_integer(s, t)),
    (lambda s, t: _is_text(s) and _is.is_signed_integer(t), _text_to_integer),
    (lambda s, t: _is_text(s) and _is.is_floating(t), _text_to_float),
    (lambda s, t: _is_text(s) and _is.is_date(t), _text_to_date),
)
