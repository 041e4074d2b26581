"""Run by other tests in a process of its own: ``python -m tests.lakeport.spark.processes.hudi_smoke``.

What Hudi tables can be asked, once each, on whatever Spark this Python has. Prints one line of JSON: for each question
``same`` where the answer is real Hudi's, ``other rows``, or the start of the error.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from connectors.hudi.timeline.instant_text import time_of_instant
from tests.connectors.hudi.corpus import answers, expected, find_bootstrapped
from tests.lakeport.spark.tables.warehouse import Warehouse
from tests.rows import assert_same_table

COW, MOR, FEED, ADDED = "v9_basic_cow", "v9_basic_mor", "v9_cdc_key_mor", "v9_addcol_cow"
BOOTSTRAPPED = ["v9_bootstrap_meta_cow", "v9_bootstrap_meta_mor", "v6_bootstrap_meta_cow", "v9_bootstrap_full_mor"]
TYPE = "hoodie.datasource.query.type"
FORMAT = "hoodie.datasource.query.incremental.format"
BEGIN = "hoodie.datasource.read.begin.instanttime"
END = "hoodie.datasource.read.end.instanttime"
STREAM_START = "hoodie.datasource.streaming.startOffset"
END_SCHEMA = "hoodie.datasource.read.schema.use.end.instanttime"
_TOLD = ("_change_type", "_commit_version", "_commit_timestamp")

Question = tuple[str, Callable[[], DataFrame], str, str]
"""Its name, the query, and the case and query whose answer of Hudi's it has to give."""


def main() -> None:
    """Builds the tables, and asks."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as folder:
        warehouse = Warehouse(spark, Path(folder))
        warehouse.add_hudi_corpus([COW, MOR, FEED, ADDED, *BOOTSTRAPPED])
        for case in BOOTSTRAPPED:
            find_bootstrapped(Path(folder, "hudi", case, case))
        met = {name: _met(ask, case, query) for name, ask, case, query in _questions(warehouse.spark)}
        sys.stdout.write(json.dumps({"spark": spark.version, **met}) + "\n")
        warehouse.registry.shutdown()
    spark.stop()


def _questions(spark: SparkSession) -> list[Question]:
    def read(case: str, options: Mapping[str, str]) -> Callable[[], DataFrame]:
        return lambda: spark.read.options(**options).table(f"hudi.hudi_corpus.{case}")

    def sql(case: str, clause: str) -> Callable[[], DataFrame]:
        return lambda: spark.sql(f"SELECT * FROM hudi.hudi_corpus.{case} {clause}")

    instant = answers(COW, "asof")[0]
    time = time_of_instant(instant, UTC)
    range_ = answers(COW, "incremental")[-1]
    incremental = _incremental(range_)
    latest = max(answers(COW, "incremental"), key=lambda one: one.partition("_")[::-1])
    begin = latest.partition("_")[0]
    feed = answers(FEED, "cdc")[-1]
    first_write = f"CHANGES FROM VERSION '{instant}' INCLUSIVE TO VERSION '{instant}' INCLUSIVE"
    clause = ", ".join(f"'{name}' = '{text}'" for name, text in incremental.items())
    return [
        ("VERSION AS OF", sql(COW, f"VERSION AS OF '{instant}'"), COW, f"asof_{instant}"),
        ("TIMESTAMP AS OF", sql(COW, f"TIMESTAMP AS OF '{time:%Y-%m-%d %H:%M:%S.%f}'"), COW, f"asof_{instant}"),
        ("as.of.instant", read(COW, {"as.of.instant": instant}), COW, f"asof_{instant}"),
        ("versionAsOf", read(COW, {"versionAsOf": instant}), COW, f"asof_{instant}"),
        ("incremental", read(COW, incremental), COW, f"incremental_{range_}"),
        ("incremental WITH", sql(COW, f"WITH ({clause})"), COW, f"incremental_{range_}"),
        ("read optimized", read(MOR, {TYPE: "read_optimized"}), MOR, "read_optimized"),
        ("merged", read(MOR, {}), MOR, "snapshot"),
        ("stream", lambda: _streamed(spark, MOR, {}), MOR, "snapshot"),
        ("stream from", lambda: _streamed(spark, COW, {STREAM_START: begin}), COW, f"incremental_{latest}"),
        ("change feed", read(FEED, {**_incremental(feed), FORMAT: "cdc"}), FEED, f"cdc_{feed}"),
        *((case, read(case, {}), case, "snapshot") for case in BOOTSTRAPPED),
        (
            "columns of the end",
            read(ADDED, {**_incremental(f"000_{_first(ADDED)}"), END_SCHEMA: "true"}),
            ADDED,
            _then(),
        ),
        ("CHANGES", lambda: sql(COW, first_write)().drop(*_TOLD), COW, f"asof_{instant}"),
    ]


def _streamed(spark: SparkSession, case: str, options: Mapping[str, str]) -> DataFrame:
    """All that a stream gives until it is at the newest write."""
    frame = spark.readStream.options(**options).table(f"hudi.hudi_corpus.{case}")
    query = frame.writeStream.format("memory").queryName(f"streamed_{case}").trigger(availableNow=True).start()
    query.awaitTermination()
    return spark.table(f"streamed_{case}")


def _incremental(between: str) -> dict[str, str]:
    begin, _, end = between.partition("_")
    return {TYPE: "incremental", BEGIN: begin, END: end}


def _first(case: str) -> str:
    """The begin of an incremental query of a case is when its first write was complete."""
    return answers(case, "incremental")[1].partition("_")[0]


def _then() -> str:
    return f"asof_{answers(ADDED, 'asof')[0]}"


def _met(ask: Callable[[], DataFrame], case: str, query: str) -> str:
    try:
        assert_same_table(ask().toArrow(), expected(case, query))
    except AssertionError:
        return "other rows"
    except (PySparkException, Py4JJavaError) as error:
        return re.sub(r"\s+", " ", str(error))[:1000]
    return "same"


if __name__ == "__main__":
    main()
