"""Health and metrics over HTTP, as Prometheus asks for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from connector_spi.errors import ExternalError
from connector_spi.names import CatalogSchemaTableName
from connector_spi.optional import QueryCompletedEvent, QueryCreatedEvent, TableReadEvent
from lakeport.server.metrics import MetricsServer, QueryMetrics

pytest.importorskip("prometheus_client")
CREATED = QueryCreatedEvent("one", "alice", "jdbc", "SELECT secret_word", datetime(2026, 1, 1, tzinfo=UTC))
READ = TableReadEvent(CatalogSchemaTableName("hive", "sales", "labels"), ("id",), None, 2, 1000, 0.25)


@contextmanager
def served(metrics: QueryMetrics, stopping: list[bool]) -> Iterator[MetricsServer]:
    server = MetricsServer("127.0.0.1", 0, metrics, lambda: bool(stopping))
    try:
        yield server
    finally:
        server.stop()


def test_metrics() -> None:
    metrics = QueryMetrics()
    with served(metrics, []) as server:
        metrics.query_created(CREATED)
        metrics.query_created(CREATED)
        end = CREATED.created + timedelta(seconds=2)
        metrics.query_completed(
            QueryCompletedEvent(CREATED, end, True, "DIVIDE_BY_ZERO", "by zero", tables=(READ, READ))
        )
        with urlopen(server.address + "/metrics") as answer:
            lines = answer.read().decode().splitlines()
    for line in (
        'lakeport_queries_created_total{source="jdbc"} 2.0',
        'lakeport_queries_running{source="jdbc"} 1.0',
        'lakeport_queries_completed_total{error_code="DIVIDE_BY_ZERO",source="jdbc",state="FAILED"} 1.0',
        'lakeport_query_seconds_bucket{le="1.0",source="jdbc"} 0.0',
        'lakeport_query_seconds_bucket{le="3.0",source="jdbc"} 1.0',
        'lakeport_planning_seconds_total{catalog="hive"} 0.5',
        'lakeport_planned_bytes_total{catalog="hive"} 2000.0',
    ):
        assert line in lines
    assert "secret_word" not in "".join(lines)


def test_health() -> None:
    stopping: list[bool] = []
    with served(QueryMetrics(), stopping) as server:
        with urlopen(server.address + "/health") as answer:
            assert json.load(answer) == {"status": "ok"}
        stopping.append(True)
        with pytest.raises(HTTPError) as met:
            urlopen(server.address + "/health")
        assert (met.value.code, json.load(met.value)) == (503, {"status": "stopping"})
        with pytest.raises(HTTPError, match="404"):
            urlopen(server.address + "/")


def test_a_port_that_is_taken() -> None:
    with served(QueryMetrics(), []) as server:
        port = int(server.address.rpartition(":")[2])
        with pytest.raises(ExternalError, match=f"does not start on 127.0.0.1:{port}: Address"):
            MetricsServer("127.0.0.1", port, QueryMetrics(), lambda: False)
