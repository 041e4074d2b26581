"""Run by a test in a process of its own: an insert and reads, of one task of which Spark starts a copy elsewhere.

``python -m tests.lakeport.spark.processes.speculated`` prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession

from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connectors.hive.connector import HivePlugin
from lakeport.spark.catalog.install import install
from tests.java import executor_setting
from tests.lakeport.spark.bridge.unsteady import unsteady_registry
from tests.lakeport.spark.processes.standalone_cluster import standalone_cluster
from tests.lakeport.spark.processes.tried_twice import ROWS, write_and_read_back
from tests.paths import PROJECT

_LONG = 60.0
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executorEnv.PYTHONPATH": str(PROJECT),
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "1s",
}


def main() -> None:
    """Adds rows, and looks at the files; then reads."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with tempfile.TemporaryDirectory() as name, standalone_cluster(Path(name)) as master:
        builder = SparkSession.builder.master(master)
        for setting, value in _SETTINGS.items():
            builder = builder.config(setting, value)
        spark = builder.config(*executor_setting()).getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
        met = _written(spark, Path(name))
        met["read"] = _read(spark, Path(name, "unsteady"))
        spark.stop()
    sys.stdout.write(json.dumps(met) + "\n")


def _written(spark: SparkSession, folder: Path) -> dict[str, object]:
    registry = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
    properties = {"hive.metastore": "embedded", "hive.metastore.embedded.path": f"{folder}/metastore.db"}
    registry.register("hive", "hive", properties)
    install(spark, registry)
    spark.sql("CREATE SCHEMA hive.s")
    numbers = spark.range(0, ROWS, 1, 4)
    met: dict[str, object] = {}
    for kind in ("first_wins", "copy_wins"):
        tries = folder / f"tries_{kind}"
        tries.mkdir()
        slow = _slow(tries, first_wins=kind == "first_wins")
        met[kind] = write_and_read_back(spark, numbers.mapInArrow(slow, "id bigint"), folder / kind)
        met[f"tries of {kind}"] = sorted(path.name for path in tries.glob("3-*"))
    registry.shutdown()
    return met


def _read(spark: SparkSession, folder: Path) -> dict[str, object]:
    """Rows of a table, as columns and row by row; the first try of the second task has given half of its rows."""
    folder.mkdir()
    registry = unsteady_registry(folder)
    session = spark.newSession()
    install(session, registry)
    session.conf.set("spark.lakeport.unsteady.task_pushdown", "false")
    met: dict[str, object] = {}
    for columns in ("true", "false"):
        session.conf.set("spark.lakeport.unsteady.columnar_reader", columns)
        frame = session.sql("SELECT count(text), count(DISTINCT id), sum(id), max(attempt) FROM unsteady.s.hanging")
        met[f"columns {columns}"] = list(frame.collect()[0])
    registry.shutdown()
    return met


def _slow(tries: Path, *, first_wins: bool) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Gives the same rows, and leaves a file for each try; task 3 waits behind its rows for its copy to do so too.

    Then one of the two goes on, and Spark ends the other.
    """

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        task, attempt = context.partitionId(), context.attemptNumber()
        yield from batches
        (tries / f"{task}-{attempt}").touch()
        if task != 3:
            return
        end = time.monotonic() + _LONG
        goes_on = (attempt == 0) == first_wins
        while time.monotonic() < end and not (goes_on and (tries / "3-0").exists() and (tries / "3-1").exists()):
            time.sleep(0.05)

    return run


if __name__ == "__main__":
    main()
