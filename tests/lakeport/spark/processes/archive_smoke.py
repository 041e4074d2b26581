"""Run by a test in a process of its own: ``python -m tests.lakeport.spark.processes.archive_smoke ARCHIVE``.

One executor whose Python is in a packed environment reads a table; prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import sys

import pyarrow as pa
from pyspark.sql import SparkSession

from tests.java import executor_setting
from tests.lakeport.memory_session import memory_session, put


def main(archive: str) -> None:
    """Reads a table by Python tasks, and asks a task where it found Lakeport."""
    os.environ["PYSPARK_PYTHON"] = "./environment/bin/python"
    builder = SparkSession.builder.master("local-cluster[1,1,1024]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    spark = builder.config("spark.archives", f"{archive}#environment").config(*executor_setting()).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    with memory_session(spark) as (session, connector):
        put(connector, "t", pa.table({"n": range(10)}), chunk_rows=5)
        rows = [row[0] for row in session.sql("SELECT n FROM mem.s.t WHERE n % 3 = 0").collect()]
        [paths] = spark.sparkContext.range(1).map(_paths_of_task).collect()
    application = spark.sparkContext.applicationId
    sys.stdout.write(json.dumps({"rows": sorted(rows), "paths": paths, "application": application}) + "\n")
    spark.stop()


def _paths_of_task(number: int) -> list[str]:
    """Where a task finds Lakeport, the home of its Python, and all that could give it another."""
    import sys as task_sys

    import lakeport.spark.tasks.task as task

    return [str(task.__file__), task_sys.prefix, *task_sys.path]


if __name__ == "__main__":
    main(sys.argv[1])
