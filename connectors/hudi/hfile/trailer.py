"""The trailer of an HFile and its file info, both in protocol buffers' wire format. Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from connector_spi.errors import NotSupportedError
from connectors.hudi.error_codes import HUDI_UNSUPPORTED_HFILE
from connectors.hudi.hfile.block import check_codec, damaged
from connectors.toolkit.codecs.varints import message_fields, read_varint
from connectors.toolkit.storage.byte_source import ByteSource

__all__ = ["HFileTrailer", "parse_file_info", "read_trailer"]

_TRAILER_BYTES = 4096
_MAGIC = b'TRABLK"$'
_INFO_MAGIC = b"PBUF"
_MAJOR_VERSION = 3


@dataclass(frozen=True, slots=True)
class HFileTrailer:
    """Where the parts of the file are (FixedFileTrailer, HFile.proto's FileTrailerProto).

    Attributes:
        load_on_open_offset: First byte of the root index; the meta index and the file info follow it.
        data_index_count: Entries of the root index.
        meta_index_count: Entries of the meta index.
        entry_count: Cells of the file.
        index_levels: Levels of the data index, the root one of them.
        codec: Compression of the blocks.
    """

    load_on_open_offset: int
    data_index_count: int
    meta_index_count: int
    entry_count: int
    index_levels: int
    codec: int


def read_trailer(source: ByteSource, path: str) -> HFileTrailer:
    """Reads the last 4096 bytes of a file.

    Raises:
        CorruptFileError: It is no HFile.
        NotSupportedError: A version, compression or encryption that is not understood.
    """
    data = source.read(max(0, source.size - _TRAILER_BYTES), _TRAILER_BYTES)
    if len(data) < _TRAILER_BYTES or not data.startswith(_MAGIC):
        raise damaged(path, f"no trailer in its last {_TRAILER_BYTES} bytes")
    (version,) = struct.unpack_from(">I", data, _TRAILER_BYTES - 4)
    if version & 0xFFFFFF != _MAJOR_VERSION:
        raise NotSupportedError(
            f"{path}: an HFile of version {version & 0xFFFFFF}, expected {_MAJOR_VERSION}", HUDI_UNSUPPORTED_HFILE
        )
    try:
        length, at = read_varint(data, len(_MAGIC))
        fields = dict(message_fields(data[at : at + length]))
    except ValueError as error:
        raise damaged(path, f"its trailer: {error}") from error
    if 13 in fields:
        raise NotSupportedError(f"{path}: an encrypted HFile", HUDI_UNSUPPORTED_HFILE)
    numbers = {key: value for key, value in fields.items() if isinstance(value, int)}
    codec = numbers.get(12, 2)
    check_codec(codec, path)
    return HFileTrailer(
        load_on_open_offset=numbers.get(2, 0),
        data_index_count=numbers.get(5, 0),
        meta_index_count=numbers.get(6, 0),
        entry_count=numbers.get(7, 0),
        index_levels=numbers.get(8, 1),
        codec=codec,
    )


def parse_file_info(data: bytes, path: str) -> dict[str, bytes]:
    """The names and values of a file info block.

    Raises:
        CorruptFileError: It is none.
    """
    try:
        if not data.startswith(_INFO_MAGIC):
            raise ValueError(f"it begins with {data[:4]!r}, expected {_INFO_MAGIC!r}")
        length, at = read_varint(data, len(_INFO_MAGIC))
        entries = {}
        for number, entry in message_fields(data[at : at + length]):
            if number == 1 and isinstance(entry, bytes):
                pair = dict(message_fields(entry))
                key, value = pair.get(1, b""), pair.get(2, b"")
                if isinstance(key, bytes) and isinstance(value, bytes):
                    entries[key.decode("utf-8")] = value
        return entries
    except ValueError as error:
        raise damaged(path, f"its file info: {error}") from error
