"""Row groups of ORC stripes: their statistics and Bloom filters (ORC v1 specification, indexes). Executor side.

A stripe in which no row group can hold a row of a filter is skipped. Statistics of stripes are asked before.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import pyarrow as pa

from connector_spi.predicate import Domain, Value
from connectors.toolkit.codecs.varints import message_fields, unzigzag
from connectors.toolkit.orc.footer import OrcFooter, OrcStripe
from connectors.toolkit.orc.wire import decompress
from connectors.toolkit.read.pruning import ColumnBounds, may_match

__all__ = ["IndexedColumn", "murmur64", "row_groups_may_match"]

_ROW_INDEX, _BLOOM_FILTER_UTF8 = 6, 8
_EPOCH = date(1970, 1, 1)
_GREGORIAN_START = date(1582, 10, 15)
_MOST_VALUES = 256
_ALL = (1 << 64) - 1
_C1, _C2, _SEED = 0x87C37B91114253D5, 0x4CF5AD432745937F, 104729


@dataclass(frozen=True, slots=True)
class IndexedColumn:
    """A column of a filter.

    Attributes:
        column: Its number in the file.
        type: Its type in the file: an integer, a date or a string (``char`` and ``varchar`` are not asked).
        domain: What is wanted, in a type of the same order.
    """

    column: int
    type: pa.DataType
    domain: Domain


@dataclass(slots=True)
class _Groups:
    statistics: list[bytes]
    blooms: list[bytes]


def row_groups_may_match(
    file: pa.NativeFile, footer: OrcFooter, stripe: OrcStripe, columns: Sequence[IndexedColumn], hybrid: bool
) -> bool:
    """Whether any row group of a stripe can hold rows that are in all domains; true on doubt.

    Args:
        file: The open file.
        footer: Its footer.
        stripe: One of its stripes.
        columns: Columns of the filter.
        hybrid: Whether old dates are in the Julian calendar.
    """
    if not columns or not footer.row_index_stride or not stripe.footer_length:
        return True
    groups = -(-stripe.rows // footer.row_index_stride)
    try:
        indexes = _indexes(file, footer, stripe, [one.column for one in columns])
        alive = [True] * groups
        for one in columns:
            found = indexes.get(one.column)
            if found is None or len(found.statistics) != groups:
                continue
            for group in range(groups):
                rows = min(footer.row_index_stride, stripe.rows - group * footer.row_index_stride)
                alive[group] = alive[group] and _group_may_match(found, group, rows, one, hybrid)
    except (ValueError, IndexError, KeyError, TypeError, struct.error, zlib.error, pa.ArrowException, OverflowError):
        # A damaged index says nothing; whether the rows can be read is found out when they are.
        return True
    return any(alive)


def murmur64(content: bytes) -> int:
    """ORC's 64 bits of Murmur3 (``org.apache.orc.util.Murmur3.hash64``)."""
    result, whole = _SEED, len(content) & ~7
    for (word,) in struct.iter_unpack("<Q", content[:whole]):
        result = (_rotate(result ^ _mix(word), 27) * 5 + 0x52DCE729) & _ALL
    if len(content) > whole:
        result ^= _mix(int.from_bytes(content[whole:], "little"))
    result ^= len(content)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        result = ((result ^ (result >> 33)) * factor) & _ALL
    return result ^ (result >> 33)


def _indexes(file: pa.NativeFile, footer: OrcFooter, stripe: OrcStripe, columns: Sequence[int]) -> dict[int, _Groups]:
    end = stripe.offset + stripe.length
    own = decompress(file.read_at(stripe.footer_length, end - stripe.footer_length), footer.codec, footer.block_size)
    found: dict[int, _Groups] = {}
    start = stripe.offset
    for tag, stream in message_fields(own):
        if tag != 1 or not isinstance(stream, bytes):
            continue
        fields = {key: value for key, value in message_fields(stream) if isinstance(value, int)}
        kind, column, length = fields.get(1, 0), fields.get(2, 0), fields.get(3, 0)
        if column in columns and kind in (_ROW_INDEX, _BLOOM_FILTER_UTF8):
            content = decompress(file.read_at(length, start), footer.codec, footer.block_size)
            entries = [value for key, value in message_fields(content) if key == 1 and isinstance(value, bytes)]
            groups = found.setdefault(column, _Groups([], []))
            if kind == _ROW_INDEX:
                groups.statistics = [_part(entry, 2) for entry in entries]
            else:
                groups.blooms = entries
        start += length
    return found


def _group_may_match(found: _Groups, group: int, rows: int, one: IndexedColumn, hybrid: bool) -> bool:
    if not may_match(one.domain, _bounds(found.statistics[group], rows, one.type, hybrid)):
        return False
    if len(found.blooms) <= group or one.domain.null_allowed:
        return True
    values = one.domain.values.discrete_values()
    if values is None or len(values) > _MOST_VALUES:
        return True
    return any(_may_hold(found.blooms[group], value) for value in values)


def _bounds(statistics: bytes, rows: int, kind: pa.DataType, hybrid: bool) -> ColumnBounds:
    fields = dict(message_fields(statistics))
    values = fields.get(1)
    nulls = 0 if fields.get(10) == 0 else rows - values if isinstance(values, int) and 0 <= values <= rows else None
    if pa.types.is_string(kind):
        low, high = _texts(fields.get(4))
    else:
        low, high = _numbers(fields.get(7 if pa.types.is_date(kind) else 2))
    if pa.types.is_date(kind):
        low, high = _day(low), _day(high)
        if hybrid and isinstance(low, date) and low < _GREGORIAN_START:
            low = high = None
    if low is None or high is None:
        low = high = None
    return ColumnBounds(low, high, nulls, rows)


def _numbers(message: int | bytes | None) -> tuple[Value | None, Value | None]:
    if not isinstance(message, bytes):
        return None, None
    fields = {key: unzigzag(value) for key, value in message_fields(message) if isinstance(value, int)}
    return fields.get(1), fields.get(2)


def _texts(message: int | bytes | None) -> tuple[Value | None, Value | None]:
    """Least and greatest text, or where those are long a bound below and above."""
    if not isinstance(message, bytes):
        return None, None
    fields = {key: value.decode() for key, value in message_fields(message) if isinstance(value, bytes)}
    return fields.get(1, fields.get(4)), fields.get(2, fields.get(5))


def _day(value: Value | None) -> Value | None:
    return _EPOCH + timedelta(days=value) if isinstance(value, int) else None


def _may_hold(bloom: bytes, value: Value) -> bool:
    fields = dict(message_fields(bloom))
    count, bits = fields.get(1), fields.get(3)
    hashed = _hash(value)
    if not isinstance(count, int) or not isinstance(bits, bytes) or not bits or hashed is None:
        return True
    return all(bits[position >> 3] >> (position & 7) & 1 for position in _bit_positions(hashed, count, len(bits) * 8))


def _bit_positions(hashed: int, count: int, size: int) -> Iterator[int]:
    first, second = hashed & 0xFFFFFFFF, hashed >> 32
    for number in range(1, count + 1):
        joined = (first + number * second) & 0xFFFFFFFF
        # A negative int of Java's is inverted.
        yield (~joined & 0xFFFFFFFF if joined >> 31 else joined) % size


def _hash(value: Value) -> int | None:
    if isinstance(value, str):
        return murmur64(value.encode())
    if type(value) is date:
        return _long_hash((value - _EPOCH).days) if value >= _GREGORIAN_START else None
    return _long_hash(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _long_hash(number: int) -> int:
    """Thomas Wang's hash of 64 bits, as ``BloomFilter.getLongHash``, whose shifts to the right keep the sign."""
    key = number & _ALL
    key = (~key + (key << 21)) & _ALL
    key ^= _signed_shift(key, 24)
    key = (key + (key << 3) + (key << 8)) & _ALL
    key ^= _signed_shift(key, 14)
    key = (key + (key << 2) + (key << 4)) & _ALL
    key ^= _signed_shift(key, 28)
    return (key + (key << 31)) & _ALL


def _signed_shift(number: int, by: int) -> int:
    signed = number - (1 << 64) if number >> 63 else number
    return (signed >> by) & _ALL


def _mix(word: int) -> int:
    return (_rotate((word * _C1) & _ALL, 31) * _C2) & _ALL


def _rotate(number: int, by: int) -> int:
    return ((number << by) | (number >> (64 - by))) & _ALL


def _part(message: bytes, tag: int) -> bytes:
    return next((value for key, value in message_fields(message) if key == tag and isinstance(value, bytes)), b"")
