"""A cache of directory listings, bounded in number of files and in age. Driver side."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from connector_spi.names import SchemaTableName
from connector_spi.properties import (
    PropertyMetadata,
    PropertyValues,
    duration_property,
    integer_property,
    string_list_property,
)
from connectors.toolkit.caching.cache_state import CacheState
from connectors.toolkit.storage.filesystem import FileInfo, FileSystem

__all__ = ["LISTING_PROPERTIES", "ListingCache", "ListingPolicy", "listing_policy"]

_TABLES = string_list_property(
    "hive.file-status-cache-tables",
    "Tables whose directory listings are cached: schema.table, schema.* or *; transactional tables never are.",
    lower=True,
)
_EXPIRE_TIME = duration_property(
    "hive.file-status-cache-expire-time", "How long the listing of a directory is kept.", 60.0, minimum=0
)
_SIZE = integer_property("hive.file-status-cache-size", "Most files of which something is kept.", 1_000_000, minimum=0)

LISTING_PROPERTIES: tuple[PropertyMetadata[object], ...] = (_TABLES, _EXPIRE_TIME, _SIZE)
"""Descriptors for the catalog's ``config_properties``, with Trino's names."""


@dataclass(frozen=True, slots=True)
class ListingPolicy:
    """Which listings are cached, and for how long.

    Attributes:
        tables: ``schema.table``, ``schema.*`` or ``*``, lower case.
        expire_seconds: Age at which a listing expires.
        max_files: Most files in all cached listings.
    """

    tables: frozenset[str] = frozenset()
    expire_seconds: float = 60.0
    max_files: int = 1_000_000

    def covers(self, table: SchemaTableName) -> bool:
        """Whether listings of a table are cached."""
        names = {"*", f"{table.schema}.*".lower(), f"{table.schema}.{table.table}".lower()}
        return bool(names & self.tables)


def listing_policy(config: PropertyValues) -> ListingPolicy:
    """Takes the values of ``LISTING_PROPERTIES`` out of a catalog's properties."""
    return ListingPolicy(frozenset(config.get(_TABLES)), config.get(_EXPIRE_TIME), config.get(_SIZE))


_FILE_BYTES = 400

_Key = tuple[SchemaTableName, FileSystem, str, bool]
"""Table, storage with what it is reached by, directory, and whether subdirectories are listed."""


@dataclass(frozen=True, slots=True)
class _Kept:
    until: float
    infos: tuple[FileInfo, ...]


class ListingCache:
    """Caches the listings of one catalog; evicts the least recently used first. Thread-safe.

    Args:
        policy: What is cached.
        clock: Monotonic clock, in seconds.
    """

    def __init__(self, policy: ListingPolicy, clock: Callable[[], float] = time.monotonic) -> None:
        self._policy = policy
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._files = 0
        self._flushes = self._hits = self._misses = self._evictions = 0

    def list(self, files: FileSystem, table: SchemaTableName, location: str, recursive: bool) -> list[FileInfo]:
        """The listing of a directory: the cached one, or a new one.

        Args:
            files: Lists it; with other credentials it gets nothing of what is cached.
            table: Whose it is.
            location: The directory.
            recursive: Whether subdirectories are listed, too.
        """
        if not self._policy.covers(table):
            return files.list(location, recursive)
        key = (table, files, location, recursive)
        with self._lock:
            flushes = self._flushes
            kept = self._kept.get(key)
            if kept is not None and self._clock() < kept.until:
                self._kept.move_to_end(key)
                self._hits += 1
                return list(kept.infos)
            self._misses += 1
        asked = self._clock()
        infos = files.list(location, recursive)
        with self._lock:
            if flushes != self._flushes:
                # A listing made before a flush may lack files written since.
                return infos
            self._drop(key)
            self._kept[key] = _Kept(asked + self._policy.expire_seconds, tuple(infos))
            self._files += max(len(infos), 1)
            while self._files > self._policy.max_files and self._kept:
                self._drop(next(iter(self._kept)))
                self._evictions += 1
        return infos

    def flush(self, schema: str | None = None, table: str | None = None) -> int:
        """Drops the listings of all tables, of a schema or of one table; returns how many directories."""
        with self._lock:
            self._flushes += 1
            found = [
                key
                for key in self._kept
                if (schema is None or key[0].schema == schema.lower())
                and (table is None or key[0].table == table.lower())
            ]
            for key in found:
                self._drop(key)
        return len(found)

    @property
    def state(self) -> CacheState:
        """What it holds now; a listing takes memory for each of its files."""
        with self._lock:
            size = _FILE_BYTES * self._files
            return CacheState(
                "hive-listings",
                len(self._kept),
                bytes=size,
                hits=self._hits,
                misses=self._misses,
                evictions=self._evictions,
            )

    def _drop(self, key: _Key) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._files -= max(len(kept.infos), 1)
