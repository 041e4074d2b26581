"""Run by a test in a process of its own: an insert whose tasks fail at first, or run twice at the same time.

``python -m tests.lakeport.spark.processes.tried_twice`` prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connectors.hive.connector import HivePlugin
from lakeport.spark.catalog.install import install

ROWS = 1000
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "500ms",
}


def main() -> None:
    """Adds rows, each time to a table of its own, and looks at the files."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,2,1024]")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:
        registry = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
        properties = {"hive.metastore": "embedded", "hive.metastore.embedded.path": f"{folder}/metastore.db"}
        registry.register("hive", "hive", properties)
        install(spark, registry)
        spark.sql("CREATE SCHEMA hive.s")
        numbers = spark.range(0, ROWS, 1, 4)
        first = {"failed": _fails_at_first, "slow": _slow_at_first}
        met = {
            name: _written(spark, numbers.mapInArrow(function, "id bigint"), Path(folder, name))
            for name, function in first.items()
        }
        sys.stdout.write(json.dumps(met) + "\n")
        registry.shutdown()
    spark.stop()


def _written(spark: SparkSession, frame: DataFrame, place: Path) -> dict[str, object]:
    place.mkdir()
    table = f"hive.s.{place.name}"
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING parquet LOCATION '{place}'")
    frame.writeTo(table).append()
    files = [path for path in place.rglob("*.parquet") if not path.relative_to(place).parts[0].startswith(".")]
    counts = spark.read.parquet(str(place)).selectExpr("count(*)", "count(DISTINCT id)").first()
    assert counts is not None
    return {"rows": counts[0], "distinct": counts[1], "files": len(files)}


def _fails_at_first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    context = TaskContext.get()
    assert context is not None
    yield from batches
    if context.attemptNumber() == 0 and context.partitionId() % 2:
        raise ValueError("the first try fails after its rows")


def _slow_at_first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    context = TaskContext.get()
    assert context is not None
    yield from batches
    if context.attemptNumber() == 0 and context.partitionId() == 3:
        time.sleep(20)


if __name__ == "__main__":
    main()
