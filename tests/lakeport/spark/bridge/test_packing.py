"""Spark's settings that make tasks of files."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.packing import spark_packing

pytestmark = pytest.mark.spark


def test_parallelism_is_what_spark_would_take(spark: SparkSession) -> None:
    jvm = Jvm(spark)
    settings = ("spark.sql.leafNodeDefaultParallelism", "spark.sql.files.minPartitionNum")
    conf = jvm.sql_conf()  # that of the thread's session, which another test may have made
    met = [spark_packing(jvm).parallelism]
    try:
        for number, name in enumerate(settings):
            conf.setConfString(name, str(31 + number))
            met.append(spark_packing(jvm).parallelism)
    finally:
        for name in settings:
            conf.unsetConf(name)
    assert met == [spark.sparkContext.defaultParallelism, 31, 32]
