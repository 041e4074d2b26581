"""Avro object container files: header and blocks (Avro 1.11 specification, "Object Container Files"). Executor side.

A block belongs to the range of the file in which the mark before it begins; the header ends with the first one.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.toolkit.codecs.hadoop_codecs import decompress_block
from connectors.toolkit.storage.byte_source import ByteSource

__all__ = ["AvroBlock", "AvroHeader", "avro_blocks", "read_avro_header"]

MAX_BLOCK_BYTES = 1 << 28
"""Most bytes of a block when it is decompressed."""

_MAGIC = b"Obj\x01"
_SYNC_BYTES = 16
_MAX_HEADER = 1 << 24
_STEP = 1 << 20


@dataclass(frozen=True, slots=True)
class AvroHeader:
    """What stands at the front of a container file.

    Attributes:
        metadata: All entries, such as ``avro.schema``.
        sync: The mark of 16 bytes that ends the header and each block.
        end: The byte behind the header.
    """

    metadata: Mapping[str, bytes]
    sync: bytes
    end: int

    @property
    def schema(self) -> str:
        """The schema that the file was written with, as JSON."""
        return self.metadata.get("avro.schema", b"").decode("utf-8", "replace")

    def text(self, key: str) -> str | None:
        """An entry as text."""
        found = self.metadata.get(key)
        return None if found is None else found.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class AvroBlock:
    """Records one behind the other, decompressed.

    Attributes:
        count: How many.
        data: Their bytes.
    """

    count: int
    data: bytes


def read_avro_header(source: ByteSource, where: str) -> AvroHeader:
    """Reads the header.

    Raises:
        CorruptFileError: It is no Avro file, or it ends too early.
        NotSupportedError: Its codec is not known.
    """
    if source.read(0, 4) != _MAGIC:
        raise CorruptFileError(f"{where} is no Avro file: it begins with {source.read(0, 4)!r}, expected {_MAGIC!r}")
    reader = _Reader(source, 4, where)
    metadata: dict[str, bytes] = {}
    while count := reader.number():
        if count < 0:
            reader.number()
        for _ in range(abs(count)):
            key = reader.take(reader.number()).decode("utf-8", "replace")
            metadata[key] = reader.take(reader.number())
    header = AvroHeader(metadata, reader.take(_SYNC_BYTES), reader.at)
    if _codec(header) not in _CODECS:
        raise NotSupportedError(
            f"{where} has the Avro codec {_codec(header)!r}, which is not known; expected one of {', '.join(_CODECS)}"
        )
    return header


def avro_blocks(source: ByteSource, header: AvroHeader, start: int, end: int, where: str) -> Iterator[AvroBlock]:
    """The blocks of a range.

    Args:
        source: The file.
        header: Its header.
        start: First byte of the range.
        end: The byte behind it.
        where: Names the file for messages.

    Raises:
        CorruptFileError: A length leaves the file, a mark is missing, or compressed data is damaged.
    """
    inflate = _CODECS[_codec(header)]
    first = header.end - _SYNC_BYTES
    mark = first if start <= first < end else _find(source, header.sync, max(start, header.end), end)
    while mark is not None and mark < end and mark + _SYNC_BYTES < source.size:
        reader = _Reader(source, mark + _SYNC_BYTES, where)
        count, size = reader.number(), reader.number()
        mark = reader.at + size
        if count < 0 or not 0 <= size <= source.size - reader.at - _SYNC_BYTES:
            raise CorruptFileError(f"{where} has a block of {count} records and {size} bytes at byte {reader.at}")
        block = f"the block at byte {reader.at} of {where}"
        data = source.read(reader.at, size)
        if source.read(mark, _SYNC_BYTES) != header.sync:
            raise CorruptFileError(f"{block} does not end with the file's mark; it is damaged")
        yield AvroBlock(count, inflate(data, block))


class _Reader:
    def __init__(self, source: ByteSource, at: int, where: str) -> None:
        self.at = at
        self._source = source
        self._where = where

    def take(self, size: int) -> bytes:
        if not 0 <= size <= _MAX_HEADER:
            raise CorruptFileError(f"{self._where} is damaged: a length of {size} at byte {self.at}")
        data = self._source.read(self.at, size)
        if len(data) < size:
            raise CorruptFileError(f"{self._where} is truncated at byte {self.at + len(data)}")
        self.at += size
        return data

    def number(self) -> int:
        value = 0
        for at, byte in enumerate(self._source.read(self.at, 10)):
            value |= (byte & 0x7F) << 7 * at
            if byte < 0x80:
                self.at += at + 1
                return (value >> 1) ^ -(value & 1)
        raise CorruptFileError(f"{self._where} is truncated or damaged at byte {self.at}: a number has no end")


def _codec(header: AvroHeader) -> str:
    return header.text("avro.codec") or "null"


def _find(source: ByteSource, sync: bytes, start: int, end: int) -> int | None:
    at = start
    while at < end:
        found = source.read(at, min(_STEP, end - at) + _SYNC_BYTES - 1).find(sync)
        if found >= 0:
            return at + found
        at += _STEP
    return None


def _plain(data: bytes, where: str) -> bytes:
    return data


def _deflate(data: bytes, where: str) -> bytes:
    return _bounded(zlib.decompressobj(-zlib.MAX_WBITS).decompress, data, where)


def _bzip2(data: bytes, where: str) -> bytes:
    return _bounded(bz2.BZ2Decompressor().decompress, data, where)


def _xz(data: bytes, where: str) -> bytes:
    return _bounded(lzma.LZMADecompressor(memlimit=MAX_BLOCK_BYTES).decompress, data, where)


def _zstandard(data: bytes, where: str) -> bytes:
    return decompress_block(data, "zstd", where, limit=MAX_BLOCK_BYTES)


def _snappy(data: bytes, where: str) -> bytes:
    if len(data) < 4:
        raise CorruptFileError(f"{where} has {len(data)} bytes, and a checksum alone has 4")
    size = 0
    for at, byte in enumerate(data[:5]):
        size |= (byte & 0x7F) << 7 * at
        if byte < 0x80:
            break
    if size > min(MAX_BLOCK_BYTES, 32 * len(data) + 64):
        raise CorruptFileError(f"{where} claims {size} bytes in {len(data)} of Snappy")
    try:
        found: bytes = pa.Codec("snappy").decompress(data[:-4], decompressed_size=size, asbytes=True) if size else b""
    except (OSError, pa.ArrowException) as error:
        raise CorruptFileError(f"{where} cannot be decompressed: {error}") from error
    if zlib.crc32(found) != int.from_bytes(data[-4:], "big"):
        raise CorruptFileError(f"{where} does not have its checksum")
    return found


def _bounded(decompress: Callable[[bytes, int], bytes], data: bytes, where: str) -> bytes:
    try:
        found = decompress(data, MAX_BLOCK_BYTES + 1)
    except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
        raise CorruptFileError(f"{where} cannot be decompressed: {error}") from error
    if len(found) > MAX_BLOCK_BYTES:
        raise CorruptFileError(f"{where} has more than {MAX_BLOCK_BYTES} bytes when it is decompressed")
    return found


_CODECS: dict[str, Callable[[bytes, str], bytes]] = {
    "null": _plain,
    "deflate": _deflate,
    "snappy": _snappy,
    "bzip2": _bzip2,
    "zstandard": _zstandard,
    "xz": _xz,
}
