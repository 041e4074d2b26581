"""How the Spark behind a JVM makes tasks of files, by its settings."""

from __future__ import annotations

from lakeport.planning.packing import Packing
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["spark_packing"]

_PARALLELISM = ("spark.sql.files.minPartitionNum", "spark.sql.leafNodeDefaultParallelism")


def spark_packing(jvm: Jvm) -> Packing:
    """What Spark's own readers of files go by (``FilePartition.maxSplitBytes``)."""
    conf = jvm.sql_conf()
    chosen = (str(conf.getConfString(name, "")) for name in _PARALLELISM)
    parallelism = next((int(one) for one in chosen if one), None)
    if parallelism is None:
        parallelism = int(jvm.context._jsc.sc().defaultParallelism())
    return Packing(parallelism, int(conf.filesMaxPartitionBytes()), int(conf.filesOpenCostInBytes()))
