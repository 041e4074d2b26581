"""The framing of log files: where blocks begin and end, and what their headers say. Pure.

A file is a sequence of blocks; all numbers are big-endian (HoodieLogFormatWriter):

    magic "#HUDI#" · long: bytes of the block after this number · int: log format version · int: block type
    · header map · long: bytes of content · content · footer map · long: bytes of the whole block, magic included

A map is an int count, and for each entry an int key, an int length and UTF-8 text.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.error_codes import HUDI_BAD_LOG_FILE, HUDI_UNSUPPORTED_LOG_BLOCK
from connectors.toolkit.storage.byte_source import ByteSource

__all__ = ["MAGIC", "BlockType", "HeaderKey", "LogBlock", "damaged", "parse_log_blocks"]

MAGIC = b"#HUDI#"
LOG_FORMAT_VERSION = 1
ROLLBACK_COMMAND = "0"

_PARQUET_MAGIC = b"PAR1"
_LONG = struct.Struct(">q")
_INT = struct.Struct(">i")
_TWO_INTS = struct.Struct(">ii")
_SCAN_STEP = 1 << 16


class BlockType(IntEnum):
    """What a block holds (HoodieLogBlockType); the number is the one on disk."""

    COMMAND = 0
    DELETE = 1
    CORRUPT = 2
    """Never written: stands for bytes that are no whole block."""
    AVRO_DATA = 3
    HFILE_DATA = 4
    PARQUET_DATA = 5
    CDC_DATA = 6

    @property
    def has_rows(self) -> bool:
        """Whether the block holds rows of the table."""
        return self in (BlockType.AVRO_DATA, BlockType.HFILE_DATA, BlockType.PARQUET_DATA)


class HeaderKey(IntEnum):
    """Keys of the header map (HeaderMetadataType)."""

    INSTANT_TIME = 0
    TARGET_INSTANT_TIME = 1
    SCHEMA = 2
    COMMAND_BLOCK_TYPE = 3
    COMPACTED_BLOCK_TIMES = 4
    RECORD_POSITIONS = 5
    BLOCK_IDENTIFIER = 6
    IS_PARTIAL = 7
    BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS = 8


@dataclass(frozen=True, slots=True)
class LogBlock:
    """One block of a log file, without its content.

    Attributes:
        type: What it holds.
        path: The file, for messages.
        offset: First byte of the block's magic; of a corrupt stretch, its first byte.
        length: Bytes of the block, magic included.
        content_offset: First byte of the content in the file.
        content_length: Bytes of content.
        version: Log format version; 0 for a corrupt stretch.
        headers: Header texts by ``HeaderKey``; keys of later versions by their number.
        footers: Footer texts by number.
        reason: Of a corrupt stretch: what is wrong with it.
    """

    type: BlockType
    path: str
    offset: int
    length: int
    content_offset: int = 0
    content_length: int = 0
    version: int = LOG_FORMAT_VERSION
    headers: Mapping[int, str] = field(default_factory=dict)
    footers: Mapping[int, str] = field(default_factory=dict)
    reason: str = ""

    @property
    def where(self) -> str:
        """Names the block, for messages."""
        return f"{self.path}, byte {self.offset}"

    @property
    def instant_time(self) -> str:
        """Requested time of the write that made the block.

        Raises:
            CorruptFileError: The header lacks it.
        """
        return self._required(HeaderKey.INSTANT_TIME)

    @property
    def schema(self) -> str | None:
        """Avro schema of the rows, as JSON; of a delete block, of the table's rows where it is recorded."""
        return self.headers.get(HeaderKey.SCHEMA)

    @property
    def rolled_back_instant(self) -> str:
        """Of a command block: the write whose blocks before this one no longer count.

        Raises:
            NotSupportedError: It is another command.
            CorruptFileError: The header lacks it.
        """
        command = self.headers.get(HeaderKey.COMMAND_BLOCK_TYPE)
        if command != ROLLBACK_COMMAND:
            raise NotSupportedError(
                f"{self.where}: command block {command!r} is not understood, expected "
                f"{ROLLBACK_COMMAND!r} (rollback); read the table with a newer version, or compact it with Hudi",
                HUDI_UNSUPPORTED_LOG_BLOCK,
            )
        return self._required(HeaderKey.TARGET_INSTANT_TIME)

    @property
    def compacted_instants(self) -> tuple[str, ...]:
        """The writes whose blocks a log compaction merged into this block; empty for an ordinary block."""
        text = self.headers.get(HeaderKey.COMPACTED_BLOCK_TIMES)
        return tuple(part.strip() for part in text.split(",") if part.strip()) if text is not None else ()

    @property
    def is_partial(self) -> bool:
        """Whether the rows hold the updated columns only."""
        return self.headers.get(HeaderKey.IS_PARTIAL, "").strip().lower() == "true"

    @property
    def positions_base_instant(self) -> str | None:
        """Instant of the base file that the record positions count rows of; ``None`` without positions."""
        if HeaderKey.RECORD_POSITIONS not in self.headers:
            return None
        return self.headers.get(HeaderKey.BASE_FILE_INSTANT_TIME_OF_RECORD_POSITIONS)

    def _required(self, key: HeaderKey) -> str:
        text = self.headers.get(key)
        if not text:
            raise damaged(self.where, f"a {self.type.name} block without {key.name} in its header")
        return text


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


def damaged(where: str, what: str) -> CorruptFileError:
    """An error of a log file, or of a block in it, that makes no sense."""
    return CorruptFileError(f"{where}: {what}; restore the file", HUDI_BAD_LOG_FILE)


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
    return LogBlock(BlockType.CORRUPT, path, offset, length, offset, length, version=0, reason=reason)


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
    return LogBlock(kinds[number], path, offset, frame.end - offset, content, length, version, headers, footers)


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
