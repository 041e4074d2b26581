"""How many calls went to a metastore, and how long they took: in all, and of each statement."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

__all__ = ["CallCount", "CallHistory", "CallStatistics", "StatementCalls"]


@dataclass(frozen=True, slots=True)
class CallCount:
    """Calls of one method.

    Attributes:
        count: Number of calls, failed ones included.
        seconds: Time they took in all; of calls made at once each counts in full.
    """

    count: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.count} call{'' if self.count == 1 else 's'} in {self.seconds * 1000:.0f} ms"


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
            seconds = time.perf_counter() - started
            self.record(method, seconds)
            charged = _charged.get()
            if charged is not None:
                charged.record(method, seconds)

    @contextmanager
    def charged(self) -> Iterator[None]:
        """Counts here, too, what others measure in the block; in this thread, and not what an inner block is charged.

        So a statement knows its part of the calls of clients that all statements share.
        """
        token = _charged.set(self)
        try:
            yield
        finally:
            _charged.reset(token)

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


@dataclass(frozen=True, slots=True)
class StatementCalls:
    """The calls of one statement.

    Attributes:
        query_id: Of the statement.
        user: Who asked.
        start: When it began, aware, UTC.
        calls: What it has called so far.
    """

    query_id: str
    user: str
    start: datetime
    calls: CallStatistics


class CallHistory:
    """The statements of one catalog that ran last, and what they called. Many threads may begin and look at once.

    Args:
        limit: How many are kept.
    """

    def __init__(self, limit: int = 1000) -> None:
        self._lock = Lock()
        self._statements: deque[StatementCalls] = deque(maxlen=limit)

    def begin(self, query_id: str, user: str, start: datetime) -> CallStatistics:
        """Where the calls of a statement that begins are to be counted."""
        statement = StatementCalls(query_id, user, start, CallStatistics())
        with self._lock:
            self._statements.append(statement)
        return statement.calls

    def statements(self) -> list[StatementCalls]:
        """Those kept, oldest first."""
        with self._lock:
            return list(self._statements)


_charged: ContextVar[CallStatistics | None] = ContextVar("lakeport_charged_calls", default=None)
"""The statistics that the calls of this thread are charged to."""
