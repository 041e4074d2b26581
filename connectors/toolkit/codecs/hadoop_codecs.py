"""Data that Hadoop's compression codecs wrote: whole files, and the blocks inside of container files. Executor side.

Codecs go by short names: ``zlib`` (``DefaultCodec``, ``DeflateCodec``), ``gzip``, ``bzip2``, ``snappy``, ``lz4``,
``zstd``, ``lzo`` (``LzoCodec``, in Hadoop's frames) and ``lzop`` (``LzopCodec``, files of the program ``lzop``).
"""

from __future__ import annotations

import bz2
import io
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol

import pyarrow as pa

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.toolkit.codecs.hadoop_frames import arrow_parts, framed_parts
from connectors.toolkit.codecs.lzo import lzop_parts
from connectors.toolkit.codecs.streams import (
    MAX_BLOCK_BYTES,
    STEP,
    ExactReader,
    Readable,
    codec_errors,
    file_of_parts,
)

__all__ = ["codec_of_class", "codec_of_path", "decompress_block", "decompress_stream"]

_HADOOP = "org.apache.hadoop.io.compress"
_CLASSES = {
    "DefaultCodec": "zlib",
    "DeflateCodec": "zlib",
    "GzipCodec": "gzip",
    "BZip2Codec": "bzip2",
    "SnappyCodec": "snappy",
    "Lz4Codec": "lz4",
    "ZStandardCodec": "zstd",
}
# hadoop-lzo, Hadoop before 0.20, and those that write the same: aircompressor and lzo-hadoop.
_LZO_PACKAGES = ("com.hadoop.compression.lzo", _HADOOP, "io.airlift.compress.lzo", "org.anarres.lzo.hadoop.codec")
_LZO_CLASSES = {"LzoCodec": "lzo", "LzopCodec": "lzop"}
_EXTENSIONS = {
    "deflate": "zlib",
    "gz": "gzip",
    "bz2": "bzip2",
    "snappy": "snappy",
    "lz4": "lz4",
    "zst": "zstd",
    "lzo": "lzop",
    "lzo_deflate": "lzo",
}
_REFUSED = ("lzop", "br", "xz", "pbz2", "passthrough")


def codec_of_class(name: str, where: str) -> str:
    """The codec of a class of Hadoop's.

    Args:
        name: Such as ``org.apache.hadoop.io.compress.GzipCodec``.
        where: Names the file for the message.

    Raises:
        NotSupportedError: It is not known.
    """
    package, _, simple = name.rpartition(".")
    found = _CLASSES.get(simple) if package == _HADOOP else None
    if found is None and package in _LZO_PACKAGES:
        found = _LZO_CLASSES.get(simple)
    if found is None:
        raise NotSupportedError(
            f"{where} is compressed by {name!r}, which cannot be read; expected one of {', '.join(_CLASSES)} of "
            f"{_HADOOP}, or {' or '.join(_LZO_CLASSES)} of {_LZO_PACKAGES[0]}: copy the rows with Hive into a table "
            "compressed otherwise"
        )
    return found


def codec_of_path(path: str) -> str | None:
    """The codec that a file's extension tells (``CompressionCodecFactory``), or ``None`` for a file as it is.

    Raises:
        NotSupportedError: The extension is that of a codec that is not read, or the file is an index of LZO.
    """
    if path.lower().endswith(".lzo.index"):
        raise NotSupportedError(
            f"{path} is the index of an LZO file, whose bytes Hive's text format would give as rows; declare the table "
            "with the input format com.hadoop.mapred.DeprecatedLzoTextInputFormat, or move the file"
        )
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
            yield from arrow_parts(file, b"", "zstd", step)
        elif codec in ("snappy", "lz4", "lzo"):
            yield from framed_parts(file, codec, where, step)
        elif codec == "lzop":
            yield from lzop_parts(ExactReader(file, where), where)
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
