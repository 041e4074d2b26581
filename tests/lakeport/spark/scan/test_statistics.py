"""What Spark's optimizer is given of a scan's size is what it takes a scan of plain files for."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from connector_spi.statistics import TableStatistics
from lakeport.spark.bridge.types import spark_type_json
from lakeport.spark.scan.statistics.table import of_columns
from tests.lakeport.spark.tables.warehouse import Warehouse

TYPES = (
    pa.null(),
    pa.bool_(),
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.float32(),
    pa.float64(),
    pa.decimal128(18, 2),
    pa.decimal128(19, 2),
    pa.string(),
    pa.binary(),
    pa.date32(),
    pa.timestamp("us", "UTC"),
    pa.timestamp("us"),
    pa.list_(pa.int32()),
    pa.map_(pa.string(), pa.int64()),
    pa.struct([("a", pa.string()), ("b", pa.list_(pa.float64()))]),
)
TEXT = "x" * 1000


@pytest.fixture(scope="module")
def warehouse(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    warehouse = Warehouse(spark, tmp_path_factory.mktemp("statistics"))
    rows = pa.table(
        {"id": range(1000), "k": [n % 7 for n in range(1000)], **{f"t{n}": [TEXT] * 1000 for n in range(9)}}
    )
    folder = warehouse.folder / "rows"
    folder.mkdir()
    pq.write_table(rows, folder / "1.parquet", compression="none", use_dictionary=False)
    warehouse.call("hive", "s", "t", folder)
    warehouse.spark.read.parquet(str(folder)).createOrReplaceTempView("plain")
    yield warehouse
    warehouse.registry.shutdown()


def of_plan(warehouse: Warehouse, query: str) -> int:
    plan = warehouse.spark.sql(query)._jdf.queryExecution().optimizedPlan()
    return int(plan.stats().sizeInBytes())


@pytest.mark.parametrize("columns", ["*", "id", "id, k", "t1, k", "t1, t2, t3"])
def test_a_projection_has_the_size_of_one_of_plain_files(warehouse: Warehouse, columns: str) -> None:
    asked = of_plan(warehouse, f"SELECT {columns} FROM hive.s.t")
    expected = of_plan(warehouse, f"SELECT {columns} FROM plain")
    assert asked == pytest.approx(expected, rel=0.001)


def test_a_table_is_broadcast_for_its_columns_that_are_read(warehouse: Warehouse) -> None:
    session = warehouse.spark
    query = "SELECT count(*) FROM {t} a JOIN {t} b ON a.id = b.k"
    session.sql("SET spark.sql.autoBroadcastJoinThreshold=2000000")
    try:
        assert of_plan(warehouse, "SELECT * FROM plain") > 2_000_000
        for table in ("plain", "hive.s.t"):
            assert "BroadcastHashJoin" in warehouse.plan(query.format(t=table))
    finally:
        session.sql("RESET spark.sql.autoBroadcastJoinThreshold")


@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_sizes_of_types_are_those_of_spark(spark: SparkSession, data_type: pa.DataType) -> None:
    parser = spark._jvm.org.apache.spark.sql.types.DataType  # type: ignore[union-attr]
    expected = int(parser.fromJson(spark_type_json(data_type, "c")).defaultSize())
    whole = TableStatistics(None, 1_000_000 * (8 + expected))
    assert of_columns(whole, (), [data_type]).size_bytes == 8_000_000


def test_what_is_not_known_stays_unknown() -> None:
    assert of_columns(TableStatistics(5.0, None), [pa.int32()], [pa.string()]) == TableStatistics(5.0, None)
    assert of_columns(TableStatistics(0.0, 0), [], [pa.string()]).size_bytes == 0
    # A column that is read twice, or one that only hidden columns add.
    assert of_columns(TableStatistics(5.0, 100), [pa.string()] * 3, [pa.string()]).size_bytes == 100
