"""Run by other tests in a process of its own: ``python -m tests.lakeport.spark.processes.smoke MASTER``.

Every kind of scan once, on whatever Spark this Python has and with any master. Prints one line of JSON: for each
statement its rows, sorted.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path

from pyspark.sql import SparkSession

from catalog.metastore.factory import Metastore
from catalog.metastore.model import FieldSchema, Parameters, SerDeInfo, StorageDescriptor, Table
from catalog.plugins import PluginSet
from catalog.registry import CatalogRegistry
from connectors.hive.connector import HiveConnector, HivePlugin
from lakeport.spark.bridge.columns import columns_unavailable
from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.catalog.install import install
from tests.java import executor_setting

STATEMENTS = [
    "SHOW SCHEMAS IN hive",
    "SHOW TABLES IN hive.s",
    "DESCRIBE hive.s.parquet_table",
    "SELECT * FROM hive.s.{t}",
    "SELECT count(*) FROM hive.s.{t}",
    "SELECT p, sum(id) FROM hive.s.{t} WHERE p IN ('a', 'b') AND id > 2 GROUP BY p",
    "SELECT p, count(*), max(name), avg(id) FROM hive.s.{t} WHERE name <> 'name 3' OR id IS NULL GROUP BY p",
    "SELECT count(*), count(name), sum(id) FROM hive.s.{t} WHERE name = 'none of them'",
    "SELECT id, name FROM hive.s.{t} WHERE id < 0",
    "SELECT id, name FROM hive.s.{t}",
    "SELECT DISTINCT p FROM hive.s.{t} WHERE id >= 6",
    "SELECT p FROM hive.s.{t} WHERE name LIKE '%1' AND id < 5",
    "SELECT count(*) + 1 FROM (SELECT name FROM hive.s.{t} WHERE id > 3 LIMIT 5)",
    "SELECT id, at, day, price FROM hive.s.{t} WHERE at > TIMESTAMP_NTZ'2024-03-10 02:30:00' AND day < '2024-03-12'",
    "SELECT id, point.x FROM hive.s.{t} WHERE point.x > 10 LIMIT 3",
    "SELECT a.id FROM hive.s.{t} a JOIN hive.s.{t} b ON a.id = b.id + 1 WHERE b.p = 'b'",
    "SELECT count(*) FROM hive.s.`{t}$partitions`",
    "SHOW PARTITIONS hive.s.{t}",
]


def main(master: str) -> None:
    """Builds two tables, and asks."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    builder = (
        builder.config("spark.sql.session.timeZone", "UTC")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
    )
    spark = builder.config("spark.sql.shuffle.partitions", "2").config(*executor_setting()).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(json.dumps(ask(spark, Path(folder)), default=str) + "\n")
    spark.stop()


def ask(spark: SparkSession, folder: Path) -> dict[str, list[list[object]]]:
    """The rows of every statement, over tables that are made in ``folder``."""
    registry = CatalogRegistry(PluginSet.of(HivePlugin()), "test")
    metastore = {"hive.metastore": "embedded", "hive.metastore.embedded.path": f"{folder}/metastore.db"}
    registry.register("hive", "hive", metastore)
    install(spark, registry)
    answers = _answers(spark, folder)
    hive = registry.get("hive")
    assert isinstance(hive, HiveConnector)
    answers["why tasks hand over rows, not columns"] = [[columns_unavailable(Jvm(spark))]]
    answers["transactions of a join of plain SQL"] = [[_transactions_of_a_join(spark, hive.metastore, folder)]]
    registry.shutdown()
    return answers


def _answers(spark: SparkSession, folder: Path) -> dict[str, list[list[object]]]:
    begin = dt.datetime(2024, 3, 10, 0, 30, 0, 123456)
    times = [
        (begin + dt.timedelta(hours=6 * n), dt.date(2024, 3, 10 + n // 4), Decimal(n).scaleb(-1)) for n in range(12)
    ]
    rows = [(n, f"name {n}", (n, str(n)), *times[n], "abc"[n % 3]) for n in range(12)]
    columns = (
        "id int, name string, point struct<x: int, y: string>, at timestamp, day date, price decimal(5, 2), p string"
    )
    frame = spark.createDataFrame(rows, columns)
    answers: dict[str, list[list[object]]] = {"spark": [[spark.version]]}
    for file_format in ("parquet", "orc"):
        location = folder / file_format
        frame.repartition(2).write.partitionBy("p").format(file_format).save(str(location))
        name = f"{file_format}_table"
        arguments = f"schema_name => 's', table_name => '{name}', table_location => '{location}'"
        spark.sql(f"CALL hive.system.register_table({arguments})")
    answers.update(_inserted(spark, folder))
    answers.update(_joined_buckets(spark))
    for native in ("true", "false"):
        spark.sql(f"SET spark.lakeport.hive.native_reader={native}")
        for name in ("parquet_table", "orc_table"):
            for statement in STATEMENTS:
                found = spark.sql(statement.format(t=name)).collect()
                key = f"{statement.format(t=name)} -- native {native}"
                answers[key] = sorted((list(row) for row in found), key=repr)
    return answers


def _inserted(spark: SparkSession, folder: Path) -> dict[str, list[list[object]]]:
    """What other readers find in tables that rows were added to."""
    answers: dict[str, list[list[object]]] = {}
    for file_format in ("parquet", "orc"):
        name, location = f"inserted_{file_format}", folder / f"inserted_{file_format}"
        location.mkdir()
        spark.sql(
            f"CREATE TABLE hive.s.{name} (id BIGINT, name STRING, tags ARRAY<INT>, day DATE, p STRING) "
            f"USING {file_format} PARTITIONED BY (p) LOCATION '{location}'"
        )
        query = "SELECT id, concat('n', id), array(1, NULL), DATE'2024-03-10', if(id % 3 = 0, NULL, 'x')"
        spark.sql(f"INSERT INTO hive.s.{name} {query} FROM range(0, 20, 1, 4)")
        again = f"SELECT id + 100 AS id, name, tags, day, p FROM hive.s.{name} WHERE p IS NULL"
        spark.sql(again).writeTo(f"hive.s.{name}").append()
        frame = spark.read.format(file_format).load(str(location))
        answers[f"{name}, by Spark's own reader"] = sorted((list(row) for row in frame.collect()), key=repr)
        found = spark.sql(f"SELECT * FROM hive.s.{name}").collect()
        answers[f"{name}, by ours"] = sorted((list(row) for row in found), key=repr)
    return answers


def _joined_buckets(spark: SparkSession) -> dict[str, list[list[object]]]:
    """Joins of sorted buckets, of as many and of other numbers of them."""
    bucketing = "spark.sql.sources.v2.bucketing."
    texts = {
        f"{bucketing}enabled": "true",
        f"{bucketing}pushPartValues.enabled": "true",
        f"{bucketing}allowCompatibleTransforms.enabled": "true",
        "spark.lakeport.hive.storage_partitioning": "ALL",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
    }
    before = {name: spark.conf.get(name, None) for name in texts}
    for name, text in texts.items():
        spark.conf.set(name, text)
    answers: dict[str, list[list[object]]] = {}
    for count, step in ((4, 2), (8, 3)):
        spark.sql(
            f"CREATE TABLE hive.s.sorted_{count} (k BIGINT, v STRING) USING parquet CLUSTERED BY (k) SORTED BY (k) "
            f"INTO {count} BUCKETS"
        )
        spark.sql(f"INSERT INTO hive.s.sorted_{count} SELECT id * {step}, 'x' FROM range(90)")
    for one, other, expected in ((4, 8, range(0, 180, 6)), (4, 4, range(0, 180, 2))):
        found = spark.sql(f"SELECT l.k FROM hive.s.sorted_{one} l JOIN hive.s.sorted_{other} r ON l.k = r.k").collect()
        key = f"sorted buckets, {one} and {other}"
        answers[key] = sorted(list(row) for row in found)
        assert answers[key] == [[k] for k in expected], key
    for name, old in before.items():
        if old is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, old)
    return answers


def _transactions_of_a_join(spark: SparkSession, metastore: Metastore, folder: Path) -> int:
    """How many metastore transactions a join of two transactional tables took; waits until its locks are gone."""
    orc = "org.apache.hadoop.hive.ql.io.orc.Orc"
    for name in ("left", "right"):
        (folder / name).mkdir()
        storage = StorageDescriptor(
            (FieldSchema("id", "int"),),
            f"file://{folder / name}",
            f"{orc}InputFormat",
            f"{orc}OutputFormat",
            serde=SerDeInfo(f"{orc}Serde"),
        )
        metastore.writes.create_table(Table("s", name, storage, parameters=Parameters.of({"transactional": "true"})))
    before = metastore.transactions.get_valid_transactions().high_watermark
    assert spark.sql("SELECT * FROM hive.s.left JOIN hive.s.right USING (id)").collect() == []
    deadline = time.monotonic() + 60
    while metastore.transactions.show_locks("s", "left") + metastore.transactions.show_locks("s", "right"):
        assert time.monotonic() < deadline, "locks stay"
        time.sleep(0.05)
    return metastore.transactions.get_valid_transactions().high_watermark - before


if __name__ == "__main__":
    main(sys.argv[1])
