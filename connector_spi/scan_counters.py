"""What readers count while they read, for ``EXPLAIN ANALYZE``. Executor side.

A reader counts with ``count`` wherever it is; nothing happens unless counting is on in this thread. So the
numbers pass through page sources that wrap others with no help of theirs, and none is lost on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

__all__ = ["ScanCounts", "count", "counting", "is_counting"]


class ScanCounts:
    """Sums by name, such as ``row groups skipped``; several threads may count."""

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        self._lock = Lock()
        self._counts: dict[str, int] = dict(counts or {})

    def add(self, name: str, amount: int) -> None:
        """Adds to one sum."""
        with self._lock:
            self._counts[name] = self._counts.get(name, 0) + amount

    def as_mapping(self) -> dict[str, int]:
        """A copy of the sums, in the order of their first counting."""
        with self._lock:
            return dict(self._counts)


@contextmanager
def counting(counts: ScanCounts) -> Iterator[None]:
    """Has all that this thread counts in the block added to ``counts``."""
    token = _counts.set(counts)
    try:
        yield
    finally:
        _counts.reset(token)


def is_counting() -> bool:
    """Whether counting is on: what costs something to find out is left out otherwise."""
    return _counts.get() is not None


def count(name: str, amount: int = 1) -> None:
    """Counts.

    Args:
        name: In words, in the plural: ``row groups read``.
        amount: How many.
    """
    counts = _counts.get()
    if counts is not None:
        counts.add(name, amount)


_counts: ContextVar[ScanCounts | None] = ContextVar("connector_spi_scan_counts", default=None)
"""Where this thread counts; ``None`` where counting is off."""
