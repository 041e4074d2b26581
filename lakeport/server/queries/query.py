"""What a server knows of a query of a client."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

__all__ = ["QueryState", "ServedQuery"]


class QueryState(StrEnum):
    """Trino's states of queries, as far as Spark says them."""

    PLANNING = "PLANNING"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    FAILED = "FAILED"

    @property
    def is_done(self) -> bool:
        """Whether it has ended."""
        return self in (QueryState.FINISHED, QueryState.FAILED)


@dataclass(frozen=True, slots=True)
class ServedQuery:
    """A query of a client.

    Attributes:
        query_id: Spark's own: the statement's in the Thrift server, the operation's in Spark Connect.
        source: ``jdbc`` or ``spark-connect``.
        job_tag: What Spark has its jobs by: the job group of JDBC, the job tag of Spark Connect.
        session_id: Of the client's session.
        user: Who asks.
        text: The statement; empty where it may hold a secret.
        created: When it came, UTC.
        state: How far it is.
        started: When its execution began, or ``None``.
        end: When it ended, or ``None``.
        error_code: Name of what went wrong, or ``None`` where it has none.
        error: What went wrong, or ``None``.
        rows: How many rows it gave, where Spark says so.
    """

    query_id: str
    source: str
    job_tag: str
    session_id: str
    user: str
    text: str
    created: datetime
    state: QueryState = QueryState.PLANNING
    started: datetime | None = None
    end: datetime | None = None
    error_code: str | None = None
    error: str | None = None
    rows: int | None = None
