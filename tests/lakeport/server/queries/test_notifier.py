"""Listeners are notified of queries and what they read, and harm nobody."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from connector_spi.errors import InvalidArgumentError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional import EventListener, QueryCompletedEvent, QueryCreatedEvent, TableReadEvent
from lakeport.server.queries.history import QueryHistory
from lakeport.server.queries.notifier import QueryNotifier
from lakeport.server.queries.query_log import QueryLog

READ = TableReadEvent(CatalogSchemaTableName("hive", "sales", "labels"), ("id", "s"), "write id 3", 2, 1000, 0.25)
STARTED = {
    "event": "started",
    "id": "one",
    "at": 1000,
    "source": "jdbc",
    "tag": "group",
    "session": "session",
    "user": "alice",
    "text": "SELECT 1",
}
CREATED = QueryCreatedEvent("one", "alice", "jdbc", "SELECT 'é'", datetime(2026, 1, 1, tzinfo=UTC))


class Kept(EventListener):
    def __init__(self) -> None:
        self.events: list[QueryCreatedEvent | QueryCompletedEvent] = []

    def query_created(self, event: QueryCreatedEvent) -> None:
        self.events.append(event)

    def query_completed(self, event: QueryCompletedEvent) -> None:
        self.events.append(event)


class Broken(EventListener):
    def query_created(self, event: QueryCreatedEvent) -> None:
        raise ValueError("broken")


def test_a_query_and_what_it_reads(caplog: pytest.LogCaptureFixture) -> None:
    kept = Kept()
    notifier = QueryNotifier((Broken(), kept))
    history = QueryHistory(notifier=notifier)
    # Spark's events are late: a query may read before it is known to have come.
    notifier.note_read(("group", "a tag"), READ)
    notifier.note_read(("another group",), replace(READ, splits=7))
    history.follow(STARTED)
    history.follow({"event": "analyzed", "id": "one", "at": 1500})
    history.follow({"event": "failed", "id": "one", "at": 2000, "error": "[DIVIDE_BY_ZERO] by zero"})
    history.follow({"event": "closed", "id": "one", "at": 3000})
    created, completed = kept.events
    assert created == QueryCreatedEvent("one", "alice", "jdbc", "SELECT 1", datetime.fromtimestamp(1, UTC))
    assert isinstance(completed, QueryCompletedEvent)
    assert (completed.query, completed.failed, completed.error_code) == (created, True, "DIVIDE_BY_ZERO")
    assert completed.tables == (READ,)
    assert "the event listener Broken failed" in caplog.text


def test_the_log_of_queries(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    log = QueryLog(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    log.query_created(CREATED)
    end = CREATED.created + timedelta(seconds=1.5)
    log.query_completed(QueryCompletedEvent(CREATED, end, rows=3, tables=(READ, READ)))
    path.rename(tmp_path / "queries.1")
    log.query_completed(QueryCompletedEvent(CREATED, end, failed=True, error_code="CODE", error="line"))
    [first] = (tmp_path / "queries.1").read_text("utf-8").splitlines()
    table = {"table": "hive.sales.labels", "columns": ["id", "s"], "snapshot": "write id 3", "splits": 2, "bytes": 1000}
    assert json.loads(first) == {
        "query_id": "one",
        "user": "alice",
        "source": "jdbc",
        "query": "SELECT 'é'",
        "state": "FINISHED",
        "created": "2026-01-01T00:00:00+00:00",
        "end": "2026-01-01T00:00:01.500000+00:00",
        "elapsed_ms": 1500,
        "planning_ms": 500,
        "output_rows": 3,
        "error_code": None,
        "error_message": None,
        "tables": [table, table],
    }
    second = json.loads(path.read_text("utf-8"))
    assert (second["state"], second["error_code"], second["tables"]) == ("FAILED", "CODE", [])


def test_a_log_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot be written: Is a directory"):
        QueryLog(tmp_path)
