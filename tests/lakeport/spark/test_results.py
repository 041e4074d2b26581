"""DataFrames as Arrow streams."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from connector_spi.errors import InvalidPropertyError
from lakeport.spark.results import arrow_result


def test_rows_come_in_order_from_many_partitions(spark: SparkSession) -> None:
    result = arrow_result(spark.range(0, 100_000, 1, 37))
    found = pa.Table.from_batches(result.batches, result.schema)
    assert found.column("id").to_pylist() == list(range(100_000))


def test_types_names_and_zones(spark: SparkSession) -> None:
    own = spark.newSession()
    own.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    frame = own.sql(
        """SELECT 1 AS a, 'x' AS a, TIMESTAMP '2024-01-01 09:00:00' AS t, INTERVAL '1-2' YEAR TO MONTH AS i,
                  named_struct('p', array(1, NULL), 'q', map('k', 2.5D)) AS s, CAST(NULL AS VOID) AS v"""
    )
    result = arrow_result(frame)
    [batch] = result.batches
    assert batch.schema.names == ["a", "a", "t", "i", "s", "v"]
    assert batch.schema.types[2] == pa.timestamp("us", "Asia/Tokyo")
    assert batch.column(2)[0].as_py() == datetime(2024, 1, 1, tzinfo=UTC)
    assert [batch.column(index)[0].as_py() for index in (0, 1, 4, 5)] == [
        1,
        "x",
        {"p": [1, None], "q": [("k", 2.5)]},
        None,
    ]
    assert "1-2" in batch.column(3)[0].as_py()


def test_no_rows_and_a_failing_partition(spark: SparkSession) -> None:
    empty = arrow_result(spark.range(0).selectExpr("id", "'x' AS t"))
    assert pa.Table.from_batches(empty.batches, empty.schema).num_rows == 0
    failing = arrow_result(spark.range(0, 8, 1, 8).selectExpr("1 / (7 - id)"))
    with pytest.raises(PySparkException, match="DIVIDE_BY_ZERO"):
        list(failing.batches)


def test_a_setting_that_changes_the_batches_is_refused(spark: SparkSession) -> None:
    own = spark.newSession()
    own.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "true")
    with pytest.raises(InvalidPropertyError, match="useLargeVarTypes"):
        arrow_result(own.range(1))
