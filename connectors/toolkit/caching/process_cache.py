"""Answers that a process keeps for its next queries, bounded by bytes. Used on both sides."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from connectors.toolkit.caching.cache_state import CacheState

__all__ = ["ProcessCache"]

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")


class ProcessCache(Generic[KeyT, ValueT]):
    """Keeps what was used last, up to a number of bytes. Used by several threads.

    Threads that ask for one key wait for one answer. What making it raises is not kept, and neither is an answer that
    was being made while the cache was flushed.

    Args:
        name: Of the cache, for ``system.caches``.
        size_of: About the bytes of an answer. It is asked again at each use: answers may grow.
    """

    def __init__(self, name: str, size_of: Callable[[ValueT], int]) -> None:
        self._name = name
        self._size_of = size_of
        self._lock = threading.Lock()
        self._kept: OrderedDict[KeyT, tuple[ValueT, int]] = OrderedDict()
        self._making: dict[KeyT, threading.Lock] = {}
        self._bytes = self._hits = self._misses = self._evictions = self._flushes = 0

    def get(
        self, key: KeyT, make: Callable[[], ValueT], memory: int, keeps: Callable[[ValueT], bool] = lambda _: True
    ) -> ValueT:
        """The answer to a key; never ``None``.

        Args:
            key: Stands for everything that the answer depends on.
            make: Makes the answer where it is not held.
            memory: Most bytes that are held afterwards.
            keeps: Whether the answer may be held.
        """
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            found = self.find(key, memory)
            if found is not None:
                return found
            with self._lock:
                flushes = self._flushes
            try:
                made = make()
            finally:
                with self._lock:
                    self._making.pop(key, None)
            if keeps(made):
                self._put(key, made, memory, flushes)
            return made

    def find(self, key: KeyT, memory: int) -> ValueT | None:
        """The answer to a key where it is held; counts as a use of it."""
        with self._lock:
            entry = self._kept.pop(key, None)
            if entry is None:
                self._misses += 1
                return None
            self._hits += 1
            self._making.pop(key, None)
            value, size = entry
            self._bytes -= size
            self._insert(key, value, memory)
            return value

    def put(self, key: KeyT, value: ValueT, memory: int) -> None:
        """Holds an answer instead of the one that was held before."""
        with self._lock:
            flushes = self._flushes
        self._put(key, value, memory, flushes)

    def values(self, is_wanted: Callable[[KeyT], bool]) -> list[ValueT]:
        """The answers that are held to some keys; no use of them."""
        with self._lock:
            return [value for key, (value, _) in self._kept.items() if is_wanted(key)]

    def drop(self, is_dropped: Callable[[KeyT], bool] = lambda _: True) -> int:
        """Drops the answers to some keys; returns how many."""
        with self._lock:
            self._flushes += 1
            found = [key for key in self._kept if is_dropped(key)]
            for key in found:
                self._remove(key)
            return len(found)

    @property
    def state(self) -> CacheState:
        """What it holds now."""
        with self._lock:
            return CacheState(
                self._name,
                len(self._kept),
                bytes=self._bytes,
                hits=self._hits,
                misses=self._misses,
                evictions=self._evictions,
            )

    def _put(self, key: KeyT, value: ValueT, memory: int, flushes: int) -> None:
        with self._lock:
            self._remove(key)
            if flushes == self._flushes:
                self._insert(key, value, memory)

    def _insert(self, key: KeyT, value: ValueT, memory: int) -> None:
        size = self._size_of(value)
        if size > memory:
            self._evictions += 1
            return
        self._kept[key] = value, size
        self._bytes += size
        while self._bytes > memory and self._kept:
            self._remove(next(iter(self._kept)))
            self._evictions += 1

    def _remove(self, key: KeyT) -> None:
        entry = self._kept.pop(key, None)
        if entry is not None:
            self._bytes -= entry[1]
