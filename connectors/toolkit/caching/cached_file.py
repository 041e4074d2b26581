"""A file on far storage whose blocks are kept on a local disk. Both sides."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

import pyarrow as pa

from connectors.toolkit.caching.block_store import BlockStore

__all__ = ["BLOCK_BYTES", "cached_file"]

BLOCK_BYTES = 1 << 20
"""As Trino's ``fs.cache.page-size``."""


def cached_file(store: BlockStore, identity: str, size: int, open_file: Callable[[], pa.NativeFile]) -> pa.NativeFile:
    """A file whose blocks come from a store, as far as it holds them.

    Args:
        store: The store.
        identity: Tells the file, and these bytes of it, from all others.
        size: Bytes of the file.
        open_file: Opens the file itself; called once a block is missing.
    """
    return pa.PythonFile(_CachedFile(store, identity, size, open_file), mode="r")


class _CachedFile:
    def __init__(self, store: BlockStore, identity: str, size: int, open_file: Callable[[], pa.NativeFile]) -> None:
        self._store = store
        self._identity = identity
        self._size = size
        self._open_file = open_file
        self._file: pa.NativeFile | None = None
        self._last: tuple[int, bytes] = (-1, b"")
        self._position = 0
        self._lock = threading.RLock()
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        with self._lock:
            end = self._size if size < 0 else min(self._position + size, self._size)
            if self._position >= end:
                return b""
            found = self._range(self._position, end)
            self._position = end
            return found

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with self._lock:
            base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
            self._position = max(base + offset, 0)
            return self._position

    def tell(self) -> int:
        return self._position

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        with self._lock:
            self.closed = True
            self._last = (-1, b"")
            if self._file is not None:
                self._file.close()

    def _range(self, start: int, end: int) -> bytes:
        first, last = start // BLOCK_BYTES, (end - 1) // BLOCK_BYTES
        found = {number: self._held(number) for number in range(first, last + 1)}
        missing = [number for number, block in found.items() if block is None]
        if missing:
            # One request, though some blocks between are known.
            found.update(self._fetched(missing[0], missing[-1], set(missing)))
        blocks = [found[number] or b"" for number in range(first, last + 1)]
        self._last = last, blocks[-1]
        if len(blocks) == 1:
            return blocks[0][start - first * BLOCK_BYTES : end - first * BLOCK_BYTES]
        blocks[0] = blocks[0][start - first * BLOCK_BYTES :]
        blocks[-1] = blocks[-1][: end - last * BLOCK_BYTES]
        return b"".join(blocks)

    def _held(self, number: int) -> bytes | None:
        if self._last[0] == number:
            return self._last[1]
        block = self._store.get(self._key(number))
        return block if block is not None and len(block) == self._length(number) else None

    def _fetched(self, first: int, last: int, missing: set[int]) -> dict[int, bytes]:
        if self._file is None:
            self._file = self._open_file()
        start = first * BLOCK_BYTES
        length = min((last + 1) * BLOCK_BYTES, self._size) - start
        self._file.seek(start)
        content = self._file.read(length)
        if len(content) != length:
            raise OSError(f"the file ended {length - len(content)} bytes before its size, {self._size}")
        found = {
            number: content[number * BLOCK_BYTES - start :][: self._length(number)] for number in range(first, last + 1)
        }
        for number in sorted(missing):
            self._store.put(self._key(number), found[number])
        return found

    def _length(self, number: int) -> int:
        return min(BLOCK_BYTES, self._size - number * BLOCK_BYTES)

    def _key(self, number: int) -> str:
        return f"{self._identity} {number}"
