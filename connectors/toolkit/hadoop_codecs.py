"""Data that Hadoop's compression codecs wrote: whole files, and the blocks inside of container files. Executor side.

Codecs go by short names: ``zlib`` (``DefaultCodec``, ``DeflateCodec``), ``gzip``, ``bzip2``, ``snappy``, ``lz4`` and
``zstd``. Snappy and LZ4 come as Hadoop's ``BlockCompressorStream`` frames them: the length of a block as four bytes,
big-endian, and then chunks of it, each behind its compressed length. Files of other tools, in Snappy's or LZ4's own
frame format or raw Snappy, are told from those by their first bytes.
"""

from __future__ import annotations

import bz2
import io
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import pyarrow as pa

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.toolkit.codec_streams import STEP, Readable, codec_errors, file_of_parts

__all__ = ["codec_of_class", "codec_of_path", "decompress_block", "decompress_stream"]

MAX_BLOCK_BYTES = 1 << 28
"""Most bytes that a block inside of a file may have, compressed or not, unless the caller says otherwise."""

_CLASSES = {
    "DefaultCodec": "zlib",
    "DeflateCodec": "zlib",
    "GzipCodec": "gzip",
    "BZip2Codec": "bzip2",
    "SnappyCodec": "snappy",
    "Lz4Codec": "lz4",
    "ZStandardCodec": "zstd",
}
_EXTENSIONS = {
    "deflate": "zlib",
    "gz": "gzip",
    "bz2": "bzip2",
    "snappy": "snappy",
    "lz4": "lz4",
    "zst": "zstd",
}
_REFUSED = ("lzo", "lzo_deflate", "lzop", "br", "xz", "pbz2", "passthrough")
_SNAPPY_FRAME = b"\xff\x06\x00\x00sNaPpY"
_LZ4_FRAME = b"\x04\x22\x4d\x18"
# Independent blocks of up to 4 MB with no checksums; the last byte is the header's own checksum (LZ4 frame format).
_LZ4_HEADER = _LZ4_FRAME + b"\x60\x70\x73"
_LZ4_CHUNK = 1 << 22
# The longest match of Snappy makes 64 bytes from 2, and a chunk of LZ4 grows by 255 at most.
_SNAPPY_GROWTH = 32


def codec_of_class(name: str, where: str) -> str:
    """The codec of a class of Hadoop's.

    Args:
        name: Such as ``org.apache.hadoop.io.compress.GzipCodec``.
        where: Names the file for the message.

    Raises:
        NotSupportedError: It is not known, such as LZO's.
    """
    package, _, simple = name.rpartition(".")
    found = _CLASSES.get(simple)
    if found is None or package != "org.apache.hadoop.io.compress":
        raise NotSupportedError(
            f"{where} is compressed by {name!r}, which cannot be read; expected one of {', '.join(_CLASSES)} of "
            "org.apache.hadoop.io.compress: copy the rows with Hive into a table compressed otherwise"
        )
    return found


def codec_of_path(path: str) -> str | None:
    """The codec that a file's extension tells (``CompressionCodecFactory``), or ``None`` for a file as it is.

    Raises:
        NotSupportedError: The extension is that of a codec that is not read, such as LZO.
    """
    extension = path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path.rpartition("/")[2] else ""
    if extension in _REFUSED:
        raise NotSupportedError(
            f"{path} has the extension .{extension} of a compression that is not read; expected one of "
            f".{', .'.join(_EXTENSIONS)}: decompress the file, or copy the rows with Hive"
        )
    return _EXTENSIONS.get(extension)


def decompress_stream(file: Readable, codec: str, where: str) -> io.BufferedReader:
    """A file-like of the bytes of a compressed file, decompressed in steps as they are read.

    Args:
        file: The compressed file from its start; not closed.
        codec: As ``codec_of_path`` gives it.
        where: Names the file for messages.

    Returns:
        A file whose ``read`` raises ``CorruptFileError`` where the data is damaged or ends too early.
    """
    return file_of_parts(_decompressed(file, codec, where))


def decompress_block(
    data: bytes | pa.Buffer | memoryview,
    codec: str,
    where: str,
    *,
    size: int | None = None,
    limit: int = MAX_BLOCK_BYTES,
) -> bytes:
    """Decompresses a block that is in memory.

    Args:
        data: The block.
        codec: As ``codec_of_class`` gives it.
        where: Names it for messages.
        size: Bytes that it has to have, where that is known.
        limit: Most bytes that it may have.

    Raises:
        CorruptFileError: It is damaged, or has another size or more bytes than allowed.
    """
    most = limit if size is None else size
    if most > limit:
        raise CorruptFileError(f"{where} says that it has {most} bytes; at most {limit} are read")
    parts: list[bytes] = []
    left = most
    for part in _decompressed(io.BytesIO(data), codec, where, step=most + 1):
        parts.append(part)
        left -= len(part)
        if left < 0:
            raise CorruptFileError(f"{where} has more than {most} bytes when it is decompressed")
    if size is not None and left:
        raise CorruptFileError(f"{where} has {size - left} bytes when it is decompressed, expected {size}")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _decompressed(file: Readable, codec: str, where: str, step: int = STEP) -> Iterator[bytes]:
    """The decompressed bytes, at most about ``step`` at a time but for single chunks of Snappy and LZ4."""
    with codec_errors(where, codec):
        if codec in ("zlib", "gzip"):
            bits = zlib.MAX_WBITS + (16 if codec == "gzip" else 0)
            yield from _members(file, lambda: zlib.decompressobj(bits), step, where)
        elif codec == "bzip2":
            yield from _members(file, bz2.BZ2Decompressor, step, where)
        elif codec == "zstd":
            yield from _arrow_stream(file, b"", "zstd", step)
        elif codec in ("snappy", "lz4"):
            yield from _framed(file, codec, where, step)
        else:
            raise NotSupportedError(f"{where} is compressed by {codec!r}, which is not known")


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _members(file: Readable, make: Callable[[], _Decompressor], step: int, where: str) -> Iterator[bytes]:
    """Streams one behind the other, as concatenated files are."""
    data = file.read(STEP)
    if not data:
        raise CorruptFileError(f"{where} is empty, where compressed data is expected")
    while data:
        member = make()
        yield from _member(member, data, file, step, where)
        data = member.unused_data or file.read(STEP)


def _member(member: _Decompressor, data: bytes, file: Readable, step: int, where: str) -> Iterator[bytes]:
    part = member.decompress(data, step)
    while True:
        if part:
            yield part
        if member.eof:
            return
        # zlib hands back what it has not looked at; bz2 keeps it.
        data = getattr(member, "unconsumed_tail", b"")
        if not data and getattr(member, "needs_input", len(part) < step):
            data = file.read(STEP)
            if not data:
                raise CorruptFileError(f"{where} ends in the middle of its compressed data")
        part = member.decompress(data, step)


def _arrow_stream(file: Readable, front: bytes, codec: str, step: int) -> Iterator[bytes]:
    source = pa.PythonFile(_Front(front, file), mode="r")
    with pa.CompressedInputStream(source, codec) as stream:
        while part := stream.read(min(step, STEP)):
            yield part


class _Front(io.RawIOBase):
    def __init__(self, front: bytes, file: Readable) -> None:
        super().__init__()
        self._front = front
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        if self._front:
            taken, self._front = self._front[:size], self._front[size:]
            return taken
        return self._file.read(size)


def _framed(file: Readable, codec: str, where: str, step: int) -> Iterator[bytes]:
    head = file.read(4)
    if codec == "lz4" and head == _LZ4_FRAME:
        yield from _arrow_stream(file, head, "lz4", step)
        return
    source = _Exact(file, where)
    if codec == "snappy" and head:
        source.front = head
        more = source.peek(24)
        if more.startswith(_SNAPPY_FRAME):
            yield from _snappy_frames(source)
            return
        if not _looks_hadoop(more):
            yield _snappy(source.rest(MAX_BLOCK_BYTES), MAX_BLOCK_BYTES, where)
            return
        head = source.exact(4)
    while head:
        if len(head) < 4:
            raise CorruptFileError(f"{where} ends in the middle of a length")
        left = int.from_bytes(head, "big")
        while left:
            chunk = source.exact(int.from_bytes(source.exact(4), "big"))
            part = _snappy(chunk, left, where) if codec == "snappy" else _lz4(chunk, left, where)
            left -= len(part)
            if not part:
                raise CorruptFileError(f"{where} has an empty chunk where {left} bytes are to come")
            yield part
        head = source.up_to(4)


class _Exact:
    """Reads as many bytes as are asked, or says that the file is too short."""

    def __init__(self, file: Readable, where: str) -> None:
        self.front = b""
        self._file = file
        self._where = where

    def peek(self, size: int) -> bytes:
        self.front = self.up_to(size)
        return self.front

    def up_to(self, size: int) -> bytes:
        parts, self.front = [self.front[:size]], self.front[size:]
        missing = size - len(parts[0])
        # Not all at once: a damaged length must not ask for memory that the file cannot fill.
        while missing and (part := self._file.read(min(missing, STEP))):
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def exact(self, size: int) -> bytes:
        if size > MAX_BLOCK_BYTES:
            raise CorruptFileError(f"{self._where} has a chunk of {size} bytes; at most {MAX_BLOCK_BYTES} are read")
        data = self.up_to(size)
        if len(data) < size:
            raise CorruptFileError(f"{self._where} ends in the middle of its compressed data")
        return data

    def rest(self, limit: int) -> bytes:
        data = self.up_to(limit + 1)
        if len(data) > limit:
            raise CorruptFileError(f"{self._where} is one raw Snappy block of more than {limit} bytes")
        return data


def _looks_hadoop(head: bytes) -> bool:
    """Whether a Snappy file is framed as Hadoop does: two lengths, and then a chunk that fits into its block."""
    block = int.from_bytes(head[:4], "big")
    if block == 0:
        return len(head) == 4 or len(head) >= 8
    if len(head) < 9:
        return False
    chunk, (size, _) = int.from_bytes(head[4:8], "big"), _varint(head[8:])
    # Snappy needs 32 + n + n/6 bytes at most (MaxCompressedLength).
    return 0 < size <= block and chunk <= 32 + size + size // 6 and size <= chunk * _SNAPPY_GROWTH + 64


def _snappy_frames(source: _Exact) -> Iterator[bytes]:
    """Snappy's own frame format (``framing_format.txt``); checksums are not compared."""
    while head := source.up_to(4):
        kind, size = head[0], int.from_bytes(head[1:4], "little")
        body = source.exact(size)
        if kind == 0x00:
            yield _snappy(body[4:], 1 << 16, "a Snappy frame")
        elif kind == 0x01:
            yield body[4:]
        elif kind < 0x80:
            raise CorruptFileError(f"a Snappy frame of the unknown kind {kind}")


def _snappy(chunk: bytes, most: int, where: str) -> bytes:
    size, header = _varint(chunk)
    if size > most or size > len(chunk) * _SNAPPY_GROWTH + 64:
        raise CorruptFileError(f"{where} has a Snappy chunk of {len(chunk)} bytes that claims {size}, where {most} fit")
    if size == 0:
        if len(chunk) > header:
            raise CorruptFileError(f"{where} has an empty Snappy chunk of {len(chunk)} bytes")
        return b""
    part: bytes = pa.Codec("snappy").decompress(chunk, decompressed_size=size, asbytes=True)
    return part


def _lz4(chunk: bytes, most: int, where: str) -> bytes:
    if len(chunk) > _LZ4_CHUNK:
        raise CorruptFileError(f"{where} has an LZ4 chunk of {len(chunk)} bytes; at most {_LZ4_CHUNK} are read")
    # A raw chunk does not tell its size, and in a frame of its own the library finds it.
    frame = b"".join([_LZ4_HEADER, len(chunk).to_bytes(4, "little"), chunk, bytes(4)])
    with pa.CompressedInputStream(pa.BufferReader(frame), "lz4") as stream:
        part: bytes = stream.read(min(most, _LZ4_CHUNK) + 1)
    if len(part) > most:
        raise CorruptFileError(f"{where} has an LZ4 chunk of more bytes than the {most} that its block has left")
    return part


def _varint(data: bytes) -> tuple[int, int]:
    value = 0
    for at, byte in enumerate(data[:5]):
        value |= (byte & 0x7F) << 7 * at
        if byte < 0x80:
            return value, at + 1
    raise ValueError("no Snappy length")
