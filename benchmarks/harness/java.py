"""Looks into the driver's Java and into py4j."""

from __future__ import annotations

import gc
import time

from pyspark.sql import SparkSession

from benchmarks.harness.machine import resident_megabytes

__all__ = ["JavaMemory", "proxies_alive"]

_SETTLE_SECONDS = 0.5


class JavaMemory:
    """What the driver's Java holds.

    Args:
        spark: Its session.
    """

    def __init__(self, spark: SparkSession) -> None:
        jvm = spark.sparkContext._jvm
        assert jvm is not None
        self._jvm = jvm
        self._pid = int(self._jvm.java.lang.ProcessHandle.current().pid())

    def resident_megabytes(self) -> float:
        """Memory of the process that is in RAM."""
        return resident_megabytes(self._pid)

    def heap_megabytes(self) -> float:
        """Heap that objects hold which something still refers to."""
        self.collect_garbage()
        runtime = self._jvm.java.lang.Runtime.getRuntime()
        return (int(runtime.totalMemory()) - int(runtime.freeMemory())) / (1 << 20)

    def arrow_bytes(self) -> int:
        """Memory that Spark's Arrow has allocated and not yet given back."""
        arrow = self._jvm.org.apache.spark.sql.util.ArrowUtils
        return int(arrow.rootAllocator().getAllocatedMemory())

    def collect_garbage(self) -> None:
        """On both sides: each keeps objects of the other alive."""
        for _ in range(3):
            gc.collect()
            self._jvm.java.lang.System.gc()
            time.sleep(_SETTLE_SECONDS)


def proxies_alive(spark: SparkSession) -> int:
    """Python objects that Java may still call."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    return len(gateway.gateway_property.pool)
