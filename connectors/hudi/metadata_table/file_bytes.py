"""Bytes of the metadata table's files, kept across queries by path, size and modification time. Driver side.

Such a file is written once. In timeline layout 1 a log may grow: then it has another size.
"""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.errors import CorruptFileError
from connectors.hudi.error_codes import HUDI_BAD_LOG_FILE
from connectors.hudi.file_group.slices import DataFile
from connectors.hudi.snapshots.table_memory import TableMemory
from connectors.hudi.transaction import MemoKey
from connectors.toolkit.storage.filesystem import FileSystem

__all__ = ["KeptFile"]

_WHOLE_FILE = 1 << 20
"""Up to this size a file is fetched in one request; of a greater one the pages that are needed."""
_PAGE = 1 << 18


@dataclass(frozen=True, slots=True)
class _PageKey(MemoKey[bytes]):
    files: FileSystem
    file: DataFile
    number: int


class KeptFile:
    """A file as a source of bytes; opened where a page of it is not kept.

    Args:
        files: Storage.
        file: As it was listed; what was appended since is not read.
        memory: Keeps its pages.
    """

    def __init__(self, files: FileSystem, file: DataFile, memory: TableMemory) -> None:
        self._files = files
        self._file = file
        self._memory = memory
        self._page_size = max(1, file.size) if file.size <= _WHOLE_FILE else _PAGE
        self._last: tuple[int, bytes] | None = None

    @property
    def size(self) -> int:
        return self._file.size

    def read(self, offset: int, length: int) -> bytes:
        end = min(offset + length, self.size)
        if end <= offset:
            return b""
        first, last = offset // self._page_size, (end - 1) // self._page_size
        start = first * self._page_size
        pages = [self._page(number) for number in range(first, last + 1)]
        return (pages[0] if len(pages) == 1 else b"".join(pages))[offset - start : end - start]

    def _page(self, number: int) -> bytes:
        if self._last is None or self._last[0] != number:
            self._last = number, self._kept_page(number)
        return self._last[1]

    def _kept_page(self, number: int) -> bytes:
        if not self._file.modified_millis:
            return self._fetch(number)
        return self._memory.of_any_table(_PageKey(self._files, self._file, number), lambda: self._fetch(number))

    def _fetch(self, number: int) -> bytes:
        start = number * self._page_size
        length = min(self._page_size, self.size - start)
        with self._files.open(self._file.path) as opened:
            page = bytes(opened.read_at(length, start))
        if len(page) < length:
            raise CorruptFileError(
                f"{self._file.path} has {start + len(page)} bytes, expected {self.size}", HUDI_BAD_LOG_FILE
            )
        return page
