"""Hive's hashes of bucketed tables, both versions, over Arrow arrays. Both sides.

Version 1 is Java's hash codes (``ObjectInspectorUtils.hashCode``), version 2 a Murmur3 of Hive's own
(``ObjectInspectorUtils.hashCodeMurmur``, ``org.apache.hadoop.hive.common.util.Murmur3``), in which the bytes after the
last whole word are taken with their sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["VERSIONS", "bucket_numbers", "has_bucket_hash", "hash_column", "join_hashes"]

VERSIONS = (1, 2)
"""Values of ``bucketing_version`` that are known."""

_SEED = 104729
_Hashes = npt.NDArray[np.uint32]
_Positions = npt.NDArray[np.int64]


def has_bucket_hash(arrow: pa.DataType, version: int) -> bool:
    """Whether a column's hashes can be computed from its values as they are read.

    Not those of timestamps, whose nanoseconds are hashed and not read; of nested types; and, in version 2, of binary:
    Hive hashes the whole buffer that a value lies in (``BytesWritable.getBytes``).
    """
    if version not in VERSIONS:
        return False
    numbers = pa.types.is_boolean(arrow) or pa.types.is_signed_integer(arrow) or pa.types.is_decimal(arrow)
    if numbers or pa.types.is_date32(arrow) or pa.types.is_string(arrow):
        return True
    return bool(arrow in (pa.float32(), pa.float64()) or (pa.types.is_binary(arrow) and version == 1))


def hash_column(array: pa.Array, version: int, text: str = "") -> _Hashes:
    """The hash of each value.

    Args:
        array: Of a type that ``has_bucket_hash``.
        version: Bucketing version.
        text: ``char`` or ``varchar`` where Hive's type is one.

    Returns:
        The bits of Java's ``int``; NULL is 0.
    """
    if text == "char":
        # HiveChar is hashed without the blanks that pad it.
        array = pc.utf8_rtrim(array, " ")
    valid = np.asarray(array.is_valid().to_numpy(zero_copy_only=False), dtype=bool)
    hashes = _decimals(array, version) if pa.types.is_decimal(array.type) else _plain(array, version, text)
    return np.where(valid, hashes, np.uint32(0))


def join_hashes(columns: Sequence[_Hashes]) -> _Hashes:
    """The hashes of rows, of those of the bucketing columns in order."""
    joined = columns[0]
    for hashes in columns[1:]:
        joined = joined * np.uint32(31) + hashes
    return joined


def bucket_numbers(hashes: _Hashes, count: int) -> _Positions:
    """The bucket of each hash among ``count``."""
    return (hashes & np.uint32(0x7FFFFFFF)).astype(np.int64) % count


def _plain(array: pa.Array, version: int, text: str) -> _Hashes:
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        data, starts, lengths = _bytes(array)
        if version == 2:
            return _murmur(data, starts, lengths)
        # Java's String hash begins with 0, Hadoop's of bytes with 1 (WritableComparator.hashBytes).
        return _java_bytes(data, starts, lengths, first=0 if pa.types.is_string(kind) and not text else 1)
    values = _numbers(array)
    if version == 2 and not (pa.types.is_boolean(kind) or pa.types.is_int8(kind)):
        if pa.types.is_floating(kind):
            # Hive puts the number that the bits make, as a float once more (ByteBuffer.putFloat of floatToIntBits).
            values = values.astype(kind.to_pandas_dtype()).view(values.dtype)
        width = values.dtype.itemsize
        data = np.frombuffer(values.astype(values.dtype.newbyteorder(">")).tobytes(), np.uint8)
        starts = np.arange(len(values), dtype=np.int64) * width
        return _murmur(data, starts, np.full(len(values), width, np.int64))
    if values.dtype == np.int64:
        bits = values.view(np.uint64)
        return (bits ^ (bits >> np.uint64(32))).astype(np.uint32)
    return values.astype(np.int32).view(np.uint32)


def _numbers(array: pa.Array) -> npt.NDArray[np.signedinteger[npt.NBitBase]]:
    """Values as whole numbers of their width: floats as their bits, with one NaN as in Java, and NULL as 0."""
    kind = array.type
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    elif pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    values = array.fill_null(0).to_numpy(zero_copy_only=False)
    if pa.types.is_floating(kind):
        one_nan = np.where(np.isnan(values), np.asarray(np.nan, values.dtype), values)
        return one_nan.view(np.int32 if kind == pa.float32() else np.int64)
    return np.ascontiguousarray(values)


def _bytes(array: pa.Array) -> tuple[npt.NDArray[np.uint8], _Positions, _Positions]:
    """All bytes of the values, and the first byte and the number of bytes of each."""
    wide = array.cast(pa.large_binary())
    _, offsets, data = wide.buffers()
    if not len(wide) or offsets is None:
        nothing = np.zeros(len(wide), np.int64)
        return np.zeros(0, np.uint8), nothing, nothing
    positions = np.frombuffer(offsets, np.int64)[wide.offset : wide.offset + len(wide) + 1]
    content = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return content, positions[:-1], np.diff(positions)


def _java_bytes(data: npt.NDArray[np.uint8], starts: _Positions, lengths: _Positions, first: int) -> _Hashes:
    signed = data.view(np.int8)

    def step(hashes: _Hashes, positions: _Positions) -> _Hashes:
        return hashes * np.uint32(31) + signed[positions].astype(np.int32).view(np.uint32)

    return _by_length(np.full(len(starts), first, np.uint32), starts, lengths, 1, step)


def _murmur(data: npt.NDArray[np.uint8], starts: _Positions, lengths: _Positions) -> _Hashes:
    def step(hashes: _Hashes, positions: _Positions) -> _Hashes:
        word = np.zeros(len(positions), np.uint32)
        for at in range(4):
            word |= data[positions + at].astype(np.uint32) << np.uint32(8 * at)
        mixed = _rotate(hashes ^ _mix(word), 13)
        return mixed * np.uint32(5) + np.uint32(0xE6546B64)

    hashes = _by_length(np.full(len(starts), _SEED, np.uint32), starts, lengths, 4, step)
    hashes = _murmur_rest(hashes, data.view(np.int8), starts, lengths) ^ lengths.astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        hashes = (hashes ^ (hashes >> np.uint32(shift))) * np.uint32(factor)
    return hashes ^ (hashes >> np.uint32(16))


def _murmur_rest(hashes: _Hashes, signed: npt.NDArray[np.int8], starts: _Positions, lengths: _Positions) -> _Hashes:
    rest = lengths & 3
    words = np.zeros(len(hashes), np.uint32)
    for at in range(3):
        has = np.flatnonzero(rest > at)
        offsets = starts[has] + (lengths[has] - rest[has]) + at
        words[has] ^= signed[offsets].astype(np.int32).view(np.uint32) << np.uint32(8 * at)
    return np.where(rest > 0, hashes ^ _mix(words), hashes)


def _by_length(
    hashes: _Hashes, starts: _Positions, lengths: _Positions, width: int, step: Callable[[_Hashes, _Positions], _Hashes]
) -> _Hashes:
    """Takes all values one word further at a time; the longest first, so that those not at their end lie together."""
    steps = lengths // width
    order = np.argsort(-steps, kind="stable")
    sorted_steps, sorted_starts, result = -steps[order], starts[order], hashes[order]
    for done in range(int(steps.max(initial=0))):
        active = int(np.searchsorted(sorted_steps, -done, side="left"))
        result[:active] = step(result[:active], sorted_starts[:active] + done * width)
    back = np.empty_like(result)
    back[order] = result
    return back


def _mix(words: _Hashes) -> _Hashes:
    return _rotate(words * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)


def _rotate(words: _Hashes, by: int) -> _Hashes:
    return (words << np.uint32(by)) | (words >> np.uint32(32 - by))


def _decimals(array: pa.Array, version: int) -> _Hashes:
    """By distinct values: their digits without zeros at the end have no fixed width."""
    encoded = array.dictionary_encode()
    pairs = [_unscaled(value) for value in encoded.dictionary.to_pylist()]
    if version == 1:
        known = np.array([_java_decimal(digits, scale) for digits, scale in pairs], np.uint32)
    else:
        known = hash_column(pa.array([_two_complement(digits) for digits, _ in pairs], pa.binary()), 2)
    if not len(known):
        return np.zeros(len(array), np.uint32)
    positions: _Positions = encoded.indices.fill_null(0).to_numpy(zero_copy_only=False)
    return known[positions]


def _unscaled(value: Decimal) -> tuple[int, int]:
    """Digits and scale without zeros at the end of the fraction, as ``HiveDecimal`` keeps them."""
    sign, digits, exponent = value.as_tuple()
    number, scale = int("".join(map(str, digits)) or "0"), -int(exponent)
    while scale > 0 and number % 10 == 0:
        number, scale = number // 10, scale - 1
    return (-number if sign else number), scale


def _java_decimal(digits: int, scale: int) -> int:
    """``BigDecimal.hashCode``."""
    rest, magnitude = abs(digits), 0
    for at in reversed(range(0, max(rest.bit_length(), 1), 32)):
        magnitude = (31 * magnitude + (rest >> at & 0xFFFFFFFF)) & 0xFFFFFFFF
    return (31 * (-magnitude if digits < 0 else magnitude) + scale) & 0xFFFFFFFF


def _two_complement(digits: int) -> bytes:
    """``BigInteger.toByteArray``."""
    bits = (digits if digits >= 0 else -digits - 1).bit_length()
    return digits.to_bytes(bits // 8 + 1, "big", signed=True)
