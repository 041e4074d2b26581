"""Run by a test in a process of its own: an insert and reads, one of whose tasks fails at first.

``python -m tests.lakeport.spark.processes.tried_twice`` prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connectors.hive.connector import HivePlugin
from lakeport.spark.catalog.install import install
from tests.java import executor_setting
from tests.lakeport.spark.bridge.unsteady import unsteady_registry
from tests.paths import PROJECT

__all__ = ["FEW", "ROWS", "write_and_read_back"]

ROWS = 1000
FEW = 40
"""The driver writes so few rows of tasks."""
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executorEnv.PYTHONPATH": str(PROJECT),
}


def main() -> None:
    """Adds rows, and looks at the files."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,2,1024]")
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.config(*executor_setting()).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:
        registry = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
        properties = {"hive.metastore": "embedded", "hive.metastore.embedded.path": f"{folder}/metastore.db"}
        registry.register("hive", "hive", properties)
        install(spark, registry)
        spark.sql("CREATE SCHEMA hive.s")
        met: dict[str, object] = {}
        for kind, rows in (("rows", ROWS), ("few", FEW)):
            numbers = spark.range(0, rows, 1, 4)
            tries = Path(folder, f"tries_{kind}")
            tries.mkdir()
            met[kind] = write_and_read_back(spark, numbers.mapInArrow(_noted(tries), "id bigint"), Path(folder, kind))
            met[f"tries of {kind}"] = sorted(path.name for path in tries.glob("3-*"))
        met["read"] = _read(spark, Path(folder, "unsteady"))
        sys.stdout.write(json.dumps(met) + "\n")
        registry.shutdown()
    spark.stop()


def write_and_read_back(spark: SparkSession, frame: DataFrame, place: Path) -> dict[str, object]:
    """Adds rows to a new table in a folder.

    Returns:
        How many rows Spark's own reader finds in the folder, how many of them differ, and how many files.
    """
    place.mkdir()
    table = f"hive.s.{place.name}"
    spark.sql(f"CREATE TABLE {table} (id BIGINT) USING parquet LOCATION '{place}'")
    frame.writeTo(table).append()
    files = [path for path in place.rglob("*.parquet") if not path.relative_to(place).parts[0].startswith(".")]
    counts = spark.read.parquet(str(place)).selectExpr("count(*)", "count(DISTINCT id)").first()
    assert counts is not None
    return {"rows": counts[0], "distinct": counts[1], "files": len(files)}


def _read(spark: SparkSession, folder: Path) -> dict[str, object]:
    """Rows of a table, as columns and row by row; the second task fails when it has handed over half of its rows."""
    folder.mkdir()
    registry = unsteady_registry(folder)
    session = spark.newSession()
    install(session, registry)
    session.conf.set("spark.lakeport.unsteady.task_pushdown", "false")
    met: dict[str, object] = {}
    for columns in ("true", "false"):
        session.conf.set("spark.lakeport.unsteady.columnar_reader", columns)
        frame = session.sql("SELECT count(text), count(DISTINCT id), sum(id), max(attempt) FROM unsteady.s.failing")
        met[f"columns {columns}"] = list(frame.collect()[0])
    registry.shutdown()
    return met


def _noted(tries: Path) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Gives the same rows, and leaves a file for each try; the first one of task 3 fails."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        task = (context.partitionId(), context.attemptNumber())
        (tries / "-".join(map(str, task))).touch()
        yield from batches
        if task == (3, 0):
            raise ValueError("the first try fails after its rows")

    return run


if __name__ == "__main__":
    main()
