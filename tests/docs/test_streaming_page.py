"""The example of docs/streaming.md runs, and goes on where it ended."""

from __future__ import annotations

import re
from pathlib import Path

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
    [example] = re.findall(r"```python\n(.*?)```", _PAGE.read_text(), re.DOTALL)
    example = example.replace("/data", str(tmp_path / "data"))
    for added, expected in (([30, 7], [20]), ([40], [20, 30]), ([], [20, 30, 40])):
        exec(example, {"spark": warehouse.spark})
        rows = warehouse.spark.read.parquet(str(tmp_path / "data" / "large-trips")).select("amount").collect()
        assert sorted(row[0] for row in rows) == expected
        if added:
            writer.insert(_trips(added))
    warehouse.registry.shutdown()


def _trips(amounts: list[int]) -> pa.Table:
    return pa.table({"amount": pa.array(amounts, pa.int64()), "region": ["north"] * len(amounts)})
