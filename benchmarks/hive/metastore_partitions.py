"""A table of 100,000 partitions in a Hive metastore: a query of ten of them, of all, and SHOW PARTITIONS.

Against asking for all partitions in full, and against Spark's own Hive session on the same metastore.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.timing import alternate
from benchmarks.peers.metastore_reader import read_in_process
from catalog.metastore.model import Database, FieldSchema, Parameters, Partition, SerDeInfo, StorageDescriptor, Table
from catalog.metastore.partitions.names import make_partition_name
from catalog.metastore.thrift.factory import ThriftConfig, connect_thrift
from catalog.plugins import discover_plugins
from catalog.registry import CatalogRegistry
from lakeport.session import Session
from lakeport.version import VERSION
from tests.hms import running_metastore

_GROUP = "metastore_partitions"
_DATABASE, _TABLE = "bench", "events"
_HOURS = 10
_BATCH = 2500
_KEYS = (FieldSchema("ds", "string"), FieldSchema("hour", "int"))
_COLUMNS = tuple(FieldSchema(f"c{number}", kind) for number, kind in enumerate(["bigint", "string", "double", "date"]))
_PARQUET = "org.apache.hadoop.hive.ql.io.parquet"
_KEPT = "2000-01-03"
# With all three given, the metastore does not list the folder of each partition that is added.
_EMPTY = Parameters.of({"numFiles": "0", "numRows": "0", "totalSize": "0"})


def measure(size: Size, folder: Path) -> list[Figure]:
    """Fills a metastore of Hive 2.3, PySpark's own, and reads from it in turn."""
    count = size.of(100_000, 200)
    with running_metastore(folder / "hms", heap="4g") as server:
        started = time.perf_counter()
        _fill(server.uri, folder / "data", count)
        filled = time.perf_counter() - started
        figures = [Figure(_GROUP, f"{count:,} partitions added", filled, "s")]
        figures += _alone(size, server.uri)
        with _sessions(server.uri, folder) as session:
            figures += _with_spark(size, session, count)
    return figures


def _alone(size: Size, uri: str) -> list[Figure]:
    """Lakeport without Spark against the naive way, each in a process of its own."""
    readings: dict[str, list[float]] = {"naive": [], "keep": []}
    table = (_DATABASE, _TABLE)
    for _ in range(size.of(3, 1)):
        naive, keep = (read_in_process(way, uri, table, _KEPT) for way in ("naive", "keep"))
        readings["naive"].append(naive.seconds)
        readings["keep"].append(keep.seconds)
    every, listed = (read_in_process(way, uri, table, _KEPT) for way in ("all", "list"))
    naive_seconds, keep_seconds = (sorted(values)[len(values) // 2] for values in readings.values())
    return [
        Figure(
            _GROUP,
            "query of 10 partitions: of the time of fetching all",
            value=keep_seconds / naive_seconds,
            unit="x",
            at_most=0.05,
            note=f"{keep_seconds * 1000:.0f} ms, {keep.calls} calls; naive {naive_seconds:.2f} s, {naive.calls} call",
        ),
        Figure(
            _GROUP,
            "query of 10 partitions: memory",
            value=keep.megabytes,
            unit="MB",
            at_most=None,
            note=f"naive {naive.megabytes:.0f} MB",
        ),
        Figure(
            _GROUP,
            "query of all partitions: of the time of fetching all",
            value=every.seconds / naive_seconds,
            unit="x",
            at_most=None,
            note=f"{every.seconds:.2f} s, {every.calls} calls, folders listed, too",
        ),
        Figure(
            _GROUP,
            "query of all partitions: memory",
            value=every.megabytes,
            unit="MB",
            at_most=None,
            note=f"naive {naive.megabytes:.0f} MB",
        ),
        Figure(
            _GROUP,
            "values of all partitions: of the time of fetching all",
            value=listed.seconds / naive_seconds,
            unit="x",
            at_most=None,
            note=f"{listed.seconds * 1000:.0f} ms, {listed.calls} calls, {listed.megabytes:.0f} MB",
        ),
    ]


def _with_spark(size: Size, session: Session, count: int) -> list[Figure]:
    """SQL through Lakeport against SQL through Spark's own Hive client, in one Spark."""
    queries = {
        "query of 10 partitions": (f"SELECT count(*) FROM {{0}} WHERE ds = '{_KEPT}'", 5, None),
        "query of all partitions": ("SELECT count(*) FROM {0}", 2, 1.0),
        "SHOW PARTITIONS": ("SHOW PARTITIONS {0}", 3, None),
    }
    figures = []
    for what, (query, rounds, aim) in queries.items():
        contenders: dict[str, Callable[[], object]] = {
            name: partial(_collect, session, query.format(f"{catalog}.{_DATABASE}.{_TABLE}"))
            for name, catalog in (("lakeport", "hive"), ("spark", "spark_catalog"))
        }
        timings = alternate(contenders, size.of(rounds, 1), 1)
        note = f"medians {timings.median('lakeport'):.2f} s, Spark {timings.median('spark'):.2f} s"
        figures.append(
            Figure(
                _GROUP,
                f"{what}: of Spark's own",
                value=timings.ratio("lakeport", "spark"),
                unit="x",
                at_most=aim,
                note=note,
            )
        )
    shown = [
        _collect(session, f"SHOW PARTITIONS {catalog}.{_DATABASE}.{_TABLE}") for catalog in ("hive", "spark_catalog")
    ]
    assert shown == [count, count], shown
    return figures


def _collect(session: Session, text: str) -> int:
    return len(session.sql(text).collect())


@contextmanager
def _sessions(uri: str, folder: Path) -> Iterator[Session]:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").enableHiveSupport()
    settings = {
        "spark.hadoop.hive.metastore.uris": uri,
        "spark.hadoop.hive.metastore.client.socket.timeout": "3600s",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        # Lists folders anew for each query, as Lakeport does.
        "spark.sql.hive.filesourcePartitionFileCacheSize": "0",
        "spark.driver.memory": "4g",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    registry = CatalogRegistry(discover_plugins(), VERSION)
    registry.register("hive", "hive", {"hive.metastore.uri": uri, "hive.metastore.thrift.client.read-timeout": "1h"})
    try:
        with Session(registry, spark) as session:
            yield session
    finally:
        spark.stop()


def _fill(uri: str, folder: Path, count: int) -> None:
    """Makes the table and its folders: the metastore is slow at making them."""
    root = f"file://{folder}"
    storage = StorageDescriptor(
        _COLUMNS,
        root,
        f"{_PARQUET}.MapredParquetInputFormat",
        f"{_PARQUET}.MapredParquetOutputFormat",
        serde=SerDeInfo(f"{_PARQUET}.serde.ParquetHiveSerDe", Parameters.of({"serialization.format": "1"})),
    )
    metastore = connect_thrift(ThriftConfig(uri=uri, read_timeout=3600))
    metastore.writes.create_database(Database(_DATABASE, location=f"{root}.db"))
    table = Table(
        _DATABASE,
        _TABLE,
        storage=storage,
        partition_keys=_KEYS,
        parameters=Parameters.of({"EXTERNAL": "TRUE"}),
        table_type="EXTERNAL_TABLE",
    )
    metastore.writes.create_table(table)
    first = date(2000, 1, 1)
    values = [((first + timedelta(n // _HOURS)).isoformat(), str(n % _HOURS)) for n in range(count)]
    for start in range(0, count, _BATCH):
        batch = []
        for one in values[start : start + _BATCH]:
            name = make_partition_name([key.name for key in _KEYS], one)
            Path(folder, name).mkdir(parents=True)
            own = replace(storage, location=f"{root}/{name}")
            batch.append(Partition(_DATABASE, _TABLE, one, own, _EMPTY))
        metastore.writes.add_partitions(_DATABASE, _TABLE, batch)
    metastore.close()


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
