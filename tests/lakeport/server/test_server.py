"""The server as its clients see it: sessions of their own, the catalogs in each, errors, and the stop."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.lakeport.server.clients import COMMAND, Client, RunningServer, read, running_server
from tests.paths import PROJECT

pytestmark = pytest.mark.slow

LABELS = [("1", "one"), ("2", "two")]
QUERY = "SELECT id, s FROM {} WHERE id < 3 ORDER BY id"


@pytest.fixture
def client(spark: SparkSession, server: RunningServer) -> Iterator[Client]:
    made = Client(spark, server.url)
    yield made
    made.java.close()


@pytest.fixture
def other(spark: SparkSession, server: RunningServer) -> Iterator[Client]:
    made = Client(spark, server.url)
    yield made
    made.java.close()


def test_a_client_sees_the_catalogs(client: Client) -> None:
    assert client.rows("SHOW CATALOGS") == [("hive",), ("hudi",), ("spark_catalog",), ("system",)]
    assert client.rows(QUERY.format("hive.sales.labels")) == LABELS
    client.rows("USE hive.sales")
    assert ("sales", "labels", "false") in client.rows("SHOW TABLES")
    assert client.rows(QUERY.format("labels")) == LABELS


def test_clients_have_sessions_of_their_own(client: Client, other: Client) -> None:
    client.rows("USE hive.sales")
    other.rows("USE hudi.sales")
    client.rows("SET spark.sql.session.timeZone=Asia/Tokyo")
    client.rows("CREATE TEMPORARY VIEW mine AS SELECT 1 AS one")
    assert client.rows("SELECT current_catalog(), current_timezone()") == [("hive", "Asia/Tokyo")]
    [(catalog, zone)] = other.rows("SELECT current_catalog(), current_timezone()")
    assert (catalog, zone != "Asia/Tokyo") == ("hudi", True)
    assert client.rows("SELECT * FROM mine") == [("1",)]
    assert "TABLE_OR_VIEW_NOT_FOUND" in other.error("SELECT * FROM mine")


@pytest.mark.slow
def test_a_setting_of_a_catalog_is_that_of_its_session(client: Client, other: Client) -> None:
    client.rows("SET spark.lakeport.hive.no_such_property=1")
    assert "no_such_property" in client.error(QUERY.format("hive.sales.labels"))
    assert other.rows(QUERY.format("hive.sales.labels")) == LABELS


@pytest.mark.slow
def test_clients_at_once(client: Client, other: Client) -> None:
    client.rows("USE hive.sales")
    other.rows("USE hudi.sales")

    def ask(one: Client, table: str) -> list[list[tuple[str | None, ...]]]:
        return [one.rows(f"SELECT count(*), current_catalog() FROM {table}") for _ in range(5)]

    with ThreadPoolExecutor(2) as threads:
        labels, items = threads.submit(ask, client, "labels"), threads.submit(ask, other, "items")
        assert {row[1] for rows in labels.result() for row in rows} == {"hive"}
        assert {row[1] for rows in items.result() for row in rows} == {"hudi"}
    assert labels.result() == [client.rows("SELECT count(*), 'hive' FROM hive.sales.labels")] * 5
    assert items.result() == [client.rows("SELECT count(*), 'hudi' FROM hudi.sales.items")] * 5


USERS = "SELECT DISTINCT user FROM hive.system.metastore_calls WHERE user IN ('alice', 'bob', 'carol') ORDER BY user"


@pytest.mark.slow
def test_a_catalog_is_told_the_user_of_a_client(spark: SparkSession, server: RunningServer) -> None:
    for user in ("alice", "bob"):
        client = Client(spark, server.url, user)
        try:
            assert client.rows("SELECT current_user()") == [(user,)]
            assert client.rows(QUERY.format("hive.sales.labels")) == LABELS
            told = client.rows(USERS)
        finally:
            client.java.close()
    assert told == [("alice",), ("bob",)]


def test_errors_read_well(client: Client) -> None:
    mistyped = client.error("SELECT * FROM hive.sales.lables")
    assert "[TABLE_OR_VIEW_NOT_FOUND]" in mistyped
    assert "`hive`.`sales`.`lables`" in mistyped
    refused = client.error("DELETE FROM hudi.sales.items")
    assert "catalog 'hudi' does not write rows: DELETE is refused" in refused
    assert "Py4J" not in mistyped + refused
    assert client.rows(QUERY.format("hive.sales.labels")) == LABELS


@pytest.mark.slow
def test_a_stop_lets_open_statements_end(spark: SparkSession, tmp_path: Path) -> None:
    with running_server(tmp_path, "--drain", "100") as server:
        reader, late = Client(spark, server.url), Client(spark, server.url)
        statement = reader.java.createStatement()
        result = statement.executeQuery(QUERY.format("hive.sales.labels"))
        server.process.send_signal(signal.SIGTERM)
        server.says("stopping")
        assert "this server stops and takes no more statements" in late.error("SELECT 1")
        assert server.process.poll() is None
        assert read(result) == LABELS
        statement.close()
        assert server.process.wait(100) == 0
        assert server.log.read_text("utf-8").splitlines()[-2:] == ["stopping", "stopped"]
        assert list(server.folder.iterdir()) == []


@pytest.mark.slow
def test_a_stop_waits_no_longer_than_it_was_told(spark: SparkSession, tmp_path: Path) -> None:
    with running_server(tmp_path, "--drain", "0") as server:
        reader = Client(spark, server.url)
        reader.java.createStatement().executeQuery(QUERY.format("hive.sales.labels"))
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(100) == 0
        assert server.log.read_text("utf-8").splitlines()[-1] == "stopped; statements cancelled: 1"


@pytest.mark.slow
@pytest.mark.spark
def test_a_port_that_is_taken(server: RunningServer, tmp_path: Path) -> None:
    port = server.url.rpartition(":")[2]
    command = [*COMMAND, "--thrift-port", port, "--connect-port", "0"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 2
    assert f"[SERVER_DOES_NOT_START] the Thrift server does not start on 127.0.0.1:{port}: Address" in done.stderr


@pytest.mark.spark
def test_a_client_of_spark_connect(server: RunningServer) -> None:
    url = server.connect_url + "/;user_id=carol"
    command = [sys.executable, "-m", "tests.lakeport.server.connect_client", url]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "user": "carol",
        "user that the catalog is told": ["carol"],
        "catalogs before any statement": ["hive", "hudi", "spark_catalog", "system"],
        "rows": [[int(number), name] for number, name in LABELS],
        "current catalogs of two sessions": ["hive", "spark_catalog"],
        "rows in the other session": len(LABELS),
        "rows in a clone": len(LABELS),
        "mistyped": "TABLE_OR_VIEW_NOT_FOUND",
        "refused": True,
    }
