"""The caches of this process by metastore: what is written or flushed through one catalog, all of them forget."""

from __future__ import annotations

from threading import Lock
from typing import Protocol
from weakref import WeakKeyDictionary

__all__ = ["Flushable", "flush_caches", "register_cache"]


class Flushable(Protocol):
    """What keeps answers of a metastore."""

    def flush(self, database: str | None = None, table: str | None = None, partition: str | None = None) -> int:
        """Forgets; see ``flush_caches``."""


_lock = Lock()
_caches: WeakKeyDictionary[Flushable, frozenset[str]] = WeakKeyDictionary()


def register_cache(cache: Flushable, addresses: frozenset[str]) -> None:
    """Has a cache, for as long as it lives, forget with the others over one of its metastore's addresses."""
    with _lock:
        _caches[cache] = addresses


def flush_caches(
    addresses: frozenset[str], database: str | None = None, table: str | None = None, partition: str | None = None
) -> int:
    """Has all caches over a metastore forget; what it keeps is asked anew from now on.

    Args:
        addresses: Of the metastore; one that a cache shares is enough.
        database: Name; ``None`` for all.
        table: Name of a table of the database; ``None`` for all of them.
        partition: Name of a partition of the table; ``None`` for all of them.

    Returns:
        How many answers were kept.
    """
    with _lock:
        reached = [cache for cache, known in _caches.items() if known & addresses]
    return sum(cache.flush(database, table, partition) for cache in reached)
