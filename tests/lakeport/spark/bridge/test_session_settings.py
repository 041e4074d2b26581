"""Spark's settings that make tasks of files."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.bridge.session_settings import read_file_settings

pytestmark = pytest.mark.spark


def test_parallelism_is_what_spark_would_take(spark: SparkSession) -> None:
    jvm = Jvm(spark)
    settings = ("spark.sql.leafNodeDefaultParallelism", "spark.sql.files.minPartitionNum")
    conf = jvm.sql_conf()  # that of the thread's session, which another test may have made
    met = [read_file_settings(jvm).packing.parallelism]
    try:
        for number, name in enumerate(settings):
            conf.setConfString(name, str(31 + number))
            met.append(read_file_settings(jvm).packing.parallelism)
    finally:
        for name in settings:
            conf.unsetConf(name)
    assert met == [spark.sparkContext.defaultParallelism, 31, 32]
