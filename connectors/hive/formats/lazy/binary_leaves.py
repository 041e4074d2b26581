"""Single values as Hive's LazyBinary SerDes write them: where each ends, and what it is. Executor side."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.toolkit.avro.values import decimals
from connectors.toolkit.cells import Bytes, Positions, gather_cells, texts
from connectors.toolkit.codecs.hadoop_vints import read_vints, vint_sizes
from connectors.toolkit.schema.time_conventions import TimeConventions
from connectors.toolkit.schema.value_casts import leaf_cast

__all__ = ["decode_leaf", "is_leaf", "locate_leaf", "read_fixed", "stretch_ends"]

_FIXED = {
    pa.bool_(): (1, ">u1"),
    pa.int8(): (1, ">i1"),
    pa.int16(): (2, ">i2"),
    pa.float32(): (4, ">f4"),
    pa.float64(): (8, ">f8"),
}
_VINTS = {pa.int32(): 32, pa.date32(): 32, pa.int64(): 64}
_SECONDS_BITS = 31
_NANO_DIGITS = 9


def is_leaf(arrow: pa.DataType) -> bool:
    """Whether a type is one that holds no others, and that the SerDes write."""
    known = arrow in _FIXED or arrow in _VINTS or _is_text(arrow)
    return bool(known or pa.types.is_timestamp(arrow) or pa.types.is_decimal(arrow))


def locate_leaf(arrow: pa.DataType, data: Bytes, at: Positions) -> tuple[Positions, Positions]:
    """The first byte of the content of each value that begins at a position, and the byte behind it.

    Raises:
        ValueError: A value has a length below zero, or one that lies behind the data.
    """
    if arrow in _FIXED:
        return at, at + _FIXED[arrow][0]
    if arrow in _VINTS:
        return at, at + vint_sizes(data, at)
    if pa.types.is_timestamp(arrow):
        return at, _timestamp_ends(data, at)
    if pa.types.is_decimal(arrow):
        after_scale = at + vint_sizes(data, at)
        lengths, sizes = read_vints(data, after_scale)
        return at, stretch_ends(after_scale + sizes, lengths)
    lengths, sizes = read_vints(data, at)
    return at + sizes, stretch_ends(at + sizes, lengths)


def decode_leaf(arrow: pa.DataType, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    """Values by their contents, ascending and not overlapping; none is NULL.

    Raises:
        ValueError: A content is no value of the type.
    """
    if arrow in _FIXED:
        return _decode_fixed(arrow, data, starts, ends)
    if arrow in _VINTS:
        return _decode_vints(arrow, data, starts, ends)
    if pa.types.is_timestamp(arrow):
        return _decode_timestamps(arrow, data, starts, ends)
    if pa.types.is_decimal(arrow):
        return _decode_decimals(arrow, data, starts, ends)
    found = gather_cells(data, starts, ends)
    return texts(found) if pa.types.is_string(arrow) else found


def stretch_ends(starts: Positions, lengths: Positions) -> Positions:
    """The byte behind each stretch.

    Raises:
        ValueError: A length is below zero.
    """
    if (lengths < 0).any():
        raise ValueError("a length below zero")
    return starts + lengths


def read_fixed(data: Bytes, starts: Positions, width: int, code: str) -> npt.NDArray[np.generic]:
    """Numbers of a width at positions, which must lie in the data."""
    if len(starts) and int(starts.max()) + width > len(data):
        raise ValueError("a value that ends behind the data")
    taken = data[starts[:, None] + np.arange(width)]
    numbers: npt.NDArray[np.generic] = np.ascontiguousarray(taken).view(code)[:, 0]
    return numbers


def _is_text(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_string(arrow) or pa.types.is_binary(arrow))


def _check_lengths(arrow: pa.DataType, found: Positions, expected: Positions | int) -> None:
    wrong = np.flatnonzero(found != expected)
    if len(wrong):
        raise ValueError(f"a {arrow} of {found[wrong[0]]} bytes")


def _decode_fixed(arrow: pa.DataType, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    width, code = _FIXED[arrow]
    _check_lengths(arrow, ends - starts, width)
    numbers = read_fixed(data, starts, width, code)
    if arrow == pa.bool_():
        if (numbers.astype(np.uint8) > 1).any():
            # LazyBinaryBoolean then keeps the value of a row before.
            raise ValueError("a boolean that is neither 0 nor 1")
        return pa.array(numbers != 0)
    return pa.array(numbers.astype(numbers.dtype.newbyteorder("=")), arrow)


def _decode_vints(arrow: pa.DataType, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    if not len(starts):
        return pa.array([], arrow)
    numbers, sizes = read_vints(data, starts)
    _check_lengths(arrow, ends - starts, sizes)
    if _VINTS[arrow] == 64:
        return pa.array(numbers, arrow)
    small = numbers.astype(np.int32)
    if (small != numbers).any():
        raise ValueError(f"a number of more than 32 bits where a {arrow} is expected")
    return pa.array(small, pa.int32()).view(arrow)


def _timestamp_ends(data: Bytes, at: Positions) -> Positions:
    nanos, sizes = read_vints(data, at + 4)
    flagged = np.take(data, at, mode="clip") >= 0x80
    behind = at + 4 + np.where(flagged, sizes, 0)
    return behind + np.where(flagged & (nanos < 0), vint_sizes(data, behind), 0)


def _decode_timestamps(arrow: pa.DataType, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    """Seconds, and behind them where the highest bit says so the digits of the fraction and more bits of the seconds.

    The digits stand in reverse; a negative number is the complement, and says that the bits of the seconds above the
    31st follow (``TimestampWritableV2``).
    """
    if not len(starts):
        return pa.array([], arrow)
    _check_lengths(arrow, ends - starts, _timestamp_ends(data, starts) - starts)
    first = read_fixed(data, starts, 4, ">u4").astype(np.int64)
    seconds = first & ((1 << _SECONDS_BITS) - 1)
    digits, sizes = read_vints(data, starts + 4)
    flagged = first >> _SECONDS_BITS == 1
    more = flagged & (digits < 0)
    high, _ = read_vints(data, starts + 4 + sizes)
    seconds = seconds + np.where(more, high << _SECONDS_BITS, 0)
    digits = np.where(flagged, np.where(digits < 0, ~digits, digits), 0)
    nanos = np.zeros(len(starts), dtype=np.int64)
    for _ in range(_NANO_DIGITS):
        nanos = nanos * 10 + digits % 10
        digits = digits // 10
    if digits.any() or (np.abs(seconds) > np.iinfo(np.int64).max // 2_000_000).any():
        raise ValueError("a timestamp that Hive does not write")
    return pa.array(seconds * 1_000_000 + nanos // 1000, pa.int64()).view(arrow)


def _decode_decimals(arrow: pa.DataType, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    if not len(starts):
        return pa.array([], arrow)
    scales, sizes = read_vints(data, starts)
    after = starts + sizes
    lengths, sizes = read_vints(data, after)
    _check_lengths(arrow, ends - after - sizes, lengths)
    digits = gather_cells(data, after + sizes, ends).cast(pa.large_binary())
    parts, positions = [], []
    for scale in np.unique(scales):
        if not 0 <= scale <= 38:
            raise ValueError(f"a decimal of scale {scale}")
        here = np.flatnonzero(scales == scale)
        own = pa.decimal128(38, int(scale))
        cast = leaf_cast(own, arrow, TimeConventions(), "a decimal")
        numbers = decimals(digits.take(pa.array(here)), own)
        parts.append(numbers if cast is None else cast(numbers))
        positions.append(here)
    if len(parts) == 1:
        return parts[0]
    back = np.empty(len(starts), dtype=np.int64)
    back[np.concatenate(positions)] = np.arange(len(starts))
    return pa.concat_arrays(parts).take(pa.array(back))
