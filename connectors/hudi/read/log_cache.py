"""What the logs of file slices say, kept between the reads of a process. Executor side."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from connectors.hudi.read.kept_log import KeptLog
from connectors.hudi.read.slice_read import SliceRead
from connectors.toolkit.caching.cache_state import CacheState, registered

__all__ = ["APPLIED_CACHE", "LOG_CACHE", "AppliedLog", "LogCache", "log_identity"]

# Keys of the cache must not tell what storage is reached with.
_SALT = os.urandom(16)


@dataclass(frozen=True, slots=True)
class AppliedLog:
    """What merged logs do to the rows of a range of a base file, where one row of a key wins over the others.

    Attributes:
        keys: Those of the logs, in their order.
        removed: Positions of the rows that do not stay.
        numbers: Of the keys whose row in the logs is given: in their place, or besides.
    """

    keys: pa.Array
    removed: np.ndarray
    numbers: np.ndarray

    @property
    def nbytes(self) -> int:
        """About the memory that it takes; the keys may be shared with merged logs that are kept."""
        return int(self.keys.nbytes + self.removed.nbytes + self.numbers.nbytes)


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


Kept = TypeVar("Kept", bound=_Sized)


class LogCache(Generic[Kept]):
    """Keeps what was read, up to a number of bytes. Used by several threads.

    What gives way to others is drawn by lot. Queries read the slices of a table in the same order again and again:
    where the cache holds less than all, one that drops what was used longest ago drops each before it is asked again.

    Args:
        name: Of the cache, for people.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._kept: dict[bytes, Kept] = {}
        self._sizes: dict[bytes, int] = {}
        self._total = self._hits = self._misses = self._evictions = 0
        self._merging: dict[bytes, threading.Event] = {}

    @contextmanager
    def merging(self, identity: bytes) -> Iterator[None]:
        """Held while the logs of a slice are looked for and merged: others of this process that want them wait.

        Who waited does not make the next one wait: what was merged may be too much to be kept, or lack columns.
        """
        with self._lock:
            other = self._merging.get(identity)
            mine = threading.Event()
            if other is None:
                self._merging[identity] = mine
        if other is not None:
            other.wait()
            yield
            return
        try:
            yield
        finally:
            with self._lock:
                del self._merging[identity]
            mine.set()

    def get(self, identity: bytes) -> Kept | None:
        """What is kept of a slice."""
        with self._lock:
            found = self._kept.get(identity)
            if found is None:
                self._misses += 1
            else:
                self._hits += 1
            return found

    def put(self, identity: bytes, kept: Kept, memory: int) -> None:
        """Keeps what is known of a slice, where it is not too much, instead of what was kept of it before.

        Args:
            identity: Of ``log_identity``, and of what else it depends on.
            kept: What is known.
            memory: Most bytes that are kept afterwards.
        """
        size = kept.nbytes
        with self._lock:
            self._drop(identity)
            room = memory - size if size <= memory else memory
            while self._total > room:
                self._drop(random.choice(list(self._kept)))
                self._evictions += 1
            if size <= memory:
                self._kept[identity], self._sizes[identity] = kept, size
                self._total += size

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._kept.clear()
            self._sizes.clear()
            self._total = 0

    @property
    def nbytes(self) -> int:
        """Bytes kept."""
        with self._lock:
            return self._total

    @property
    def state(self) -> CacheState:
        """What it holds now."""
        with self._lock:
            return CacheState(
                self._name,
                len(self._kept),
                bytes=self._total,
                hits=self._hits,
                misses=self._misses,
                evictions=self._evictions,
            )

    def _drop(self, identity: bytes) -> None:
        self._kept.pop(identity, None)
        self._total -= self._sizes.pop(identity, 0)


LOG_CACHE: LogCache[KeptLog] = registered(LogCache("hudi-merged-logs"))
"""The merged logs that this process keeps."""

APPLIED_CACHE: LogCache[AppliedLog] = registered(LogCache("hudi-applied-logs"))
"""What they do to base files, likewise."""


def log_identity(read: SliceRead) -> bytes | None:
    """Stands for everything that the merged logs of a slice depend on but the columns that are read of them.

    Files are asked for their modification time anew: a table that was made again where another one was may use the
    same names.

    Returns:
        A digest, which tells nothing of what it was made of; ``None`` where a file is not what the split says, or
        storage tells no modification time.
    """
    table, split = read.table, read.split
    modified: list[int] = []
    for log in split.logs:
        info = read.files.info(log.path)
        if info is None or info.size < log.size or not info.modified_millis:
            return None
        modified.append(info.modified_millis)
    digest = blake2b(key=_SALT)
    for part in (
        (read.files.options, split.logs, modified, split.base_instant, split.format, split.source, split.path_values),
        (table.location, table.view, table.merged_writes, table.config, table.history),
    ):
        digest.update(repr(part).encode())
    digest.update(table.schema.serialize())
    return digest.digest()
