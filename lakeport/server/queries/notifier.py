"""Notifies listeners of queries."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable

from connector_spi.optional.event_listener import (
    EventListener,
    QueryCompletedEvent,
    QueryCreatedEvent,
    TableReadEvent,
)
from lakeport.server.queries.query import QueryState, ServedQuery

__all__ = ["QueryNotifier"]

_log = logging.getLogger(__name__)
_MOST_JOBS = 10_000


class QueryNotifier:
    """Knows what queries read, and notifies listeners when they come and end. May be used by many threads.

    Args:
        listeners: Whom to notify; shut down with this.
    """

    def __init__(self, listeners: Iterable[EventListener] = ()) -> None:
        self._listeners = tuple(listeners)
        self._lock = threading.Lock()
        self._reads: OrderedDict[str, list[TableReadEvent]] = OrderedDict()

    def note_read(self, jobs: tuple[str, ...], read: TableReadEvent) -> None:
        """A scan is about to run.

        Args:
            jobs: What Spark has the jobs of its query by.
            read: The scan.
        """
        with self._lock:
            for job in jobs:
                self._reads.setdefault(job, []).append(read)
            # What no query of a client claims.
            while len(self._reads) > _MOST_JOBS:
                self._reads.popitem(last=False)

    def created(self, query: ServedQuery) -> None:
        """A query has come."""
        event = _created(query)
        self._notify(lambda listener: listener.query_created(event))

    def completed(self, query: ServedQuery) -> None:
        """A query has ended."""
        with self._lock:
            reads = tuple(self._reads.pop(query.job_tag, ()))
        event = QueryCompletedEvent(
            query=_created(query),
            end=query.end or query.created,
            failed=query.state is QueryState.FAILED,
            error_code=query.error_code,
            error=query.error,
            rows=query.rows,
            tables=reads,
        )
        self._notify(lambda listener: listener.query_completed(event))

    def shutdown(self) -> None:
        """Shuts the listeners down."""
        self._notify(lambda listener: listener.shutdown())

    def _notify(self, call: Callable[[EventListener], None]) -> None:
        for listener in self._listeners:
            try:
                call(listener)
            # A listener may be foreign code, and no query is to fail by it.
            except Exception:
                _log.exception("the event listener %s failed", type(listener).__qualname__)


def _created(query: ServedQuery) -> QueryCreatedEvent:
    return QueryCreatedEvent(query.query_id, query.user, query.source, query.text, query.created)
