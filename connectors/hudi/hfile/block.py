"""Blocks of an HFile: header, compression, and the small encodings inside (HFileBlock, WritableUtils). Pure."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.error_codes import HUDI_BAD_HFILE, HUDI_UNSUPPORTED_HFILE
from connectors.toolkit.storage.byte_source import ByteSource

__all__ = ["GZIP", "NO_COMPRESSION", "HFileBlock", "check_codec", "damaged", "read_block"]

GZIP = 1
NO_COMPRESSION = 2

_CODECS = {0: "LZO", 1: "GZ", 2: "NONE", 3: "SNAPPY", 4: "LZ4", 5: "BZIP2", 6: "ZSTD"}
# Magic, bytes on disk and uncompressed without header, offset of the block before, checksum type, bytes for each
# checksum, bytes on disk with header and without checksums.
_HEADER = struct.Struct(">8siiqbii")
_GZIP_WINDOW = 31


@dataclass(frozen=True, slots=True)
class HFileBlock:
    """A block, uncompressed.

    Attributes:
        magic: Says what it holds.
        data: Its content.
        end: Offset of the block that follows it.
    """

    magic: bytes
    data: bytes
    end: int


def read_block(source: ByteSource, offset: int, codec: int, magics: tuple[bytes, ...], path: str) -> HFileBlock:
    """Reads the block at an offset.

    Args:
        source: The file.
        offset: First byte of the block.
        codec: ``GZIP`` or ``NO_COMPRESSION``.
        magics: The magics that may stand here.
        path: The file's path, for messages.

    Raises:
        CorruptFileError: There is no such block.
    """
    head = source.read(offset, _HEADER.size) if offset >= 0 else b""
    if len(head) < _HEADER.size:
        raise damaged(path, f"no block at byte {offset}")
    magic, on_disk, uncompressed, _, _, _, data_end = _HEADER.unpack(head)
    if magic not in magics:
        raise damaged(path, f"a block {magic!r} at byte {offset}, expected {' or '.join(map(repr, magics))}")
    # The checksums follow the data; what is compressed ends before them.
    if not _HEADER.size <= data_end <= _HEADER.size + on_disk or uncompressed < 0:
        raise damaged(path, f"the block at byte {offset} says lengths {on_disk}, {uncompressed} and {data_end}")
    data = source.read(offset + _HEADER.size, data_end - _HEADER.size)
    if len(data) != data_end - _HEADER.size:
        raise damaged(path, f"the file ends in the block at byte {offset}")
    data = _gunzip(data, uncompressed, offset, path) if codec == GZIP else data[:uncompressed]
    if len(data) != uncompressed:
        raise damaged(path, f"the block at byte {offset} has {len(data)} bytes, expected {uncompressed}")
    return HFileBlock(magic, data, offset + _HEADER.size + on_disk)


def check_codec(codec: int, path: str) -> None:
    """Refuses a compression that is not understood.

    Raises:
        NotSupportedError: It is neither gzip nor none.
    """
    if codec not in (GZIP, NO_COMPRESSION):
        raise NotSupportedError(
            f"{path}: an HFile compressed by {_CODECS.get(codec, f'codec {codec}')}, expected GZ or NONE; set "
            "hoodie.hfile.compression.algorithm to GZ and let Hudi compact it",
            HUDI_UNSUPPORTED_HFILE,
        )


def damaged(path: str, what: str) -> CorruptFileError:
    """An error of a file that makes no sense."""
    return CorruptFileError(f"{path} is a damaged HFile: {what}; restore the file", HUDI_BAD_HFILE)


def _gunzip(data: bytes, uncompressed: int, offset: int, path: str) -> bytes:
    try:
        # No more than the header says, and one byte to notice that there is more. The checksum stands at the end.
        stream = zlib.decompressobj(_GZIP_WINDOW)
        unzipped = stream.decompress(data, uncompressed + 1)
        if not stream.eof:
            raise damaged(path, f"the block at byte {offset} holds more than {uncompressed} bytes, or is cut off")
        return unzipped
    except zlib.error as error:
        raise damaged(path, f"the block at byte {offset} cannot be unzipped ({error})") from error
