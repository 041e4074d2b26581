"""The queries that run, and the last that ended."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from lakeport.server.queries.notifier import QueryNotifier
from lakeport.server.queries.query import QueryState, ServedQuery
from lakeport.sql.secrets import may_hold_secret

__all__ = ["KILLED", "QueryHistory"]

KILLED = "ADMINISTRATIVELY_KILLED"
"""Trino's code for a query that was killed."""
_CANCELED = "USER_CANCELED"
_CODE = re.compile(r"\[([A-Z][A-Z0-9_.]*)\]")
_LONGEST_TEXT = 100_000


class QueryHistory:
    """Follows queries by Spark's events. May be used by many threads.

    Args:
        limit: How many queries that have ended are kept; the default is Trino's.
        notifier: Is given queries that come and end.
    """

    def __init__(self, limit: int = 100, notifier: QueryNotifier | None = None) -> None:
        self._limit = limit
        self._notifier = QueryNotifier() if notifier is None else notifier
        self._lock = threading.Lock()
        self._queries: OrderedDict[str, ServedQuery] = OrderedDict()
        self._killed: dict[str, str] = {}

    def queries(self) -> list[ServedQuery]:
        """All that are known, oldest first."""
        with self._lock:
            return list(self._queries.values())

    def get(self, query_id: str) -> ServedQuery | None:
        """A query by its id."""
        with self._lock:
            return self._queries.get(query_id)

    def kill(self, query_id: str, message: str) -> None:
        """To be called before a query is killed: whatever it fails with then, it was killed."""
        with self._lock:
            self._killed[query_id] = message

    def follow(self, event: Mapping[str, object]) -> None:
        """Takes an event of Spark, as ``OperationEvents.java`` writes it; of unknown queries it is left out."""
        query = self._followed(event)
        if query is None:
            return
        # Listeners may be slow, and no one waits for them but the next event.
        if query.state is QueryState.PLANNING:
            self._notifier.created(query)
        elif query.state.is_done:
            self._notifier.completed(query)

    def _followed(self, event: Mapping[str, object]) -> ServedQuery | None:
        query_id, what, at = str(event["id"]), event["event"], _time(event["at"])
        with self._lock:
            known = self._queries.get(query_id)
            if what == "started":
                query = _begun(query_id, event, at)
            elif known is None or known.state.is_done:
                return None
            elif what == "analyzed":
                query = replace(known, state=QueryState.RUNNING, started=at)
            else:
                query = self._ended(known, str(what), event, at)
            self._queries[query_id] = query
            self._forget()
            return query

    def _ended(self, known: ServedQuery, what: str, event: Mapping[str, object], at: datetime) -> ServedQuery:
        killed = self._killed.pop(known.query_id, None)
        if what == "finished" or (what == "closed" and killed is None):
            rows = event.get("rows")
            return replace(known, state=QueryState.FINISHED, end=at, rows=rows if isinstance(rows, int) else None)
        said = str(event.get("error") or "canceled by its client")
        if killed is not None:
            code: str | None = KILLED
            said = killed
        elif what == "failed":
            found = _CODE.search(said)
            code = None if found is None else found[1]
        else:
            code = _CANCELED
        error = said.partition("\n")[0]
        return replace(
            known, state=QueryState.FAILED, end=at, error_code=code, error="" if may_hold_secret(error) else error
        )

    def _forget(self) -> None:
        done = [one.query_id for one in self._queries.values() if one.state.is_done]
        for query_id in done[: max(0, len(done) - self._limit)]:
            del self._queries[query_id]


def _begun(query_id: str, event: Mapping[str, object], at: datetime) -> ServedQuery:
    text = str(event["text"])[:_LONGEST_TEXT]
    return ServedQuery(
        query_id=query_id,
        source=str(event["source"]),
        job_tag=str(event["tag"]),
        session_id=str(event["session"]),
        user=str(event["user"]),
        text="" if may_hold_secret(text) else text,
        created=at,
    )


def _time(millis: object) -> datetime:
    assert isinstance(millis, int), millis
    return datetime.fromtimestamp(millis / 1000, UTC)
