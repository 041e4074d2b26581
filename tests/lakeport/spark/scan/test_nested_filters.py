"""Filters on fields of structs and an OR over columns, in tasks and in Spark's readers. Plain Spark is the judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connectors.hive.connector import HivePlugin
from lakeport.spark.catalog.install import install

pytestmark = pytest.mark.spark

_STRUCT = pa.struct([("City", pa.string()), ("geo", pa.struct([("x", pa.float64()), ("zone", pa.int32())]))])
_ROWS = pa.table(
    {
        "id": pa.array(range(60), pa.int64()),
        "k": pa.array([None if at % 7 == 0 else at // 10 for at in range(60)], pa.int32()),
        "addr": pa.array(
            [
                None
                if at % 5 == 0
                else {
                    "City": None if at % 4 == 0 else f"c{at // 10}",
                    "geo": None if at % 3 == 0 else {"x": float("nan") if at % 11 == 0 else at / 2, "zone": at},
                }
                for at in range(60)
            ],
            _STRUCT,
        ),
    }
)
_GOT = "conditions that the connector got, checked again"


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    folder: Path = tmp_path_factory.mktemp("nested")
    (folder / "t").mkdir()
    pq.write_table(_ROWS, folder / "t" / "part-0.parquet", row_group_size=10)
    registry = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
    place = {"hive.metastore": "embedded", "hive.metastore.embedded.path": str(folder / "metastore.db")}
    registry.register("nested", "hive", place)
    session = spark.newSession()
    installation = install(session, registry)
    session.sql(f"CREATE TABLE nested.default.t USING parquet LOCATION '{folder}/t'")
    (folder / "o").mkdir()
    # Numbers count as nothing before a stripe ends; texts fill it.
    filler = pa.array([f"{at}" * 99 for at in range(_ROWS.num_rows)])
    rows = _ROWS.append_column("filler", filler)
    orc.write_table(rows, str(folder / "o" / "part-0.orc"), stripe_size=1, batch_size=10)
    session.sql(f"CREATE TABLE nested.default.o USING orc LOCATION '{folder}/o'")
    session.read.parquet(str(folder / "t")).createOrReplaceTempView("plain")
    # Spark's own reader skips row groups with NaN, which is above all numbers, by statistics that leave it out.
    session.sql("SET spark.sql.parquet.filterPushdown = false")
    yield session
    installation.remove()
    registry.shutdown()


_CONDITIONS = [
    "addr.City = 'c2'",
    "ADDR.city <> 'c2'",
    "25 < addr.geo.zone",
    "addr.geo.zone IN (3, 44, NULL)",
    "NOT (addr.geo.zone IN (4, 44))",
    "addr.geo.x > 20.0",
    "addr.geo.x = double('NaN')",
    "addr.City IS NULL",
    "addr.City IS NOT NULL AND addr.geo.zone < 9",
    "addr.geo.zone <=> NULL",
    "addr.City LIKE 'c3%'",
    "addr.City LIKE '%3'",
    "addr.City = 'c1' OR k = 4",
    "NOT (addr.City = 'c1' OR k <= 3)",
    "k = 1 OR id > 55",
    "k = 99 OR addr.geo.zone = 999",
    "addr.geo IS NULL AND id < 20",
    "addr.City = concat('c', k)",
]


_SKIPPING = {
    "k = 1 OR id > 55": 20,
    "k = 99 OR id < 0": 0,
    "NOT (k < 5 AND id < 55)": 10,
    "addr.City = 'c2'": 10,
    "addr.geo.zone > 52": 10,
    "addr.City = 'c1' OR k = 4": 20,
    "k = 99 OR addr.geo.zone = 999": 0,
    # Bounds leave NaN out, and not every writer counts the fields of a struct that is NULL.
    "addr.geo.x > 29": 60,
    "addr.City IS NULL OR id < 0": 60,
}
"""Rows of the row groups or stripes of ten that are read."""


@pytest.mark.slow
def test_rows_are_those_of_plain_spark(tables: SparkSession) -> None:
    tables.sql("SET spark.lakeport.nested.native_reader = false")
    for condition in _CONDITIONS:
        met, expected = (
            sorted(map(repr, tables.sql(f"SELECT id, addr.geo.x FROM {name} WHERE {condition}").collect()))
            for name in ("nested.default.t", "plain")
        )
        assert met == expected, condition
        [[count]] = tables.sql(f"SELECT count(*) FROM nested.default.t WHERE {condition}").collect()
        assert count == len(expected), condition


@pytest.mark.slow
@pytest.mark.parametrize("table", ["t", "o"], ids=["parquet", "orc"])
def test_spark_s_own_reader_skips_by_them(tables: SparkSession, table: str) -> None:
    tables.sql("SET spark.lakeport.nested.native_reader = true")

    def read(condition: str) -> tuple[list[str], int]:
        """The rows, and how many came out of the scan."""
        frame = tables.sql(f"SELECT id FROM nested.default.{table} WHERE {condition}")
        rows = sorted(map(repr, frame.collect()))
        leaf = frame._jdf.queryExecution().executedPlan().collectLeaves().head()
        return rows, int(leaf.metrics().apply("numOutputRows").value())

    tables.sql("SET spark.sql.parquet.filterPushdown = true")
    try:
        found = {condition: read(condition) for condition in [*_CONDITIONS, *_SKIPPING]}
    finally:
        tables.sql("SET spark.sql.parquet.filterPushdown = false")
    for condition, (rows, _) in found.items():
        expected = tables.sql(f"SELECT id FROM plain WHERE {condition}").collect()
        assert rows == sorted(map(repr, expected)), condition
    assert {condition: found[condition][1] for condition in _SKIPPING} == _SKIPPING


def test_explain_shows_what_the_connector_got(tables: SparkSession) -> None:
    tables.sql("SET spark.lakeport.nested.native_reader = false")

    def plan(condition: str) -> str:
        frame = tables.sql(f"SELECT id FROM nested.default.t WHERE {condition}")
        return str(frame._jdf.queryExecution().toString())

    assert f"{_GOT}: NOT (addr.City IS NULL) AND (addr.City = 'c2')" in plan("addr.city = 'c2'")
    assert f"{_GOT}: ((addr.City = 'c1') OR (k = 4))" in plan("addr.City = 'c1' OR k = 4")
    got = plan("upper(addr.City) = 'C1' OR k = 1").partition(_GOT)[2].partition(", files")[0]
    assert "C1" not in got
