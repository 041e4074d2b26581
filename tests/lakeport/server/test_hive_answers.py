"""Statements of clients that expect Hive's form of answers, such as PyHive's dialect of SQLAlchemy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lakeport.server.hive_answers import HIVE_ANSWERS
from tests.lakeport.server.clients import Client, RunningServer

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client(spark: SparkSession, server: RunningServer) -> Iterator[Client]:
    made = Client(spark, server.url)
    made.rows(f"SET {HIVE_ANSWERS} = true")
    made.rows("USE hive.sales")
    yield made
    made.java.close()


def test_names_alone_are_listed(client: Client) -> None:
    names = {("labels",), ("notes",), ("products",)}
    for text in ("SHOW TABLES", "show tables in `sales`", "SHOW TABLES FROM hive.sales;", "SHOW TABLES IN sales '*'"):
        assert names <= {*client.rows(text)}, text
    assert client.rows("SHOW TABLES LIKE 'L*|x'") == [("labels",)]
    assert ("items",) in client.rows("SHOW TABLES IN hudi.sales")
    assert client.rows("SHOW VIEWS IN sales") == []
    # Spark's own catalog has Spark's form.
    assert client.rows("SHOW TABLES IN spark_catalog.default") == []


@pytest.mark.parametrize("name", ["lables", "sales.lables", "hive.sales.lables", "nowhere.labels"])
def test_a_missing_table_is_a_row_that_says_so(client: Client, name: str) -> None:
    assert client.rows(f"DESCRIBE {name}") == [(f"Table {name} does not exist", "", "")]


def test_types_are_those_of_hive(client: Client) -> None:
    columns = "a TIMESTAMP_NTZ COMMENT 'it\\'s', b ARRAY<TIMESTAMP_NTZ>, c VARCHAR(3), d DOUBLE, k INT"
    client.rows(f"CREATE TABLE hive.sales.timed ({columns}) USING orc PARTITIONED BY (k)")
    keys = [("# Partition Information", "", ""), ("# col_name", "data_type", "comment"), ("k", "int", None)]
    expected = [
        ("a", "timestamp", "it's"),
        ("b", "array<timestamp>", None),
        ("c", "varchar(3)", None),
        ("d", "double", None),
        ("k", "int", None),
    ]
    assert client.rows("DESCRIBE `sales`.`timed`") == [*expected, *keys]
    client.rows("DROP TABLE hive.sales.timed")


def test_other_statements_are_those_of_spark(spark: SparkSession, server: RunningServer, client: Client) -> None:
    assert [row[0] for row in client.rows("DESCRIBE sales.labels")][:3] == ["s", "d", "id"]
    assert client.rows("DESCRIBE FUNCTION upper")
    assert "PARSE_SYNTAX_ERROR" in client.error("SHOW TABLES IN sales WHERE 1")
    other = Client(spark, server.url)
    assert ("sales", "labels", "false") in other.rows("SHOW TABLES IN hive.sales")
    assert "TABLE_OR_VIEW_NOT_FOUND" in other.error("DESCRIBE hive.sales.lables")
    other.java.close()
