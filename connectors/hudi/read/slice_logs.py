"""The log files of a file slice, read from storage. Executor side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from types import TracebackType

import pyarrow as pa

from connectors.hudi.handles import LogFile
from connectors.hudi.log.block import LogBlock
from connectors.hudi.log.reader import BlockContent, read_log_blocks
from connectors.toolkit.avro.records import ByteRange
from connectors.toolkit.storage.filesystem import FileSystem, storage_errors

__all__ = ["SliceLogs"]


class SliceLogs:
    """The log files of a file slice; each is opened once, and a small one is read in one request.

    Args:
        files: Storage.
        logs: The files, in the order of merging.
        keep_bytes: Bytes of small files that may be held until their blocks are decoded.
    """

    def __init__(self, files: FileSystem, logs: Sequence[LogFile], keep_bytes: int) -> None:
        self._files = files
        self._logs = logs
        self._room = keep_bytes
        self._opened: dict[str, pa.NativeFile] = {}
        self._stack = ExitStack()

    def __enter__(self) -> SliceLogs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def blocks(self) -> Iterator[LogBlock]:
        """The blocks of all files in order, without their contents; errors as of ``read_log_blocks``."""
        for log in self._logs:
            if log.size:
                yield from read_log_blocks(self._open(log), log.path, log.size)

    def content(self, block: LogBlock) -> ByteRange:
        """The content of one of the blocks."""
        return BlockContent(self._opened[block.path], block)

    def _open(self, log: LogFile) -> pa.NativeFile:
        file = self._files.open(log.path)
        if log.size <= self._room:
            self._room -= log.size
            with file, storage_errors(log.path):
                # What a writer appended since is not read; a file that is too short is refused by its reader.
                file = pa.BufferReader(file.read_buffer(log.size))
        self._opened[log.path] = self._stack.enter_context(file)
        return file
