"""Files of Snappy, LZ4 and LZO: Hadoop's frames, and those of other tools. Executor side.

Hadoop's ``BlockCompressorStream`` writes the length of a block as four bytes, big-endian, and then chunks of it, each
behind its compressed length. Files in Snappy's or LZ4's own frame format, and raw Snappy, begin with
other bytes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import pyarrow as pa

from connector_spi.errors import CorruptFileError
from connectors.toolkit.codecs.lzo import decompress_lzo
from connectors.toolkit.codecs.streams import MAX_BLOCK_BYTES, STEP, ExactReader, Readable
from connectors.toolkit.codecs.varints import read_varint

__all__ = ["arrow_parts", "decompress_lz4", "framed_parts"]

_SNAPPY_FRAME = b"\xff\x06\x00\x00sNaPpY"
_LZ4_FRAME = b"\x04\x22\x4d\x18"
# Independent blocks of up to 4 MB with no checksums; the last byte is the header's own checksum (LZ4 frame format).
_LZ4_HEADER = _LZ4_FRAME + b"\x60\x70\x73"
_LZ4_CHUNK = 1 << 22
# The longest match of Snappy makes 64 bytes from 2, and a chunk of LZ4 grows by 255 at most.
_SNAPPY_GROWTH = 32
_SNAPPY_LENGTH_BITS = 35


def framed_parts(file: Readable, codec: str, where: str, step: int) -> Iterator[bytes]:
    """The decompressed chunks of a file.

    Args:
        file: The file; not closed.
        codec: ``snappy``, ``lz4`` or ``lzo``.
        where: Names it for messages.
        step: Most bytes of a part, where the file has the frames of LZ4; else a part is a chunk.

    Raises:
        CorruptFileError: It is damaged.
    """
    head = file.read(4)
    if codec == "lz4" and head == _LZ4_FRAME:
        yield from arrow_parts(file, head, "lz4", step)
        return
    source = ExactReader(file, where)
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
    yield from _hadoop_frames(
        source, head, {"snappy": _snappy, "lz4": decompress_lz4, "lzo": decompress_lzo}[codec], where
    )


def arrow_parts(file: Readable, front: bytes, codec: str, step: int) -> Iterator[bytes]:
    """The decompressed bytes of a file that Arrow reads, behind bytes that were taken from it."""
    source = pa.PythonFile(_Front(front, file), mode="r")
    with pa.CompressedInputStream(source, codec) as stream:
        while part := stream.read(min(step, STEP)):
            yield part


def decompress_lz4(chunk: bytes, most: int, where: str) -> bytes:
    """A chunk without a frame.

    Args:
        chunk: Its bytes.
        most: Most bytes that it may hold.
        where: Names the file for messages.

    Raises:
        CorruptFileError: It holds more, or is damaged as far as Arrow sees.
    """
    if len(chunk) > _LZ4_CHUNK:
        raise CorruptFileError(f"{where} has an LZ4 chunk of {len(chunk)} bytes; at most {_LZ4_CHUNK} are read")
    # A raw chunk does not tell its size, nor does Arrow tell how much of the memory asked for it filled: in a frame of
    # its own the library finds it.
    frame = b"".join([_LZ4_HEADER, len(chunk).to_bytes(4, "little"), chunk, bytes(4)])
    with pa.CompressedInputStream(pa.BufferReader(frame), "lz4") as stream:
        part: bytes = stream.read(min(most, _LZ4_CHUNK) + 1)
    if len(part) > most:
        raise CorruptFileError(f"{where} has an LZ4 chunk of more bytes than the {most} that its block has left")
    return part


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


def _hadoop_frames(
    source: ExactReader, head: bytes, decompress: Callable[[bytes, int, str], bytes], where: str
) -> Iterator[bytes]:
    while head:
        if len(head) < 4:
            raise CorruptFileError(f"{where} ends in the middle of a length")
        left = int.from_bytes(head, "big")
        while left:
            chunk = source.exact(int.from_bytes(source.exact(4), "big"))
            part = decompress(chunk, left, where)
            left -= len(part)
            if not part:
                raise CorruptFileError(f"{where} has an empty chunk where {left} bytes are to come")
            yield part
        head = source.up_to(4)


def _looks_hadoop(head: bytes) -> bool:
    """Whether a Snappy file is framed as Hadoop does: two lengths, and then a chunk that fits into its block."""
    block = int.from_bytes(head[:4], "big")
    if block == 0:
        return len(head) == 4 or len(head) >= 8
    if len(head) < 9:
        return False
    chunk, (size, _) = int.from_bytes(head[4:8], "big"), read_varint(head, 8, _SNAPPY_LENGTH_BITS)
    # Snappy needs 32 + n + n/6 bytes at most (MaxCompressedLength).
    return 0 < size <= block and chunk <= 32 + size + size // 6 and size <= chunk * _SNAPPY_GROWTH + 64


def _snappy_frames(source: ExactReader) -> Iterator[bytes]:
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
    size, header = read_varint(chunk, 0, _SNAPPY_LENGTH_BITS)
    if size > most or size > len(chunk) * _SNAPPY_GROWTH + 64:
        raise CorruptFileError(f"{where} has a Snappy chunk of {len(chunk)} bytes that claims {size}, where {most} fit")
    if size == 0:
        if len(chunk) > header:
            raise CorruptFileError(f"{where} has an empty Snappy chunk of {len(chunk)} bytes")
        return b""
    part: bytes = pa.Codec("snappy").decompress(chunk, decompressed_size=size, asbytes=True)
    return part
