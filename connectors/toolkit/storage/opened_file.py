"""Files that are opened for an engine's own reader, in the process of the engine."""

from __future__ import annotations

import threading

import pyarrow as pa

from connector_spi.errors import StorageError
from connector_spi.handles import NativeFile
from connectors.toolkit.storage.filesystem import FileSystem, storage_errors

__all__ = ["StorageFile", "open_native_file"]


def open_native_file(files: FileSystem, file: NativeFile) -> StorageFile:
    """Opens the file of a split.

    Args:
        files: Storage, with the settings of the catalog.
        file: The file, as it was listed.

    Raises:
        FileMissingError: It is not there any more.
        StorageError: Storage refused, or it has another size than when it was listed.
    """
    opened = files.open(file.path)
    try:
        with storage_errors(file.path):
            size = opened.size()
        if size != file.file_size:
            raise StorageError(
                f"{file.path} has {size:,} bytes, and had {file.file_size:,} when it was listed: it was replaced; "
                "run the query again"
            )
    except BaseException:
        opened.close()
        raise
    return StorageFile(file.path, opened, has_lock=not files.reads_at_once(file.path))


class StorageFile:
    """An open file that several threads may read, as ``OpenedFile``.

    Args:
        path: Of the file, for messages.
        file: The open file.
        has_lock: It is read by one thread at a time.
    """

    def __init__(self, path: str, file: pa.NativeFile, *, has_lock: bool) -> None:
        self._path = path
        self._file = file
        self._lock = threading.Lock() if has_lock else None

    def read_at(self, offset: int, length: int) -> bytes:
        with storage_errors(self._path):
            found = self._read(offset, length)
        if len(found) != length:
            raise StorageError(
                f"{self._path} gave {len(found):,} bytes at offset {offset:,}, and {length:,} were expected: it was "
                "replaced while it was read; run the query again"
            )
        return found

    def close(self) -> None:
        self._file.close()

    def _read(self, offset: int, length: int) -> bytes:
        if self._lock is None:
            found: bytes = self._file.read_at(length, offset)
            return found
        with self._lock:
            # Of files that come through Python ``read_at`` is no single step.
            self._file.seek(offset)
            found = self._file.read(length)
            return found
