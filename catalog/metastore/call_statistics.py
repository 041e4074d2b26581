"""How many calls went to a metastore, and how long they took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

__all__ = ["CallCount", "CallStatistics"]


@dataclass(frozen=True, slots=True)
class CallCount:
    """Calls of one method.

    Attributes:
        count: Number of calls, failed ones included.
        seconds: Time they took in all.
    """

    count: int = 0
    seconds: float = 0.0


class CallStatistics:
    """Counts calls by name; many threads may record at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[str, CallCount] = {}

    @contextmanager
    def measure(self, method: str) -> Iterator[None]:
        """Counts the block as one call of ``method``, also when it fails."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.record(method, time.perf_counter() - started)

    def record(self, method: str, seconds: float) -> None:
        """Adds one call."""
        with self._lock:
            known = self._counts.get(method, CallCount())
            self._counts[method] = CallCount(known.count + 1, known.seconds + seconds)

    def by_method(self) -> dict[str, CallCount]:
        """A copy of the counts, by name of the method, sorted."""
        with self._lock:
            return dict(sorted(self._counts.items()))

    def total(self) -> CallCount:
        """All methods together."""
        counts = self.by_method().values()
        return CallCount(sum(one.count for one in counts), sum(one.seconds for one in counts))
