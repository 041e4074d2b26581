"""Values as Hive's LazyBinary SerDes write them, decoded many at a time (``LazyBinarySerDe.serialize``). Executor side.

A value inside of a row, list, map or struct tells its own length: texts behind a number, nested values behind four
bytes. A cell of an RCFile is the same value without that, since the file tells its length. Both are taken to where
the content lies (``locate``) and decoded from there (``decode``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connector_spi.errors import NotSupportedError
from connectors.hive.formats.vints import read_vints, vint_sizes
from connectors.toolkit.avro_values import decimals
from connectors.toolkit.cells import Bytes, Positions, gather_cells, spread, texts
from connectors.toolkit.schema_adapter import adaptation
from connectors.toolkit.time_conventions import TimeConventions
from connectors.toolkit.value_casts import ArrayFunction, leaf_cast

__all__ = ["check_binary_type", "decode", "decode_fields", "locate", "zoned"]

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


def check_binary_type(arrow: pa.DataType, where: str) -> None:
    """Refuses types that are not understood.

    Raises:
        NotSupportedError: With the type's name.
    """
    if arrow in _FIXED or arrow in _VINTS or _is_text(arrow) or pa.types.is_timestamp(arrow):
        return
    if pa.types.is_decimal(arrow):
        return
    if pa.types.is_list(arrow) or pa.types.is_map(arrow) or pa.types.is_struct(arrow):
        for index in range(arrow.num_fields):
            check_binary_type(arrow.field(index).type, where)
        return
    raise NotSupportedError(f"{where} has a column of the type {arrow}, which Hive's binary SerDes do not write")


def zoned(arrow: pa.DataType, zone: str, where: str) -> tuple[pa.DataType, ArrayFunction | None]:
    """The type in which values are to be decoded, and what makes them values of ``arrow``.

    Hive since 3.1 writes the fields of a timestamp as if they were of UTC; Hive before, and Spark, the instant that
    the fields mean in the zone of the writer.

    Args:
        arrow: The column's type.
        zone: ``UTC``, or the zone of the writer.
        where: Names the file for messages.
    """
    if zone == "UTC" or (decoded := _instants(arrow)) == arrow:
        return arrow, None
    return decoded, adaptation(decoded, arrow, TimeConventions(zone=zone), where)


def locate(arrow: pa.DataType, data: Bytes, at: Positions, limits: Positions) -> tuple[Positions, Positions]:
    """Where the contents of values that tell their length lie.

    Args:
        arrow: Their type.
        data: The bytes.
        at: Where each begins.
        limits: The byte behind what each may take.

    Returns:
        The first byte of each content, and the byte behind it, where the next value begins.

    Raises:
        ValueError: A value takes more than it may.
    """
    starts = at
    if arrow in _FIXED:
        ends = at + _FIXED[arrow][0]
    elif arrow in _VINTS:
        ends = at + vint_sizes(data, at)
    elif _is_text(arrow):
        lengths, sizes = read_vints(data, at)
        starts, ends = at + sizes, _ends(at + sizes, lengths)
    elif pa.types.is_timestamp(arrow):
        ends = _timestamp_ends(data, at)
    elif pa.types.is_decimal(arrow):
        after_scale = at + vint_sizes(data, at)
        lengths, sizes = read_vints(data, after_scale)
        ends = _ends(after_scale + sizes, lengths)
    else:
        starts, ends = at + 4, _ends(at + 4, _fixed(data, at, 4, ">i4").astype(np.int64))
    if (ends > limits).any():
        raise ValueError(f"a {arrow} that ends behind its record")
    return starts, ends


def decode(arrow: pa.DataType, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    """Values by their contents, ascending and not overlapping; none is NULL.

    Raises:
        ValueError: A content is no value of the type.
    """
    if arrow in _FIXED:
        return _decode_fixed(arrow, data, starts, ends)
    if arrow in _VINTS:
        return _decode_vints(arrow, data, starts, ends)
    if _is_text(arrow):
        found = gather_cells(data, starts, ends)
        return texts(found) if pa.types.is_string(arrow) else found
    if pa.types.is_timestamp(arrow):
        return _decode_timestamps(arrow, data, starts, ends)
    if pa.types.is_decimal(arrow):
        return _decode_decimals(arrow, data, starts, ends)
    if pa.types.is_struct(arrow):
        fields = decode_fields([field.type for field in arrow], range(arrow.num_fields), data, starts, ends)
        return pa.StructArray.from_arrays(fields, fields=list(arrow))
    return _decode_lists(arrow, data, starts, ends)


def decode_fields(
    types: Sequence[pa.DataType], wanted: Sequence[int], data: Bytes, starts: Positions, ends: Positions
) -> list[pa.Array]:
    """Fields of rows or structs, field by field: every eight stand behind a byte that tells which are not NULL.

    Args:
        types: Types of all fields, in order.
        wanted: Positions of those to decode.
        data: The bytes.
        starts: First byte of each row's content.
        ends: The byte behind it. Fields behind the end are NULL, as in ``LazyBinaryStruct.parse``.
    """
    at = starts.copy()
    told: Bytes = np.zeros(len(starts), dtype=np.uint8)
    found: dict[int, pa.Array] = {}
    for index, arrow in enumerate(types[: max(wanted, default=-1) + 1]):
        if index % 8 == 0:
            more = at < ends
            told = np.zeros(len(at), dtype=np.uint8)
            told[more] = data[at[more]]
            at = at + more
        valid = (told >> (index % 8)) & 1 == 1
        begins, behind = locate(arrow, data, at[valid], ends[valid])
        at[valid] = behind
        if index in wanted:
            found[index] = spread(decode(arrow, data, begins, behind), valid)
    return [found[index] for index in wanted]


def _instants(arrow: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(arrow):
        return pa.timestamp("us", "UTC")
    if pa.types.is_struct(arrow):
        return pa.struct([field.with_type(_instants(field.type)) for field in arrow])
    if pa.types.is_map(arrow):
        return pa.map_(_instants(arrow.key_type), _instants(arrow.item_type))
    return pa.list_(_instants(arrow.value_type)) if pa.types.is_list(arrow) else arrow


def _is_text(arrow: pa.DataType) -> bool:
    return bool(pa.types.is_string(arrow) or pa.types.is_binary(arrow))


def _ends(starts: Positions, lengths: Positions) -> Positions:
    if (lengths < 0).any():
        raise ValueError("a length below zero")
    return starts + lengths


def _fixed(data: Bytes, starts: Positions, width: int, code: str) -> npt.NDArray[np.generic]:
    """Numbers of a width at positions, which must lie in the data."""
    if len(starts) and int(starts.max()) + width > len(data):
        raise ValueError("a value that ends behind the data")
    taken = data[starts[:, None] + np.arange(width)]
    numbers: npt.NDArray[np.generic] = np.ascontiguousarray(taken).view(code)[:, 0]
    return numbers


def _check_lengths(arrow: pa.DataType, found: Positions, expected: Positions | int) -> None:
    wrong = np.flatnonzero(found != expected)
    if len(wrong):
        raise ValueError(f"a {arrow} of {found[wrong[0]]} bytes")


def _decode_fixed(arrow: pa.DataType, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    width, code = _FIXED[arrow]
    _check_lengths(arrow, ends - starts, width)
    numbers = _fixed(data, starts, width, code)
    if arrow == pa.bool_():
        # LazyBinaryBoolean: any byte but zero is true.
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
    first = _fixed(data, starts, 4, ">u4").astype(np.int64)
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
    parts, places = [], []
    for scale in np.unique(scales):
        if not 0 <= scale <= 38:
            raise ValueError(f"a decimal of scale {scale}")
        here = np.flatnonzero(scales == scale)
        own = pa.decimal128(38, int(scale))
        cast = leaf_cast(own, arrow, TimeConventions(), "a decimal")
        numbers = decimals(digits.take(pa.array(here)), own)
        parts.append(numbers if cast is None else cast(numbers))
        places.append(here)
    if len(parts) == 1:
        return parts[0]
    back = np.empty(len(starts), dtype=np.int64)
    back[np.concatenate(places)] = np.arange(len(starts))
    return pa.concat_arrays(parts).take(pa.array(back))


def _decode_lists(arrow: pa.DataType, data: Bytes, starts: Positions, ends: Positions) -> pa.Array:
    kinds = [arrow.key_type, arrow.item_type] if pa.types.is_map(arrow) else [arrow.value_type]
    if not len(starts):
        return pa.array([], arrow)
    counts, sizes = read_vints(data, starts)
    if ((counts < 0) | (counts > 8 * (ends - starts))).any():
        raise ValueError(f"a {arrow} of {int(counts.max())} elements that ends behind its record")
    slots = counts * len(kinds)
    bits_at = starts + sizes
    at = bits_at + (slots + 7) // 8
    if (at > ends).any():
        raise ValueError(f"a {arrow} of {int(counts.max())} elements that ends behind its record")
    firsts = np.concatenate(([0], np.cumsum(slots)))
    owner = np.repeat(np.arange(len(starts)), slots)
    place = np.arange(firsts[-1]) - firsts[owner]
    valid = (data[bits_at[owner] + place // 8] >> (place % 8).astype(np.uint8)) & 1 == 1
    begins, behind = _walk(kinds, data, at, ends, owner[valid], place[valid] % len(kinds))
    offsets = pa.array(np.concatenate(([0], np.cumsum(counts))).astype(np.int32))
    children = []
    for index, kind in enumerate(kinds):
        mine = place[valid] % len(kinds) == index
        values = decode(kind, data, begins[mine], behind[mine])
        children.append(spread(values, valid[place % len(kinds) == index]))
    if len(children) == 1:
        return pa.ListArray.from_arrays(offsets, children[0], type=arrow)
    if children[0].null_count:
        raise ValueError("a map with a key that is NULL")
    return pa.MapArray.from_arrays(offsets, *children, type=arrow)


def _walk(
    kinds: Sequence[pa.DataType],
    data: Bytes,
    at: Positions,
    limits: Positions,
    owner: Positions,
    which: Positions,
) -> tuple[Positions, Positions]:
    """Where elements that follow each other lie: the n-th elements of all lists at once.

    Args:
        kinds: Their types.
        data: The bytes.
        at: Where the elements of each list begin.
        limits: The byte behind each list.
        owner: The list of each element that is not NULL, ascending.
        which: Its type, as a position in ``kinds``.
    """
    begins, behind = np.empty_like(owner), np.empty_like(owner)
    at = at.copy()
    counts = np.bincount(owner, minlength=len(at))
    firsts = np.concatenate(([0], np.cumsum(counts)))[:-1]
    # Lists from the longest to the shortest, so that those that have an n-th element are in front.
    order = np.argsort(-counts, kind="stable")
    longest = -counts[order]
    for number in range(int(counts.max(initial=0))):
        lists = order[: np.searchsorted(longest, -number, side="left")]
        elements = firsts[lists] + number
        for index, kind in enumerate(kinds):
            mine = which[elements] == index if len(kinds) > 1 else slice(None)
            own = lists[mine]
            start, end = locate(kind, data, at[own], limits[own])
            begins[elements[mine]], behind[elements[mine]] = start, end
            at[own] = end
    return begins, behind
