"""The blocks of log files: what their headers say. Pure.

A file is a sequence of blocks; all numbers are big-endian (HoodieLogFormatWriter):

    magic "#HUDI#" · long: bytes of the block after this number · int: log format version · int: block type
    · header map · long: bytes of content · content · footer map · long: bytes of the whole block, magic included

A map is an int count, and for each entry an int key, an int length and UTF-8 text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from connector_spi.errors import CorruptFileError, NotSupportedError
from connectors.hudi.error_codes import HUDI_BAD_LOG_FILE, HUDI_UNSUPPORTED_LOG_BLOCK

__all__ = ["MAGIC", "BlockType", "HeaderKey", "LogBlock", "damaged"]

MAGIC = b"#HUDI#"
LOG_FORMAT_VERSION = 1
ROLLBACK_COMMAND = "0"


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


def damaged(where: str, what: str) -> CorruptFileError:
    """An error of a log file, or of a block in it, that makes no sense."""
    return CorruptFileError(f"{where}: {what}; restore the file", HUDI_BAD_LOG_FILE)
