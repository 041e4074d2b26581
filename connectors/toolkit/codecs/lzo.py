"""LZO: blocks of LZO1X, and the files of the program ``lzop``. Executor side; needs the extra ``lakeport[lzo]``."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.toolkit.codecs.streams import ExactReader

__all__ = ["decompress_lzo", "lzop_parts"]

# The library finds out by itself how large a block becomes, of which each byte can make 255, and begins with a guess.
_MOST_COMPRESSED = 4 << 20
_FIRST_GUESS = 1 << 20
_MOST_BLOCK = 64 << 20
_MAGIC = b"\x89LZO\0\r\n\x1a\n"
# What lzop 1.04 knows, and since when a header tells which version is needed to read the file.
_NEWEST, _OLDEST = 0x1040, 0x0940
# LZO1X-1, LZO1X-1(15) and LZO1X-999 are read alike.
_METHODS = (1, 2, 3)
_ADLER_OF_DATA, _ADLER_OF_COMPRESSED, _EXTRA_FIELD = 0x1, 0x2, 0x40
_CRC_OF_DATA, _CRC_OF_COMPRESSED, _FILTER, _CRC_OF_HEADER = 0x100, 0x200, 0x800, 0x1000


def decompress_lzo(chunk: bytes, most: int, where: str) -> bytes:
    """Decompresses a block of LZO1X.

    Args:
        chunk: The block.
        most: Most bytes that it may have when decompressed.
        where: Names the file for messages.

    Raises:
        CorruptFileError: It is damaged, or has more bytes.
        NotSupportedError: The library that does it is not installed.
    """
    try:
        from lzallright import LZOCompressor, LZOError
    except ImportError as error:
        raise NotSupportedError(
            f"{where} is compressed by LZO, which needs the library lzallright, also where tasks run: "
            "pip install 'lakeport[lzo]'"
        ) from error
    # LZO makes data longer by a sixteenth and 67 bytes at most (LZO.FAQ).
    if len(chunk) > min(most + most // 16 + 67, _MOST_COMPRESSED):
        raise CorruptFileError(
            f"{where} has an LZO block of {len(chunk)} bytes, where {most} decompressed ones fit; at most "
            f"{_MOST_COMPRESSED} are read"
        )
    try:
        data: bytes = LZOCompressor.decompress(chunk, min(most, _FIRST_GUESS))
    except LZOError as error:
        # Its second argument may be all data so far.
        raise CorruptFileError(f"{where} is not compressed by LZO, or damaged: {error.args[0]}") from error
    if len(data) > most:
        raise CorruptFileError(f"{where} has an LZO block of {len(data)} bytes, where {most} fit")
    return data


def lzop_parts(source: ExactReader, where: str) -> Iterator[bytes]:
    """The decompressed blocks of a file of ``lzop``, or of several one behind the other.

    Checksums are compared where the file has them.

    Raises:
        CorruptFileError: It is damaged, ends too early or is no such file.
        NotSupportedError: It needs a newer ``lzop`` or a filter, or the library is not installed.
    """
    magic = source.up_to(len(_MAGIC))
    if not magic:
        raise CorruptFileError(f"{where} is empty, where compressed data is expected")
    while magic:
        if magic != _MAGIC:
            raise CorruptFileError(f"{where} has {magic!r} where a file of lzop has to begin; it has another format")
        flags = _read_header(source, where)
        while size := _number(source):
            yield _block(source, flags, size, where)
        magic = source.up_to(len(_MAGIC))


def _read_header(source: ExactReader, where: str) -> int:
    """Checks a header (``read_header`` of lzop), and gives its flags."""
    head = source.exact(12)
    version, _, needed = (int.from_bytes(head[at : at + 2], "big") for at in (0, 2, 4))
    method, flags = head[6], int.from_bytes(head[8:], "big")
    if version < _OLDEST or needed > _NEWEST or method not in _METHODS or flags & _FILTER:
        raise NotSupportedError(
            f"{where} was written by lzop {version:#06x}, to be read by {needed:#06x}, with method {method} and flags "
            f"{flags:#x}; expected {_OLDEST:#06x} or later, at most {_NEWEST:#06x}, LZO and no filter: write it anew"
        )
    # Mode, time in two parts, and the name behind its length.
    head += source.exact(13)
    head += source.exact(head[-1])
    found, known = _number(source), zlib.crc32(head) if flags & _CRC_OF_HEADER else zlib.adler32(head)
    if found != known:
        raise CorruptFileError(
            f"{where} has a header of lzop with the checksum {known:08x}, and {found:08x} is written"
        )
    if flags & _EXTRA_FIELD:
        # Its own checksum is behind it.
        source.exact(_number(source))
        source.exact(4)
    return flags


def _block(source: ExactReader, flags: int, size: int, where: str) -> bytes:
    compressed = _number(source)
    if size > _MOST_BLOCK or not 0 < compressed <= size:
        raise CorruptFileError(
            f"{where} has a block of lzop of {size} bytes, compressed to {compressed}; at most {_MOST_BLOCK} are read, "
            "compressed to no more"
        )
    checks = [_number(source) if flags & flag else None for flag in (_ADLER_OF_DATA, _CRC_OF_DATA)]
    if compressed == size:
        # Stored as it is: there are no checksums of compressed data.
        data = source.exact(size)
    else:
        packed = [_number(source) if flags & flag else None for flag in (_ADLER_OF_COMPRESSED, _CRC_OF_COMPRESSED)]
        chunk = source.exact(compressed)
        _compare(chunk, packed, where)
        data = decompress_lzo(chunk, size, where)
        if len(data) != size:
            raise CorruptFileError(f"{where} has a block of lzop of {len(data)} bytes, and {size} are written")
    _compare(data, checks, where)
    return data


def _compare(data: bytes, checks: list[int | None], where: str) -> None:
    for check, function in zip(checks, (zlib.adler32, zlib.crc32), strict=True):
        if check is not None and function(data) != check:
            raise CorruptFileError(f"{where} has a block of lzop whose checksum does not fit: it is damaged")


def _number(source: ExactReader) -> int:
    return int.from_bytes(source.exact(4), "big")
