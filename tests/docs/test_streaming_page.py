"""The examples of docs/streaming.md run, and go on where they ended."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.connectors.hudi.writer import HudiWriter
from tests.lakeport.spark.tables.warehouse import Warehouse

_PAGE = Path(__file__).parents[2] / "docs" / "streaming.md"


@pytest.mark.slow
@pytest.mark.spark
def test_the_page(spark: SparkSession, tmp_path: Path) -> None:
    warehouse = Warehouse(spark, tmp_path)
    writer = HudiWriter(tmp_path / "trips", 9, ("region",)).create()
    writer.insert(_trips([5, 20]))
    warehouse.call("hudi", "sales", "trips", writer.folder)
    example, into_table = _examples(tmp_path)
    for added, expected in (([30, 7], [20]), ([40], [20, 30]), ([], [20, 30, 40])):
        exec(example, {"spark": warehouse.spark})
        rows = warehouse.spark.read.parquet(str(tmp_path / "data" / "large-trips")).select("amount").collect()
        assert sorted(row[0] for row in rows) == expected
        if added:
            writer.insert(_trips(added))
    _into_table(warehouse.spark, into_table)
    warehouse.registry.shutdown()


def _examples(folder: Path) -> list[str]:
    found = re.findall(r"```python\n(.*?)```", _PAGE.read_text(), re.DOTALL)
    return [example.replace("/data", str(folder / "data")) for example in found]


def _into_table(spark: SparkSession, example: str) -> None:
    spark.sql("CREATE TABLE hive.sales.events (amount BIGINT, region STRING)")
    for _ in range(2):
        given: dict[str, Any] = {"events": spark.readStream.table("hudi.sales.trips").select("amount", "region")}
        exec(example.replace("1 minute", "1 second"), given)
        try:
            given["query"].processAllAvailable()
        finally:
            given["query"].stop()
        rows = spark.table("hive.sales.events").select("amount").collect()
        assert sorted(row[0] for row in rows) == [5, 7, 20, 30, 40]


def _trips(amounts: list[int]) -> pa.Table:
    return pa.table({"amount": pa.array(amounts, pa.int64()), "region": ["north"] * len(amounts)})
