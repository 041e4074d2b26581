"""Writes the changed tables of TPC-H as tables of Hudi: loaded, upserted twice and deleted from, and the rows left.

It runs under a Python with PySpark and the Hudi Spark bundle, so it imports nothing of this project: ``python
tpch_bundle.py JAR FOLDER TARGET``.
"""

from __future__ import annotations

import os
import sys

_KEYS = {"lineitem": "l_orderkey,l_linenumber", "orders": "o_orderkey"}
_CHANGES = {"upsert-2": "upsert", "upsert-3": "upsert", "delete-9": "delete"}
_ORDERING = "ver"


def main(jar: str, folder: str, target: str) -> None:
    """Writes ``TABLE_mor`` and ``TABLE_cow`` below the target."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.jars": os.path.abspath(jar),
        "spark.driver.memory": "4g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    }
    builder = SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")

    def write(source: str, name: str, kind: str, operation: str, ordering: int) -> None:
        rows = spark.read.parquet(source).selectExpr("*", f"CAST({ordering} AS bigint) AS {_ORDERING}")
        mode = "overwrite" if operation == "bulk_insert" else "append"
        options = _options(name, kind, operation)
        rows.write.format("hudi").options(**options).mode(mode).save(os.path.join(target, name))
        print(f"{name}: {operation} of {source}", flush=True)

    for table in _KEYS:
        write(os.path.join(folder, "raw", table), f"{table}_mor", "MERGE_ON_READ", "bulk_insert", 1)
        for change, operation in _CHANGES.items():
            source = os.path.join(folder, "upserts", table, change)
            write(source, f"{table}_mor", "MERGE_ON_READ", operation, int(change.rpartition("-")[2]))
        write(os.path.join(folder, "parquet", table), f"{table}_cow", "COPY_ON_WRITE", "bulk_insert", 1)
    spark.stop()


def _options(name: str, kind: str, operation: str) -> dict[str, str]:
    return {
        "hoodie.table.name": name,
        "hoodie.datasource.write.table.type": kind,
        "hoodie.datasource.write.operation": operation,
        "hoodie.datasource.write.recordkey.field": _KEYS[name.rpartition("_")[0]],
        "hoodie.datasource.write.precombine.field": _ORDERING,
        "hoodie.datasource.write.partitionpath.field": "",
        "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
        **{f"hoodie.{one}.shuffle.parallelism": "8" for one in ("bulkinsert", "upsert", "delete")},
        "hoodie.index.type": "SIMPLE",
        "hoodie.metadata.enable": "true",
        "hoodie.compact.inline": "false",
        "hoodie.embed.timeline.server": "false",
        "hoodie.parquet.small.file.limit": "0",
    }


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3])
