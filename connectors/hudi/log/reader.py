"""Reads the frames of a log file from storage, and the content of a block. Executor side."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from connector_spi.errors import CorruptFileError
from connectors.hudi.error_codes import HUDI_BAD_LOG_FILE
from connectors.hudi.log.block import LogBlock
from connectors.hudi.log.block_parser import parse_log_blocks
from connectors.toolkit.storage.byte_source import FileSource
from connectors.toolkit.storage.filesystem import storage_errors

__all__ = ["BlockContent", "block_content", "read_log_blocks"]


def read_log_blocks(file: pa.NativeFile, path: str, size: int | None = None) -> Iterator[LogBlock]:
    """The blocks of a log file in order, without their content; see ``parse_log_blocks``.

    Args:
        file: The open file.
        path: Its path, for messages.
        size: Bytes of it that count, as the planner saw it: a writer may be appending.

    Raises:
        CorruptFileError: The file is shorter than planned, is no log file, or holds a damaged block.
        NotSupportedError: A block that is not understood.
        StorageError: Storage failed.
    """
    with storage_errors(path):
        source = FileSource(file, size)
        if size is not None and source.size < size:
            raise CorruptFileError(
                f"{path} has {source.size} bytes, and had {size} when the query was planned; run the query again",
                HUDI_BAD_LOG_FILE,
            )
        yield from parse_log_blocks(source, path)


class BlockContent:
    """The content of a block, read from the file piece by piece.

    Args:
        file: The open file that the block is of.
        block: One of ``read_log_blocks``.

    Attributes:
        size: Bytes in all.
    """

    def __init__(self, file: pa.NativeFile, block: LogBlock) -> None:
        self._file = file
        self._block = block
        self.size = block.content_length

    def slice(self, offset: int, length: int) -> pa.Buffer:
        """Some bytes of it.

        Raises:
            CorruptFileError: The file has become shorter.
            StorageError: Storage failed.
        """
        with storage_errors(self._block.path):
            self._file.seek(self._block.content_offset + offset)
            content = self._file.read_buffer(length)
        if content.size != length:
            raise CorruptFileError(
                f"{self._block.path} ends in the block at byte {self._block.offset}; it was cut off while it was read",
                HUDI_BAD_LOG_FILE,
            )
        return content


def block_content(file: pa.NativeFile, block: LogBlock) -> pa.Buffer:
    """The content of a block.

    Args:
        file: The open file that the block is of.
        block: One of ``read_log_blocks``.

    Raises:
        CorruptFileError: The file has become shorter.
        StorageError: Storage failed.
    """
    return BlockContent(file, block).slice(0, block.content_length)
