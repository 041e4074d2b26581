"""Bytes at offsets, from memory or from a file."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

__all__ = ["ByteSource", "FileSource", "MemorySource"]

_WINDOW = 1 << 16


class ByteSource(Protocol):
    """Bytes that can be read at any offset."""

    @property
    def size(self) -> int:
        """Number of bytes."""

    def read(self, offset: int, length: int) -> bytes:
        """The bytes from ``offset`` on; fewer than ``length`` only at the end, none behind it."""


class MemorySource:
    """Bytes in memory.

    Args:
        data: The bytes; not copied.
    """

    def __init__(self, data: bytes | pa.Buffer) -> None:
        self._view = memoryview(data)

    @property
    def size(self) -> int:
        return len(self._view)

    def read(self, offset: int, length: int) -> bytes:
        return bytes(self._view[offset : offset + max(length, 0)])


class FileSource:
    """Bytes of an open file; keeps the stretch that was read last, so that small steps cost one request.

    Args:
        file: The file; the caller closes it.
        size: Bytes that count, as listed: a writer may be appending. All of the file by default.
        window: Bytes that one request asks for at least.
    """

    def __init__(self, file: pa.NativeFile, size: int | None = None, window: int = _WINDOW) -> None:
        self._file = file
        self._size = int(file.size()) if size is None else min(size, int(file.size()))
        self._window = window
        self._start = 0
        self._held = b""

    @property
    def size(self) -> int:
        return self._size

    def read(self, offset: int, length: int) -> bytes:
        wanted = max(0, min(length, self._size - offset))
        if not self._start <= offset <= offset + wanted <= self._start + len(self._held):
            asked = min(max(wanted, self._window), self._size - offset) if wanted else 0
            self._held = self._file.read_at(asked, offset) if asked else b""
            self._start = offset
        begin = offset - self._start
        return self._held[begin : begin + wanted]
