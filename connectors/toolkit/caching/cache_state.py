"""What the caches of a process hold, for ``system.caches``. Used on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeVar

__all__ = ["CacheState", "cache_states", "registered"]


@dataclass(frozen=True, slots=True)
class CacheState:
    """What a cache holds, and how it was used since the process began.

    Attributes:
        name: Of the cache.
        entries: Answers held.
        bytes: About the memory that they take.
        hits: How often an answer was there.
        misses: How often it was not.
        evictions: Answers that left, or were not held, for want of memory.
    """

    name: str
    entries: int
    bytes: int
    hits: int
    misses: int
    evictions: int


class _HasState(Protocol):
    @property
    def state(self) -> CacheState: ...


CacheT = TypeVar("CacheT", bound=_HasState)

_caches: list[_HasState] = []


def registered(cache: CacheT) -> CacheT:
    """The cache itself, which from now on is among those that ``cache_states`` describes; it lives with the process."""
    _caches.append(cache)
    return cache


def cache_states() -> list[CacheState]:
    """The caches of this process that were registered, by name."""
    return sorted((cache.state for cache in _caches), key=lambda state: state.name)
