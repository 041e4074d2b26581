"""What Hadoop's compression codecs read: whole files, and the blocks inside of container files. Executor side.

Codecs go by the names of ``hadoop_codecs``: ``zlib``, ``gzip``, ``bzip2``, ``snappy``, ``lz4``, ``zstd``.
"""

from __future__ import annotations

import bz2
import io
import zlib
from collections.abc import Callable
from typing import Protocol

import pyarrow as pa

__all__ = ["CompressedFile", "class_of_codec", "compress_block", "extension_of_codec"]

_HADOOP = "org.apache.hadoop.io.compress"
_KNOWN = {
    "zlib": ("DefaultCodec", "deflate"),
    "gzip": ("GzipCodec", "gz"),
    "bzip2": ("BZip2Codec", "bz2"),
    "snappy": ("SnappyCodec", "snappy"),
    "lz4": ("Lz4Codec", "lz4"),
    "zstd": ("ZStandardCodec", "zst"),
}
_CHUNK_BYTES = 1 << 17
"""Bytes of a chunk of Snappy or LZ4, which has to fit into Hadoop's buffer of 256 KiB also if it grows."""


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


class CompressedFile:
    """A file that is compressed as it is written.

    Args:
        sink: Where it goes; not closed.
        codec: The codec.
    """

    def __init__(self, sink: pa.NativeFile, codec: str) -> None:
        self._sink = sink
        self._compressor = _COMPRESSORS[codec]()

    def write(self, data: bytes) -> None:
        """Takes bytes."""
        self._sink.write(self._compressor.compress(data))

    def finish(self) -> None:
        """Writes the end of the compressed data."""
        self._sink.write(self._compressor.flush())


def compress_block(data: bytes, codec: str) -> bytes:
    """Compresses a block that is in memory."""
    compressor = _COMPRESSORS[codec]()
    return compressor.compress(data) + compressor.flush()


def class_of_codec(codec: str) -> str:
    """The Java class of a codec, such as ``org.apache.hadoop.io.compress.GzipCodec``."""
    return f"{_HADOOP}.{_KNOWN[codec][0]}"


def extension_of_codec(codec: str) -> str:
    """The extension by which readers know a file of this codec, such as ``gz``."""
    return _KNOWN[codec][1]


class _Chunks:
    """Hadoop's frames (``BlockCompressorStream``): blocks of one chunk each, all lengths big-endian."""

    def __init__(self, codec: str) -> None:
        self._codec = pa.Codec(codec)
        self._held = bytearray()
        self._is_begun = False

    def compress(self, data: bytes, /) -> bytes:
        self._held += data
        whole = len(self._held) // _CHUNK_BYTES * _CHUNK_BYTES
        return self._taken(whole)

    def flush(self) -> bytes:
        return self._taken(len(self._held)) if self._held or self._is_begun else bytes(4)

    def _taken(self, size: int) -> bytes:
        raw = bytes(self._held[:size])
        del self._held[:size]
        parts = []
        for start in range(0, size, _CHUNK_BYTES):
            chunk = raw[start : start + _CHUNK_BYTES]
            packed = self._codec.compress(chunk, asbytes=True)
            parts += [len(chunk).to_bytes(4, "big"), len(packed).to_bytes(4, "big"), packed]
        self._is_begun |= bool(parts)
        return b"".join(parts)


class _Zstandard:
    """One frame, whose size is not known before its end."""

    def __init__(self) -> None:
        self._made = io.BytesIO()
        self._stream = pa.CompressedOutputStream(_KeptOpen(self._made), "zstd")

    def compress(self, data: bytes, /) -> bytes:
        self._stream.write(data)
        return self._taken()

    def flush(self) -> bytes:
        self._stream.close()
        return self._taken()

    def _taken(self) -> bytes:
        made = self._made.getvalue()
        self._made.seek(0)
        self._made.truncate()
        return made


class _KeptOpen(io.RawIOBase):
    def __init__(self, target: io.BytesIO) -> None:
        super().__init__()
        self._target = target

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        return self._target.write(memoryview(data))  # type: ignore[arg-type]


_COMPRESSORS: dict[str, Callable[[], _Compressor]] = {
    "zlib": lambda: zlib.compressobj(),
    "gzip": lambda: zlib.compressobj(wbits=zlib.MAX_WBITS + 16),
    "bzip2": bz2.BZ2Compressor,
    "snappy": lambda: _Chunks("snappy"),
    "lz4": lambda: _Chunks("lz4_raw"),
    "zstd": _Zstandard,
}
