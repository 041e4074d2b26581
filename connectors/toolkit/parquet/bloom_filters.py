"""Bloom filters of Parquet files: split blocks under XXH64 (``BloomFilter.md`` of parquet-format). Executor side."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq

from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, TupleDomain, Value
from connectors.toolkit.codecs.varints import read_varint
from connectors.toolkit.codecs.xxhash import xxh64
from connectors.toolkit.parquet.footer import leaf_starts
from connectors.toolkit.parquet.value_order import keeps_order
from connectors.toolkit.schema.file_types import FileTypes

__all__ = ["BloomFilters", "hashed_values"]

ReadAt = Callable[[int, int], bytes]
"""Bytes of the file: number, first."""

_MOST_VALUES = 256
_FEW_VALUES = 4
_BLOCK = 32
_HEADER = 64
_SIZE_BITS = 35
# BloomFilterHeader with 1: numBytes, 2: BLOCK, 3: XXHASH, 4: UNCOMPRESSED, in Thrift's compact protocol: all that is
# defined, so that any other bytes are of a filter that is not understood.
_HEADER_START, _HEADER_END = b"\x15", b"\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x00"
_SALT = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
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
    """The hashes of values as a file holds them; ``None`` where one is not known.

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


def _listed_values(domain: Domain) -> tuple[Value, ...]:
    """The values of a domain, where it has few and no NULL."""
    if domain.null_allowed or pa.types.is_nested(domain.type) or pa.types.is_floating(domain.type):
        return ()
    values = domain.values.discrete_values()
    return values if values is not None and len(values) <= _MOST_VALUES else ()


def _offset(chunk: pq.ColumnChunkMetaData) -> int | None:
    # Older pyarrow does not have it.
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
    offsets = [(((one >> 32) * (size // _BLOCK)) >> 32) * _BLOCK for one in hashes]
    blocks = _blocks(offsets, start, size, read_at)
    return any(_in_block(one & 0xFFFFFFFF, block) for one, block in zip(hashes, blocks, strict=True))


def _blocks(offsets: Sequence[int], start: int, size: int, read_at: ReadAt) -> Iterator[bytes]:
    if len(offsets) <= _FEW_VALUES:
        yield from (read_at(_BLOCK, start + offset) for offset in offsets)
        return
    content = read_at(size, start)
    yield from (content[offset : offset + _BLOCK] for offset in offsets)


def _in_block(key: int, block: bytes) -> bool:
    if len(block) < _BLOCK:
        return True
    words = struct.unpack("<8I", block)
    return all(word >> (((key * salt) & 0xFFFFFFFF) >> 27) & 1 for word, salt in zip(words, _SALT, strict=True))


def _bitset(header: bytes) -> tuple[int, int] | None:
    """Length of the header and of the bits after it; ``None`` where the filter is not understood."""
    if header[:1] != _HEADER_START:
        return None
    try:
        number, at = read_varint(header, 1, _SIZE_BITS)
    except ValueError:
        return None
    size, end = number >> 1, at + len(_HEADER_END)
    known = not number & 1 and size > 0 and size % _BLOCK == 0 and header[at:end] == _HEADER_END
    return (end, size) if known else None
