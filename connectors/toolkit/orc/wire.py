"""What an ORC file is made of: streams of compressed chunks (ORC v1 spec, "Compression")."""

from __future__ import annotations

import zlib

import pyarrow as pa

from connector_spi.errors import CorruptFileError
from connectors.toolkit.codecs.hadoop_frames import decompress_lz4
from connectors.toolkit.codecs.lzo import decompress_lzo
from connectors.toolkit.codecs.varints import read_varint

__all__ = ["decompress"]


def decompress(raw: bytes, codec: str, block_size: int) -> bytes:
    """The bytes of a stream: blocks with headers of three bytes, some of them not compressed."""
    if codec == "none":
        return raw
    parts: list[bytes] = []
    position = 0
    while position < len(raw):
        header = int.from_bytes(raw[position : position + 3], "little")
        chunk = raw[position + 3 : position + 3 + (header >> 1)]
        position += 3 + (header >> 1)
        parts.append(chunk if header & 1 else _decompress_chunk(chunk, codec, block_size))
    return b"".join(parts)


def _decompress_chunk(chunk: bytes, codec: str, block_size: int) -> bytes:
    """At most a block: a damaged chunk could claim or hold a thousand times that.

    Raises:
        ValueError: It is damaged; ``zlib.error`` or ``pyarrow.ArrowException`` likewise.
    """
    try:
        content = _decompressed(chunk, codec, block_size)
    except (CorruptFileError, OSError) as error:
        # Arrow's codecs raise OSError for what they cannot decompress. The caller knows the file.
        raise ValueError(str(error)) from error
    if len(content) > block_size:
        raise ValueError(f"a chunk holds more than the {block_size} bytes of a block")
    return content


def _decompressed(chunk: bytes, codec: str, block_size: int) -> bytes:
    if codec == "lzo":
        return decompress_lzo(chunk, block_size, "a chunk")
    if codec == "lz4_raw":
        return decompress_lz4(chunk, block_size, "a chunk")
    if codec == "zlib":
        return zlib.decompressobj(-15).decompress(chunk, block_size + 1)
    content: bytes
    if codec == "snappy":
        size, _ = read_varint(chunk, 0)
        if size > block_size:
            raise ValueError(f"a chunk claims {size} bytes, more than the {block_size} of a block")
        content = pa.Codec(codec).decompress(chunk, size, asbytes=True)
    else:
        with pa.CompressedInputStream(pa.BufferReader(chunk), codec) as stream:
            content = stream.read(block_size + 1)
    return content
