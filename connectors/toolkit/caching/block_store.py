"""Blocks of files on local disks, bounded in bytes, checked by a checksum, for any number of processes. Both sides.

Each block is a file of its own, written elsewhere and then renamed, so that no process sees half of one. What all
processes together hold of a directory stands in one small file, which is changed under a lock of the system (``flock``,
which ends with its process). A block that is asked for gets the time of its use; the longest unused go first.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from connector_spi.errors import StorageError
from connectors.toolkit.caching.cache_state import CacheState

__all__ = ["BlockStore", "StoreDirectory"]

_MAGIC = b"LPBLOCK1"
_HEADER_BYTES = len(_MAGIC) + 4 + 32
_KEPT_PART = 0.9
"""What is left after the longest unused were deleted, so that not each block has others deleted."""


@dataclass(frozen=True, slots=True)
class StoreDirectory:
    """Where blocks lie.

    Attributes:
        path: The directory; it is made, for this user alone, where it is missing.
        max_bytes: Most bytes of all files in it.
    """

    path: str
    max_bytes: int


class BlockStore:
    """Blocks in one directory or several, each of which holds its share. Used by several threads and processes.

    Args:
        directories: At least one.
    """

    def __init__(self, directories: tuple[StoreDirectory, ...]) -> None:
        self._directories = [_Directory(one) for one in directories]
        self._lock = threading.Lock()
        self._hits = self._misses = self._evictions = 0

    def get(self, key: str) -> bytes | None:
        """The block of a key; ``None`` where it is not held, or is damaged: it is deleted then."""
        digest = hashlib.sha256(key.encode()).digest()
        found = self._of(digest).read(digest)
        with self._lock:
            self._hits += found is not None
            self._misses += found is None
        return found

    def put(self, key: str, block: bytes) -> None:
        """Holds a block. Where the disk refuses, nothing is held: the block was read anyway."""
        digest = hashlib.sha256(key.encode()).digest()
        with suppress(OSError):
            evicted = self._of(digest).write(digest, block)
            with self._lock:
                self._evictions += evicted

    def flush(self) -> int:
        """Deletes all blocks; returns how many."""
        return sum(one.clear() for one in self._directories)

    @property
    def state(self) -> CacheState:
        """What it holds now, for all processes; hits and misses are of this one."""
        held = [one.held() for one in self._directories]
        entries, size = sum(count for count, _ in held), sum(size for _, size in held)
        with self._lock:
            return CacheState(
                "file-blocks",
                entries,
                bytes=size,
                hits=self._hits,
                misses=self._misses,
                evictions=self._evictions,
            )

    def _of(self, digest: bytes) -> _Directory:
        return self._directories[digest[0] % len(self._directories)]


class _Directory:
    def __init__(self, given: StoreDirectory) -> None:
        self._max_bytes = given.max_bytes
        self._root = Path(given.path) / "lakeport-blocks-1"
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            about = self._root.stat()
        except OSError as error:
            raise StorageError(
                f"blocks of files cannot be kept in {given.path}: {error.strerror}; give fs.cache.directories a "
                "directory that this user may write to, or set fs.cache.enabled=false"
            ) from error
        if about.st_uid != os.getuid() or about.st_mode & 0o022:
            raise StorageError(
                f"{self._root} can be changed by others, who could put rows into tables: give fs.cache.directories a "
                "directory of this user's own"
            )

    def read(self, digest: bytes) -> bytes | None:
        path = self._path(digest)
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        block = content[_HEADER_BYTES:]
        if content[:_HEADER_BYTES] == _header(digest, block):
            return block
        with self._counted() as held, suppress(OSError):
            size = path.stat().st_size
            path.unlink()
            held.remove(size)
        return None

    def write(self, digest: bytes, block: bytes) -> int:
        """Returns how many blocks were deleted for it."""
        path, size = self._path(digest), _HEADER_BYTES + len(block)
        if size > self._max_bytes or path.exists():
            return 0
        with self._counted() as held:
            evicted = 0
            if held.size + size > self._max_bytes:
                evicted = self._evict(held, int(self._max_bytes * _KEPT_PART) - size)
            if held.size + size > self._max_bytes:
                return evicted
            # Under the lock, so that the count is right whenever another process deletes.
            path.parent.mkdir(mode=0o700, exist_ok=True)
            made = path.parent / f"{uuid4().hex}.new"
            try:
                made.write_bytes(_header(digest, block) + block)
                if not path.exists():
                    held.add(size)
                made.replace(path)
            finally:
                with suppress(OSError):
                    made.unlink(missing_ok=True)
        return evicted

    def clear(self) -> int:
        with self._counted() as held:
            return self._evict(held, 0)

    def held(self) -> tuple[int, int]:
        """Number of blocks, and their bytes."""
        with self._counted() as held:
            return held.count, held.size

    def _evict(self, held: _Held, most: int) -> int:
        """Deletes the longest unused until so many bytes are left at most; also counts what is there anew."""
        found: list[tuple[float, int, str]] = []
        for folder in os.scandir(self._root):
            if folder.is_dir(follow_symlinks=False):
                for file in os.scandir(folder.path):
                    with suppress(OSError):
                        about = file.stat(follow_symlinks=False)
                        found.append((about.st_mtime, about.st_size, file.path))
        held.count, held.size = len(found), sum(size for _, size, _ in found)
        evicted = 0
        for _, size, path in sorted(found):
            if held.size <= most:
                break
            with suppress(OSError):
                os.unlink(path)
                held.remove(size)
                evicted += 1
        return evicted

    @contextmanager
    def _counted(self) -> Iterator[_Held]:
        """What is held, in one process and thread at a time; what became of it is written back."""
        descriptor = os.open(self._root / "held", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            held = _Held.parse(os.pread(descriptor, 100, 0))
            if held is None:
                held = _Held(0, 0)
                self._evict(held, self._max_bytes)
            yield held
            text = held.text()
            os.pwrite(descriptor, text, 0)
            os.ftruncate(descriptor, len(text))
        finally:
            os.close(descriptor)

    def _path(self, digest: bytes) -> Path:
        name = digest.hex()
        return self._root / name[:2] / name[2:]


@dataclass(slots=True)
class _Held:
    count: int
    size: int

    @classmethod
    def parse(cls, text: bytes) -> _Held | None:
        """``None`` where it is not known: it is counted then."""
        parts = text.split()
        known = len(parts) == 3 and all(part.isdigit() for part in parts)
        if not known or zlib.crc32(b" ".join(parts[:2])) != int(parts[2]):
            return None
        return cls(int(parts[0]), int(parts[1]))

    def text(self) -> bytes:
        said = f"{self.count} {self.size}".encode()
        return b"%s %d\n" % (said, zlib.crc32(said))

    def add(self, size: int) -> None:
        self.count += 1
        self.size += size

    def remove(self, size: int) -> None:
        self.count = max(self.count - 1, 0)
        self.size = max(self.size - size, 0)


def _header(digest: bytes, block: bytes) -> bytes:
    """The checksum is of the block, and of the key whose block it is."""
    return _MAGIC + zlib.crc32(block, zlib.crc32(digest)).to_bytes(4, "big") + digest
