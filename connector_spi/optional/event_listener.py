"""Being notified of queries, as Presto's and Trino's event listeners are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from connector_spi.names import CatalogSchemaTableName

__all__ = ["EventListener", "QueryCompletedEvent", "QueryCreatedEvent", "TableReadEvent"]


@dataclass(frozen=True, slots=True)
class QueryCreatedEvent:
    """A query has come.

    Attributes:
        query_id: Of the engine.
        user: Who asks.
        source: By which way, such as ``jdbc``.
        text: The statement; empty where it may hold a secret.
        created: When, aware, UTC.
    """

    query_id: str
    user: str
    source: str
    text: str
    created: datetime


@dataclass(frozen=True, slots=True)
class TableReadEvent:
    """A scan of a table that a query has planned.

    Attributes:
        name: The table.
        columns: Names of the columns that are read or filtered by, sorted.
        snapshot: The version in words, as ``ScanSummary`` has it; ``None`` where unknown.
        splits: How many splits were planned.
        size_bytes: Of the splits, as they are stored.
        planning_seconds: How long the connector took to plan them.
    """

    name: CatalogSchemaTableName
    columns: tuple[str, ...]
    snapshot: str | None
    splits: int
    size_bytes: int
    planning_seconds: float


@dataclass(frozen=True, slots=True)
class QueryCompletedEvent:
    """A query has ended.

    Attributes:
        query: What was known when it came.
        end: When it ended, aware, UTC.
        failed: It failed, or was cancelled.
        error_code: Name of what went wrong; ``None`` where it has none.
        error: What went wrong, in a line; empty where that may hold a secret, ``None`` where nothing did.
        rows: How many rows it gave; ``None`` where that is unknown.
        tables: The scans of connectors' tables.
    """

    query: QueryCreatedEvent
    end: datetime
    failed: bool = False
    error_code: str | None = None
    error: str | None = None
    rows: int | None = None
    tables: tuple[TableReadEvent, ...] = ()


class EventListener:
    """Is notified of queries.

    One thread at a time calls it, some time after the fact, and the next event waits: what is slow belongs elsewhere.
    What it raises is logged, and changes nothing for the query.
    """

    def query_created(self, event: QueryCreatedEvent) -> None:
        """A query has come; nothing by default."""

    def query_completed(self, event: QueryCompletedEvent) -> None:
        """A query has ended, well or not; nothing by default."""

    def shutdown(self) -> None:
        """The engine ends; called once."""
