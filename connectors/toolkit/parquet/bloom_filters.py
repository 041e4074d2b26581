"""Bloom filters of Parquet files: split blocks under XXH64 (``BloomFilter.md`` of parquet-format). Executor side."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain, Value
from connectors.toolkit.parquet.footer import leaf_starts
from connectors.toolkit.parquet.value_order import keeps_order
from connectors.toolkit.schema.file_types import FileTypes

__all__ = ["BloomFilters", "hashed_values", "xxh64"]

ReadAt = Callable[[int, int], bytes]
"""Bytes of the file: number, first."""

_MOST_VALUES = 256
_FEW_VALUES = 4
_BLOCK = 32
_HEADER = 64
# BloomFilterHeader with 1: numBytes, 2: BLOCK, 3: XXHASH, 4: UNCOMPRESSED, in Thrift's compact protocol: all that is
# defined, so that any other bytes are of a filter that is not understood.
_HEADER_START, _HEADER_END = b"\x15", b"\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x00"
_SALT = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_ALL = (1 << 64) - 1
# Of earlier ones the calendar, and that of zones' offsets, is up to the writer.
_FIRST_YEAR = 1901
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


class BloomFilters:
    """Asks the filters of a file about the values of a predicate.

    Args:
        types: The file's columns.
        predicate: In the values of the table.
    """

    def __init__(self, types: FileTypes, predicate: TupleDomain[ColumnHandle]) -> None:
        schema, leaves = types.schema, leaf_starts(types.schema)
        self._wanted: list[tuple[int, pa.DataType, tuple[Value, ...]]] = []
        for column, domain in dict(predicate.domains or {}).items():
            position = types.position(column.name)
            values = _listed_values(domain)
            if position is not None and values and keeps_order(schema.field(position).type, domain.type):
                self._wanted.append((leaves[position], schema.field(position).type, values))

    def asked(self, row_group: pq.RowGroupMetaData) -> bool:
        """Whether a row group has a filter that can be asked."""
        return any(_offset(row_group.column(leaf)) for leaf, _, _ in self._wanted)

    def may_match(self, row_group: pq.RowGroupMetaData, read_at: ReadAt) -> bool:
        """Whether a row group can hold rows of the predicate; true on doubt."""
        for leaf, arrow, values in self._wanted:
            chunk = row_group.column(leaf)
            offset = _offset(chunk)
            hashes = hashed_values(values, arrow, chunk.physical_type) if offset else None
            if offset and hashes and not _holds_any(hashes, offset, read_at):
                return False
        return True


def hashed_values(values: Sequence[Value], arrow: pa.DataType, physical: str) -> list[int] | None:
    """The hashes of values as a file holds them; ``None`` where one cannot be told.

    Args:
        values: Of the table's type.
        arrow: Type of the column in the file.
        physical: Parquet's type of it.
    """
    hashes = []
    for value in values:
        content = _plain(value, arrow, physical)
        if content is None:
            return None
        hashes.append(xxh64(content))
    return hashes


def xxh64(content: bytes) -> int:
    """XXH64 with the seed 0, as its specification says."""
    size, at = len(content), 0
    if size >= 32:
        lanes = [(_P1 + _P2) & _ALL, _P2, 0, -_P1 & _ALL]
        while at + 32 <= size:
            words = struct.unpack_from("<4Q", content, at)
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
            at += 32
        result = sum(_rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _ALL
        for lane in lanes:
            result = ((result ^ _round(0, lane)) * _P1 + _P4) & _ALL
    else:
        result = _P5
    result = _rest((result + size) & _ALL, content, at)
    for shift, factor in ((33, _P2), (29, _P3)):
        result = ((result ^ (result >> shift)) * factor) & _ALL
    return result ^ (result >> 32)


def _rest(result: int, content: bytes, at: int) -> int:
    while at + 8 <= len(content):
        result ^= _round(0, int.from_bytes(content[at : at + 8], "little"))
        result = (_rotate(result, 27) * _P1 + _P4) & _ALL
        at += 8
    if at + 4 <= len(content):
        result ^= (int.from_bytes(content[at : at + 4], "little") * _P1) & _ALL
        result = (_rotate(result, 23) * _P2 + _P3) & _ALL
        at += 4
    for byte in content[at:]:
        result = (_rotate(result ^ ((byte * _P5) & _ALL), 11) * _P1) & _ALL
    return result


def _round(lane: int, word: int) -> int:
    return (_rotate((lane + word * _P2) & _ALL, 31) * _P1) & _ALL


def _rotate(number: int, by: int) -> int:
    return ((number << by) | (number >> (64 - by))) & _ALL


def _listed_values(domain: Domain) -> tuple[Value, ...]:
    """The values of a domain, where it has few and no NULL."""
    if domain.null_allowed or pa.types.is_nested(domain.type) or pa.types.is_floating(domain.type):
        return ()
    values = domain.values.discrete_values()
    return values if values is not None and len(values) <= _MOST_VALUES else ()


def _offset(chunk: pq.ColumnChunkMetaData) -> int | None:
    # Older pyarrow does not tell it.
    offset: int | None = getattr(chunk, "bloom_filter_offset", None)
    return offset


def _plain(value: Value, arrow: pa.DataType, physical: str) -> bytes | None:
    """A value in Parquet's PLAIN encoding, without a length; ``None`` where the file could hold it otherwise."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str | bytes) and physical == "BYTE_ARRAY":
        same = pa.types.is_string(arrow) if isinstance(value, str) else pa.types.is_binary(arrow)
        return None if not same else value.encode() if isinstance(value, str) else value
    number: int | None = None
    if isinstance(value, int) and pa.types.is_signed_integer(arrow):
        number = value
    elif isinstance(value, datetime) and pa.types.is_timestamp(arrow) and arrow.unit == "us":
        if (value.tzinfo is None) == (arrow.tz is None) and value.year >= _FIRST_YEAR:
            moment = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
            number = (moment - _EPOCH) // _MICROSECOND
    elif type(value) is date and pa.types.is_date32(arrow) and value.year >= _FIRST_YEAR:
        number = (value - _EPOCH.date()).days
    width = {"INT32": 4, "INT64": 8}.get(physical)
    if number is None or width is None or not -(1 << (8 * width - 1)) <= number < 1 << (8 * width - 1):
        return None
    return number.to_bytes(width, "little", signed=True)


def _holds_any(hashes: Sequence[int], offset: int, read_at: ReadAt) -> bool:
    found = _bitset(read_at(_HEADER, offset))
    if found is None:
        return True
    start, size = offset + found[0], found[1]
    places = [(((one >> 32) * (size // _BLOCK)) >> 32) * _BLOCK for one in hashes]
    blocks = _blocks(places, start, size, read_at)
    return any(_in_block(one & 0xFFFFFFFF, block) for one, block in zip(hashes, blocks, strict=True))


def _blocks(places: Sequence[int], start: int, size: int, read_at: ReadAt) -> Iterator[bytes]:
    if len(places) <= _FEW_VALUES:
        yield from (read_at(_BLOCK, start + place) for place in places)
        return
    content = read_at(size, start)
    yield from (content[place : place + _BLOCK] for place in places)


def _in_block(key: int, block: bytes) -> bool:
    if len(block) < _BLOCK:
        return True
    words = struct.unpack("<8I", block)
    return all(word >> (((key * salt) & 0xFFFFFFFF) >> 27) & 1 for word, salt in zip(words, _SALT, strict=True))


def _bitset(header: bytes) -> tuple[int, int] | None:
    """Length of the header and of the bits after it; ``None`` where the filter is not understood."""
    if header[:1] != _HEADER_START:
        return None
    number = shift = 0
    for at, byte in enumerate(header[1:6], 1):
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            size, end = number >> 1, at + 1 + len(_HEADER_END)
            known = not number & 1 and size > 0 and size % _BLOCK == 0 and header[at + 1 : end] == _HEADER_END
            return (end, size) if known else None
    return None
