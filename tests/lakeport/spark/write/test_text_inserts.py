"""Rows that Spark adds to tables of text files: what Spark's own readers and we find then, and what is refused."""

from __future__ import annotations

import pytest

from connector_spi.errors import NotSupportedError
from tests.lakeport.spark.write.test_spark_inserts import Warehouse, files
from tests.lakeport.spark.write.test_spark_inserts import warehouse as warehouse

CSV = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde'"
JSON = "ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.JsonSerDe'"
DELIMITED = "ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' ESCAPED BY '\\\\'"
QUERY = """
    SELECT CAST(id AS INT) AS i, id / 7 AS d, CAST(id AS DECIMAL(9, 2)) AS p, concat('é, "', id, '|\\\\') AS s,
        date_add(DATE'2024-02-28', CAST(id AS INT)) AS day FROM range(0, 40, 1, 3)"""


@pytest.fixture
def spark_rows(warehouse: Warehouse) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in warehouse.spark.sql(QUERY).collect()), key=repr)


def create(warehouse: Warehouse, name: str, row_format: str, columns: str) -> str:
    place = warehouse.folder / name
    place.mkdir()
    warehouse.session.sql("CREATE SCHEMA IF NOT EXISTS hive.s")
    warehouse.session.sql(f"CREATE TABLE hive.s.{name} ({columns}) {row_format} STORED AS TEXTFILE LOCATION '{place}'")
    return str(place)


@pytest.mark.slow
def test_delimited_text(warehouse: Warehouse, spark_rows: list[tuple[object, ...]]) -> None:
    columns = "i INT, d DOUBLE, p DECIMAL(9, 2), s STRING, day DATE"
    place = create(warehouse, "delimited", DELIMITED, columns)
    warehouse.session.sql(f"INSERT INTO hive.s.delimited {QUERY}")
    assert warehouse.rows("SELECT * FROM hive.s.delimited") == spark_rows
    lines = warehouse.spark.read.text(place).count()
    assert lines == len(spark_rows)
    warehouse.session.sql("INSERT OVERWRITE hive.s.delimited SELECT NULL, NULL, NULL, NULL, NULL")
    assert warehouse.rows("SELECT * FROM hive.s.delimited") == [(None,) * 5]


def test_json(warehouse: Warehouse, spark_rows: list[tuple[object, ...]]) -> None:
    columns = "i INT, d DOUBLE, p DECIMAL(9, 2), s STRING, day DATE"
    place = create(warehouse, "json", JSON, columns)
    warehouse.session.sql(f"INSERT INTO hive.s.json {QUERY}")
    assert warehouse.rows("SELECT * FROM hive.s.json") == spark_rows
    read = warehouse.spark.read.schema(columns).json(place)
    assert sorted((tuple(row) for row in read.collect()), key=repr) == spark_rows


def test_csv(warehouse: Warehouse) -> None:
    place = create(warehouse, "csv", CSV, "a STRING, b STRING")
    query = "SELECT s AS a, CAST(p AS STRING) AS b FROM (" + QUERY + ")"
    expected = sorted((tuple(row) for row in warehouse.spark.sql(query).collect()), key=repr)
    warehouse.session.sql(f"INSERT INTO hive.s.csv {query}")
    assert warehouse.rows("SELECT * FROM hive.s.csv") == expected
    read = warehouse.spark.read.schema("a STRING, b STRING").csv(place, escape="\\")
    assert sorted((tuple(row) for row in read.collect()), key=repr) == expected


def test_partitions_of_text(warehouse: Warehouse) -> None:
    place = warehouse.create("parted", "i INT, k STRING", "textfile", "k")
    warehouse.session.sql("INSERT INTO hive.s.parted SELECT CAST(id AS INT), id % 3 FROM range(9)")
    assert warehouse.rows("SELECT k, sum(i) FROM hive.s.parted GROUP BY k") == [("0", 9), ("1", 12), ("2", 15)]
    assert {path.parent.name for path in files(place)} == {"k=0", "k=1", "k=2"}


def test_a_line_feed_is_refused_and_leaves_nothing(warehouse: Warehouse) -> None:
    place = warehouse.create("refused", "i INT, s STRING", "textfile")
    with pytest.raises(NotSupportedError, match="holds the end of a line"):
        warehouse.session.sql("INSERT INTO hive.s.refused VALUES (1, 'a\\nb')")
    assert not files(place)
    assert warehouse.rows("SELECT * FROM hive.s.refused") == []


def test_a_header_is_refused(warehouse: Warehouse) -> None:
    place = warehouse.folder / "header"
    place.mkdir()
    warehouse.session.sql(
        f"CREATE TABLE hive.s.header (s STRING) STORED AS TEXTFILE LOCATION '{place}' "
        "TBLPROPERTIES ('skip.header.line.count' = '1')"
    )
    with pytest.raises(NotSupportedError, match=r"skip\.header\.line\.count=1"):
        warehouse.session.sql("INSERT INTO hive.s.header VALUES ('a')")
