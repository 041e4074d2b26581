"""How the tests have Java run: for servers and Sparks that live for seconds.

Java's best compiler would take more CPU than it saves in them, and half of a Spark's start is loading classes.
``python -m tests.java`` stores those that a Spark loads, which ``make`` has done before tests: Java then maps the file.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.paths import PROJECT

__all__ = ["executor_setting", "server_options", "start_java_quickly"]

_QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_CLASSES = PROJECT / ".venv" / "spark-classes.jsa"
_DRIVERS = "SPARK_SUBMIT_OPTS"
_SERVERS = "LAKEPORT_TESTS_JAVA_OPTIONS"


def start_java_quickly() -> None:
    """From now on drivers of Spark and servers start quickly; those of benchmarks do not."""
    os.environ[_SERVERS] = os.environ[_DRIVERS] = _QUICK
    if _CLASSES.exists() and _CLASSES.stat().st_size:
        # What another Spark or another Java cannot use is left aside, and Java would say so in the output of commands.
        os.environ[_DRIVERS] += f" -XX:SharedArchiveFile={_CLASSES} -Xlog:disable"


def server_options() -> list[str]:
    """Options of Java for a server that is started now."""
    return os.environ.get(_SERVERS, "").split()


def executor_setting() -> tuple[str, str]:
    """The setting by which executors in processes of their own start as the drivers do."""
    return "spark.executor.extraJavaOptions", os.environ.get(_DRIVERS, "")


def store_classes(file: Path) -> None:
    """Runs some queries in a Spark, and stores the classes that it has loaded by then."""
    os.environ[_DRIVERS] = f"{_QUICK} -XX:ArchiveClassesAtExit={file}"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession  # its import takes seconds, and most who import this module start no Spark

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    spark.createDataFrame([(number, str(number)) for number in range(9)], "id INT, name STRING").createTempView("t")
    spark.sql("SELECT a.name, count(*) FROM t a JOIN t b ON a.id = b.id + 1 GROUP BY 1 ORDER BY 1 LIMIT 3").collect()
    spark.stop()


if __name__ == "__main__":
    store_classes(_CLASSES)
