"""Sets of deletes that the splits of a process share. Executor side."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from connectors.hive.acid.delete_set import DeleteSet
from connectors.toolkit.caching.cache_state import CacheState, registered

__all__ = ["DELETE_CACHE", "DeleteCache"]


class _Slot:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.memory = -1
        self.events: DeleteSet | None = None


class DeleteCache:
    """Keeps what was used last, up to a number of bytes. Used by several threads.

    A set is loaded by the first who asks; others who ask for it meanwhile wait.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slots: OrderedDict[Hashable, _Slot] = OrderedDict()
        self._asked = self._misses = self._evictions = 0

    def get(self, key: Hashable, memory: int, load: Callable[[], DeleteSet | None]) -> DeleteSet | None:
        """A set of deletes.

        Args:
            key: What the set is made of: files with size and modification time, and what filters their events.
            memory: Most bytes that the cache holds afterwards, the set asked for included.
            load: Makes the set; ``None`` where it would need too much memory, which is remembered as well.
        """
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            self._asked += 1
        with slot.lock:
            # What was too much for less memory may fit now.
            if slot.memory < 0 or (slot.events is None and slot.memory < memory):
                with self._lock:
                    self._misses += 1
                slot.events, slot.memory = load(), memory
            events = slot.events
        self._evict(key, memory)
        return events

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._slots.clear()

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        with self._lock:
            return self._total()

    @property
    def state(self) -> CacheState:
        """What it holds now."""
        with self._lock:
            hits = self._asked - self._misses
            return CacheState(
                "hive-deletes",
                len(self._slots),
                bytes=self._total(),
                hits=hits,
                misses=self._misses,
                evictions=self._evictions,
            )

    def _total(self) -> int:
        return sum(slot.events.nbytes for slot in self._slots.values() if slot.events is not None)

    def _evict(self, kept: Hashable, memory: int) -> None:
        with self._lock:
            while len(self._slots) > 1 and (self._total() > memory or len(self._slots) > _MOST_SETS):
                oldest = next(key for key in self._slots if key != kept)
                del self._slots[oldest]
                self._evictions += 1


_MOST_SETS = 1000
DELETE_CACHE = registered(DeleteCache())
"""The cache of this process."""
