"""The first bytes of a file as a file of its own. Executor side."""

from __future__ import annotations

import io

import pyarrow as pa

from connector_spi.errors import CorruptFileError

__all__ = ["file_head"]


def file_head(file: pa.NativeFile, size: int, path: str) -> pa.NativeFile:
    """A file that ends after ``size`` bytes of another.

    Args:
        file: An open file; it has to stay open.
        size: Bytes that count. A writer may be adding more.
        path: Names it for the message.

    Returns:
        The file itself where it has no more.

    Raises:
        CorruptFileError: It has less.
    """
    found = file.size()
    if found < size:
        raise CorruptFileError(f"{path} has {found} bytes, and {size} were there when the query was planned")
    return file if found == size else pa.PythonFile(_Head(file, size), mode="r")


class _Head(io.RawIOBase):
    def __init__(self, file: pa.NativeFile, size: int) -> None:
        super().__init__()
        self._file = file
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._size - self._position)
        count = left if size is None or size < 0 else min(size, left)
        content: bytes = self._file.read_at(count, self._position) if count else b""
        self._position += len(content)
        return content
