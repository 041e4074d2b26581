"""What Hive's JDBC driver is told of the catalogs, as tools ask for it (``DatabaseMetaData``)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from py4j.java_gateway import JavaObject
from pyspark.sql import SparkSession

from lakeport.spark.catalog.install import jvm_of
from tests.lakeport.server.clients import Client, RunningServer, read

pytestmark = pytest.mark.slow


@pytest.fixture
def client(spark: SparkSession, server: RunningServer) -> Iterator[Client]:
    made = Client(spark, server.url)
    yield made
    made.java.close()


@pytest.fixture
def about(client: Client) -> JavaObject:
    return client.java.getMetaData()


def test_catalogs_and_schemas(client: Client, about: JavaObject) -> None:
    assert read(about.getCatalogs()) == [("hive",), ("hudi",), ("spark_catalog",), ("system",)]
    schemas = read(about.getSchemas())
    assert {("sales", "hive"), ("sales", "hudi"), ("default", "spark_catalog"), ("runtime", "system")} <= {*schemas}
    assert read(about.getSchemas("hudi", "sal%")) == [("sales", "hudi")]
    assert read(about.getSchemas("no such", None)) == []
    client.rows("USE hive")
    assert {row[1] for row in read(about.getSchemas("", None))} == {"hive"}


def test_tables(spark: SparkSession, client: Client, about: JavaObject) -> None:
    # Hive's driver leaves the name of the catalog out of this call.
    found = [row for row in read(about.getTables("hive", "sales", "%", None)) if row[0] == "hive"]
    assert [row[2] for row in found] == sorted(row[1] or "" for row in client.rows("SHOW TABLES IN hive.sales"))
    assert {row[3] for row in found} == {"TABLE"}
    views = jvm_of(spark).strings(["VIEW"])
    assert read(about.getTables("hive", "sales", "%", views)) == []
    assert [row[0] for row in read(about.getTables(None, "sales", "items", None))] == ["hive", "hudi"]
    assert ("system", "runtime", "queries", "TABLE") in [
        row[:4] for row in read(about.getTables(None, None, "q%", None))
    ]


@pytest.mark.parametrize("table", ["hive.sales.labels", "hudi.sales.items", "hive.sales.products"])
def test_columns_are_those_of_the_result(client: Client, about: JavaObject, table: str) -> None:
    """The driver's own words of the columns of a query on the table."""
    catalog, schema, name = table.split(".")
    described = about.getColumns(catalog, schema, name, "%")
    found = [
        (described.getString("COLUMN_NAME"), described.getInt("DATA_TYPE"), described.getInt("ORDINAL_POSITION"))
        for _ in iter(described.next, False)
    ]
    statement = client.java.createStatement()
    shown = statement.executeQuery(f"SELECT * FROM {table} WHERE false").getMetaData()
    columns = range(1, shown.getColumnCount() + 1)
    assert found == [(shown.getColumnName(one), shown.getColumnType(one), one) for one in columns]
    statement.close()


def test_sizes_and_names_of_types(client: Client, about: JavaObject) -> None:
    client.rows("CREATE SCHEMA IF NOT EXISTS hive.typed")
    client.rows(
        "CREATE TABLE hive.typed.every (b boolean, t tinyint, i int, l bigint, f float, d double, n decimal(12,3), "
        "s string, v varchar(7), c char(3), x binary, at timestamp, day date, a array<int>, m map<string,int>, "
        "r struct<Inner:int>)"
    )
    try:
        found = read(about.getColumns("hive", "typed", "every", None))
        assert [(row[3], row[4], row[5], row[6], row[8]) for row in found] == [
            ("b", "16", "BOOLEAN", None, None),
            ("t", "-6", "TINYINT", "3", "0"),
            ("i", "4", "INT", "10", "0"),
            ("l", "-5", "BIGINT", "19", "0"),
            ("f", "6", "FLOAT", "7", "7"),
            ("d", "8", "DOUBLE", "15", "15"),
            ("n", "3", "DECIMAL(12,3)", "12", "3"),
            ("s", "12", "STRING", None, None),
            ("v", "12", "VARCHAR(7)", "7", None),
            ("c", "1", "CHAR(3)", "3", None),
            ("x", "-2", "BINARY", None, None),
            ("at", "93", "TIMESTAMP_NTZ", "29", "6"),
            ("day", "91", "DATE", "10", None),
            ("a", "2003", "array<int>", None, None),
            ("m", "2000", "map<string,int>", None, None),
            ("r", "2002", "struct<Inner:int>", None, None),
        ]
    finally:
        client.rows("DROP TABLE hive.typed.every")
        client.rows("DROP SCHEMA hive.typed")


def test_what_a_tool_asks_besides(client: Client, about: JavaObject) -> None:
    assert {row[0] for row in read(about.getTableTypes())} == {"TABLE", "VIEW"}
    assert {"BIGINT", "STRING"} <= {row[0] for row in read(about.getTypeInfo())}
    assert "upper" in {row[2] for row in read(about.getFunctions(None, None, "upp%"))}
    assert read(about.getPrimaryKeys("hive", "sales", "labels")) == []
    assert read(about.getImportedKeys("hive", "sales", "labels")) == []
    assert about.getDatabaseProductName()
    queries = [row[0] for row in client.rows("SELECT query FROM system.runtime.queries")]
    assert not [text for text in queries if "Listing" in str(text)]


def test_tables_of_sparks_own_catalog(client: Client, about: JavaObject) -> None:
    client.rows("CREATE TABLE spark_catalog.default.plain (id INT COMMENT 'a key', s STRING) USING parquet")
    try:
        assert [row[:4] for row in read(about.getTables("spark_catalog", "default", "plain", None))] == [
            ("spark_catalog", "default", "plain", "TABLE")
        ]
        columns = read(about.getColumns("spark_catalog", "default", "plain", "%"))
        assert [(row[3], row[5], row[11]) for row in columns] == [("id", "INT", "a key"), ("s", "STRING", "")]
    finally:
        client.rows("DROP TABLE spark_catalog.default.plain")


def test_an_error_of_a_call_has_our_words(client: Client, about: JavaObject) -> None:
    client.rows("SET spark.lakeport.hive.no_such_property=1")
    with pytest.raises(Exception, match="no_such_property"):
        about.getTables("hive", "sales", "%", None)
