"""How the Spark behind a JVM makes tasks of files, by its settings."""

from __future__ import annotations

from lakeport.planning.packing import Packing
from lakeport.spark.bridge.jvm import Jvm

__all__ = ["spark_packing"]

_PARALLELISM = ("spark.sql.files.minPartitionNum", "spark.sql.leafNodeDefaultParallelism")


def spark_packing(jvm: Jvm) -> Packing:
    """What Spark's own readers of files go by (``FilePartition.maxSplitBytes``)."""
    conf = jvm.sql_conf()
    # A default that is no number is refused, so the name is looked for first.
    chosen = next((name for name in _PARALLELISM if conf.contains(name)), None)
    found = jvm.context._jsc.sc().defaultParallelism() if chosen is None else conf.getConfString(chosen)
    return Packing(int(found), int(conf.filesMaxPartitionBytes()), int(conf.filesOpenCostInBytes()))
