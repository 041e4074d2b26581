"""Rows that Spark adds to transactional tables, from several tasks at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeport import Session
from tests.lakeport.spark.embedded_hive import embedded_hive


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("acid")
    with embedded_hive(spark, folder) as opened:
        yield opened


@pytest.mark.parametrize(
    ("kind", "file_format"), [("default", "orc"), ("insert_only", "orc"), ("insert_only", "parquet")]
)
def test_each_row_is_there_once(session: Session, tmp_path: Path, kind: str, file_format: str) -> None:
    table = f"hive.s.{kind}_{file_format}"
    session.sql(
        f"CREATE TABLE {table} (id BIGINT, v STRUCT<n: BIGINT>, part INT) USING {file_format} PARTITIONED BY (part) "
        f"LOCATION '{tmp_path}' TBLPROPERTIES ('transactional' = 'true', 'transactional_properties' = '{kind}')"
    )
    rows = "SELECT id, IF(id % 3 = 0, NULL, named_struct('n', id)), CAST(id % 5 AS INT) FROM range(0, 1000, 1, 4)"
    for _ in range(2):
        session.sql(f"INSERT INTO {table} {rows}")
    counted = session.sql(f"SELECT count(*), count(DISTINCT id), sum(v.n), count(DISTINCT part) FROM {table}").collect()
    assert [tuple(row) for row in counted] == [(2000, 1000, 2 * sum(n for n in range(1000) if n % 3), 5)]
    if kind == "default":
        keys = session.sql(f"SELECT count(DISTINCT part, `$row_id`), min(`$row_id`.rowid) FROM {table}").collect()
        assert [tuple(row) for row in keys] == [(2000, 0)]
    folders = {path.parent.name for path in tmp_path.rglob("*") if path.is_file() and not path.name.startswith(".")}
    assert folders == {"delta_0000001_0000001_0000", "delta_0000002_0000002_0000"}


def test_rows_that_do_not_fit_leave_no_trace(session: Session, tmp_path: Path) -> None:
    session.sql(
        f"CREATE TABLE hive.s.broken (id INT) USING orc LOCATION '{tmp_path}' TBLPROPERTIES ('transactional' = 'true')"
    )
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        session.sql("INSERT INTO hive.s.broken SELECT CAST(1 / (id - 7) AS INT) FROM range(0, 10, 1, 2)")
    assert session.sql("SELECT * FROM hive.s.broken").collect() == []
    assert not any(path.is_file() for path in tmp_path.rglob("*"))
    session.sql("INSERT INTO hive.s.broken VALUES (1)")
    assert [row.id for row in session.sql("SELECT id FROM hive.s.broken").collect()] == [1]
