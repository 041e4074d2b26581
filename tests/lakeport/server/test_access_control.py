"""Clients of one server under rules: each is who it says it is, in all that JDBC and Spark Connect ask."""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.lakeport.server.clients import Client, RunningServer, read, running_server
from tests.lakeport.server.connect_query import connect_rows

pytestmark = pytest.mark.slow

_ALL = ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP"]
_RULES = {
    "schemas": [{"user": "admin", "owner": True}],
    "tables": [
        # The user of the process may do everything: no client's question may be asked as this user.
        {"user": f"admin|{getpass.getuser()}", "privileges": _ALL},
        {
            "user": "ann",
            "catalog": "hive",
            "table": "labels",
            "privileges": ["SELECT"],
            "filter": "id < 3",
            "columns": [{"name": "s", "mask": "'masked'"}],
        },
        {"catalog": "system", "privileges": ["SELECT"]},
    ],
    "procedures": [{"user": getpass.getuser(), "privileges": ["EXECUTE"]}],
    "queries": [{"user": "admin", "allow": ["execute", "view", "kill"]}, {"allow": ["execute"]}],
}


@pytest.fixture(scope="module")
def ruled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("ruled")
    (folder / "warehouse").mkdir()
    rules = folder / "rules.json"
    rules.write_text(json.dumps(_RULES))
    (folder / "warehouse" / "access-control.properties").write_text(
        f"access-control.name=file\nsecurity.config-file={rules}\n"
    )
    with running_server(folder) as running:
        yield running


def test_each_client_of_jdbc_is_its_user(spark: SparkSession, ruled: RunningServer) -> None:
    ann, bob = Client(spark, ruled.url, "ann"), Client(spark, ruled.url, "bob")
    assert sorted(ann.rows("SELECT id, s FROM hive.sales.labels")) == [("1", "masked"), ("2", "masked")]
    assert "Access Denied: Cannot select from table hive.sales.labels" in bob.error("SELECT * FROM hive.sales.labels")
    assert "Access Denied: Cannot select from table hive.sales.notes" in ann.error("SELECT * FROM hive.sales.notes")
    assert ann.rows("SHOW TABLES IN hive.sales") == [("sales", "labels", "false")]
    assert "SCHEMA_NOT_FOUND" in bob.error("SHOW TABLES IN hive.sales")
    assert len(Client(spark, ruled.url, "admin").rows("SHOW TABLES IN hive.sales")) > 1


def test_what_jdbc_asks_about_a_catalog_is_asked_as_the_client(spark: SparkSession, ruled: RunningServer) -> None:
    for user, shown in (("ann", {"labels"}), ("bob", set())):
        client = Client(spark, ruled.url, user)
        client.rows("USE hive")
        about = client.java.getMetaData()
        tables = {row[2] for row in read(about.getTables("hive", "%", "%", None)) if row[0] == "hive"}
        assert tables & {"labels", "notes", "products"} == shown
        columns = {row[2] for row in read(about.getColumns("hive", "%", "%", "%"))}
        assert columns & {"labels", "notes", "products"} == shown
        schemas = {row for row in read(about.getSchemas()) if row[1] == "hive"}
        assert (("sales", "hive") in schemas) == bool(shown)


def test_queries_of_others_are_not_seen(spark: SparkSession, ruled: RunningServer) -> None:
    ann, admin = Client(spark, ruled.url, "ann"), Client(spark, ruled.url, "admin")
    ann.rows("SELECT 'a word of ann' AS w")
    [query] = [
        row for row in admin.rows("SELECT query_id, query FROM system.runtime.queries") if "word of" in str(row[1])
    ]
    users = {row[0] for row in ann.rows("SELECT user FROM system.runtime.queries")}
    assert users == {"ann"}
    bob = Client(spark, ruled.url, "bob")
    assert "no query" in bob.error(f"CALL system.runtime.kill_query(query_id => '{query[0]}')")


def test_each_client_of_spark_connect_is_its_user(ruled: RunningServer) -> None:
    text = "SELECT id, s FROM hive.sales.labels ORDER BY id"
    assert connect_rows(ruled, text, "ann") == [[1, "masked"], [2, "masked"]]
    assert "Access Denied: Cannot select from table hive.sales.labels" in str(connect_rows(ruled, text, "bob"))
