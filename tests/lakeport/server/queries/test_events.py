"""What a server logs and counts of the queries of real clients."""

from __future__ import annotations

import json
import time
from urllib.request import urlopen

import pytest
from pyspark.sql import SparkSession

from tests.lakeport.server.clients import QUERY_LOG, Client, RunningServer

pytestmark = pytest.mark.slow

PATIENCE = 60


def logged(server: RunningServer, part: str) -> dict[str, object]:
    """The line of the query that has a part, when it is there."""
    end = time.monotonic() + PATIENCE
    path = server.log.with_name(QUERY_LOG)
    while True:
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        found = [line for line in lines if part in line["query"]]
        if found:
            return dict(found[0])
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_query_in_the_log(spark: SparkSession, server: RunningServer) -> None:
    client = Client(spark, server.url, "dora")
    query = "SELECT l.s, i.id FROM hive.sales.labels l CROSS JOIN hudi.sales.items i WHERE l.id < 3"
    assert client.rows(query)
    client.error("SELECT id / 'no number' FROM hive.sales.labels WHERE 1 = assert_true(false)")
    client.java.close()
    line = logged(server, "CROSS JOIN")
    assert (line["user"], line["source"], line["state"], line["query"]) == ("dora", "jdbc", "FINISHED", query)
    tables = {table["table"]: table for table in line["tables"]}  # type: ignore[attr-defined]
    assert set(tables) == {"hive.sales.labels", "hudi.sales.items"}
    assert tables["hive.sales.labels"]["columns"] == ["id", "s"]
    assert "id" in tables["hudi.sales.items"]["columns"]
    assert "instant" in tables["hudi.sales.items"]["snapshot"]
    assert tables["hudi.sales.items"]["bytes"] > 0
    failed = logged(server, "no number")
    assert (failed["user"], failed["state"]) == ("dora", "FAILED")
    assert failed["error_code"]


def test_what_is_counted(spark: SparkSession, server: RunningServer) -> None:
    with urlopen(server.metrics_url + "/health") as answer:
        assert json.load(answer) == {"status": "ok"}
    client = Client(spark, server.url, "dora")
    client.rows("SELECT 'what is counted' FROM hudi.sales.items")
    client.java.close()
    logged(server, "what is counted")
    with urlopen(server.metrics_url + "/metrics") as answer:
        text = answer.read().decode()
    assert 'lakeport_queries_completed_total{error_code="",source="jdbc",state="FINISHED"}' in text
    assert 'lakeport_scans_total{catalog="hudi"}' in text
