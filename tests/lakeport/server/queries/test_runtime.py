"""Queries are listed and killed by other clients."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from pyspark.sql import SparkSession

from tests.lakeport.server.clients import Client, RunningServer
from tests.paths import PROJECT

pytestmark = pytest.mark.slow


QUERIES = "SELECT query_id, state, user, query FROM system.runtime.queries"
ENDLESS = "SELECT count(*) FROM (SELECT id * rand() AS r FROM range(1000000000000)) WHERE r < 0.5"
PATIENCE = 120
ASK = f"""
import os, sys
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
session = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
try:
    session.sql("{ENDLESS}").collect()
except PySparkException as error:
    print(error, flush=True)
os._exit(0)
"""


@pytest.fixture
def bob(spark: SparkSession, server: RunningServer) -> Iterator[Client]:
    made = Client(spark, server.url, "bob")
    yield made
    made.java.close()


def running(client: Client, user: str) -> str:
    """The id of a user's query, when it runs; asks for what needs no task of Spark, of which none may be left."""
    end = time.monotonic() + PATIENCE
    while True:
        found = [row[0] for row in client.rows(QUERIES) if row[1:3] == ("RUNNING", user) and "rand" in str(row[3])]
        if found:
            return str(found[0])
        assert time.monotonic() < end
        time.sleep(0.1)


def test_queries_are_listed(bob: Client) -> None:
    bob.rows("SELECT 'what is listed'")
    assert "no_such_table" in bob.error("SELECT * FROM hive.sales.no_such_table")
    rows = bob.rows(
        "SELECT state, source, query, error_code, created <= `end` FROM system.runtime.queries "
        "WHERE user = 'bob' AND (query LIKE '%listed%' OR query LIKE '%no_such%') ORDER BY created"
    )
    assert rows[:2] == [
        ("FINISHED", "jdbc", "SELECT 'what is listed'", None, "true"),
        ("FAILED", "jdbc", "SELECT * FROM hive.sales.no_such_table", "TABLE_OR_VIEW_NOT_FOUND", "true"),
    ]
    # The one that asks is there, too.
    assert rows[2][0] in ("PLANNING", "RUNNING")


def test_a_query_of_jdbc_is_killed(spark: SparkSession, server: RunningServer, bob: Client) -> None:
    alice = Client(spark, server.url, "alice")
    with ThreadPoolExecutor(1) as threads:
        said = threads.submit(alice.error, ENDLESS)
        query_id = running(bob, "alice")
        call = f"CALL system.runtime.kill_query(query_id => '{query_id}', message => 'it takes too long')"
        assert bob.rows(call) == [(query_id, "FAILED")]
        assert "[ADMINISTRATIVELY_KILLED] the query was killed by user 'bob': it takes too long" in said.result()
    [(state, code, message)] = bob.rows(
        f"SELECT state, error_code, error_message FROM system.runtime.queries WHERE query_id = '{query_id}'"
    )
    assert (state, code) == ("FAILED", "ADMINISTRATIVELY_KILLED")
    assert str(message).endswith("killed by user 'bob': it takes too long")
    assert alice.rows("SELECT 1") == [("1",)]
    assert f"the query '{query_id}' does not run: it is FAILED" in bob.error(call)
    assert "no query 'unknown'" in bob.error("CALL system.runtime.kill_query('unknown')")
    alice.java.close()


@pytest.mark.spark
def test_a_query_of_spark_connect_is_killed(server: RunningServer, bob: Client) -> None:
    command = [sys.executable, "-c", ASK, server.connect_url + "/;user_id=carol"]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as client:
        try:
            query_id = running(bob, "carol")
            assert bob.rows(f"CALL system.runtime.kill_query('{query_id}')") == [(query_id, "FAILED")]
            assert client.stdout is not None
            assert "[ADMINISTRATIVELY_KILLED] the query was killed by user 'bob'" in client.stdout.read()
        finally:
            client.kill()
