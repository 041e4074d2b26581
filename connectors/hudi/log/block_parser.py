"""Finding the blocks of a log file, damaged stretches among them. Pure."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.error_codes import HUDI_UNSUPPORTED_LOG_BLOCK
from connectors.hudi.log.block import LOG_FORMAT_VERSION, MAGIC, BlockType, LogBlock, damaged
from connectors.toolkit.storage.byte_source import ByteSource

__all__ = ["parse_log_blocks"]

_PARQUET_MAGIC = b"PAR1"
_LONG = struct.Struct(">q")
_INT = struct.Struct(">i")
_TWO_INTS = struct.Struct(">ii")
_SCAN_STEP = 1 << 16


def parse_log_blocks(source: ByteSource, path: str) -> Iterator[LogBlock]:
    """Finds the blocks of a log file, in order; reads headers, not contents.

    Bytes that are no whole block come as a block of type ``CORRUPT`` (HoodieLogFileReader.isBlockCorrupted): a
    writer that crashed leaves such, and appends behind them. A block is whole when it ends before the file does,
    its last 8 bytes repeat its length, and the magic or the end of the file follows.

    Args:
        source: The file.
        path: Its path, for messages.

    Raises:
        CorruptFileError: The file is no log file, or a whole block makes no sense.
        NotSupportedError: A log format or block type that is not understood.
    """
    _check_start(source, path)
    offset = 0
    while offset < source.size:
        reason = _defect(source, offset)
        block = _read_block(source, offset, path) if reason is None else _corrupt(source, offset, path, reason)
        yield block
        offset += block.length


def _check_start(source: ByteSource, path: str) -> None:
    start = source.read(0, len(MAGIC))
    if start[: len(_PARQUET_MAGIC)] == _PARQUET_MAGIC:
        raise NotSupportedError(
            f"{path} is a Parquet file named like a log file (Hudi's native log format, RFC-103), which is not "
            "understood; compact the table with Hudi",
            HUDI_UNSUPPORTED_LOG_BLOCK,
        )
    # A crash can leave the first bytes of the magic alone.
    if start != MAGIC[: len(start)]:
        raise damaged(path, f"no log file: it begins with {start!r}, expected {MAGIC!r}")


def _defect(source: ByteSource, offset: int) -> str | None:
    """What is wrong with the frame of the block at ``offset``; ``None`` if nothing is."""
    head = source.read(offset, len(MAGIC) + _LONG.size)
    if len(head) < len(MAGIC) + _LONG.size:
        return "the file ends in its first 14 bytes"
    if not head.startswith(MAGIC):
        return f"no magic: {head[: len(MAGIC)]!r}"
    start = offset + len(head)
    (length,) = _LONG.unpack_from(head, len(MAGIC))
    end = start + length
    if length < _LONG.size or end > source.size:
        return f"its length is {length}, and {source.size - start} bytes follow"
    tail = source.read(end - _LONG.size, _LONG.size + len(MAGIC))
    (pointer,) = _LONG.unpack_from(tail)
    if pointer - len(MAGIC) != length:
        return f"its length is {length} at its start and {pointer - len(MAGIC)} at its end"
    following = tail[_LONG.size :]
    # Fewer bytes than a magic are the end of the file to Hudi, too.
    if len(following) == len(MAGIC) and following != MAGIC:
        return f"{following!r} follows it, which begins no block"
    return None


def _corrupt(source: ByteSource, offset: int, path: str, reason: str) -> LogBlock:
    length = _next_magic(source, offset + 1) - offset
    return LogBlock(
        type=BlockType.CORRUPT,
        path=path,
        offset=offset,
        length=length,
        content_offset=offset,
        content_length=length,
        version=0,
        reason=reason,
    )


def _next_magic(source: ByteSource, offset: int) -> int:
    while offset < source.size:
        stretch = source.read(offset, _SCAN_STEP)
        found = stretch.find(MAGIC)
        if found >= 0:
            return offset + found
        if offset + len(stretch) >= source.size:
            break
        offset += len(stretch) - len(MAGIC) + 1
    return source.size


def _read_block(source: ByteSource, offset: int, path: str) -> LogBlock:
    frame = _Frame(source, offset, path)
    version = frame.number()
    if version != LOG_FORMAT_VERSION:
        raise NotSupportedError(
            f"{path}, byte {offset}: log format version {version}, expected {LOG_FORMAT_VERSION}; compact the table "
            "with Hudi",
            HUDI_UNSUPPORTED_LOG_BLOCK,
        )
    number = frame.number()
    kinds = {int(kind): kind for kind in BlockType if kind is not BlockType.CORRUPT}
    if number not in kinds:
        raise NotSupportedError(
            f"{path}, byte {offset}: block type {number} is not understood; compact the table with Hudi, or have it "
            "write Avro, Parquet or HFile blocks (hoodie.logfile.data.block.format)",
            HUDI_UNSUPPORTED_LOG_BLOCK,
        )
    headers = frame.texts()
    length = frame.long_number()
    content = frame.at
    frame.skip(length)
    footers = frame.texts()
    frame.finish()
    return LogBlock(
        type=kinds[number],
        path=path,
        offset=offset,
        length=frame.end - offset,
        content_offset=content,
        content_length=length,
        version=version,
        headers=headers,
        footers=footers,
    )


class _Frame:
    """Reads on within one block whose frame is whole."""

    def __init__(self, source: ByteSource, offset: int, path: str) -> None:
        self._source = source
        self._offset = offset
        self._path = path
        self.at = offset + len(MAGIC) + _LONG.size
        (length,) = _LONG.unpack(source.read(offset + len(MAGIC), _LONG.size))
        self.end = self.at + length

    def take(self, length: int) -> bytes:
        start = self.at
        self.skip(length)
        return self._source.read(start, length)

    def skip(self, length: int) -> None:
        # The last 8 bytes repeat the block's length.
        if not 0 <= length <= self.end - _LONG.size - self.at:
            raise self._error(f"{length} bytes at byte {self.at} do not fit into the block")
        self.at += length

    def number(self) -> int:
        return int(_INT.unpack(self.take(_INT.size))[0])

    def long_number(self) -> int:
        return int(_LONG.unpack(self.take(_LONG.size))[0])

    def texts(self) -> dict[int, str]:
        count = self.number()
        if count < 0:
            raise self._error(f"a map of {count} entries")
        entries: dict[int, str] = {}
        for _ in range(count):
            key, length = _TWO_INTS.unpack(self.take(_TWO_INTS.size))
            try:
                entries[key] = self.take(length).decode("utf-8")
            except UnicodeDecodeError as error:
                raise self._error(f"the text of header {key} is not UTF-8") from error
        return entries

    def finish(self) -> None:
        if self.at != self.end - _LONG.size:
            raise self._error(f"{self.end - _LONG.size - self.at} bytes lie behind its footer")

    def _error(self, what: str) -> CorruptFileError:
        return damaged(self._path, f"the block at byte {self._offset} is damaged: {what}")
