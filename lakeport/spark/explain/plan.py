"""Spark's physical plan as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from py4j.java_gateway import JavaObject

from lakeport.spark.bridge.jvm import Jvm
from lakeport.sql.explain.facts import MetricUnit, PlanMetric, PlanNode

__all__ = ["PlanReader", "StageRuns", "scala_items"]

_SCAN = "BatchScanExec"
_SHUFFLE = "ShuffleExchangeExec"
_FIELDS = 25
"""Columns of a node that its text shows."""
_UNITS = {
    "size": MetricUnit.BYTES,
    "v2Custom_org.apache.spark.sql.execution.datasources.v2.python.PythonCustomMetric": MetricUnit.BYTES,
    "timing": MetricUnit.MILLISECONDS,
    "nsTiming": MetricUnit.MILLISECONDS,
}


@dataclass(frozen=True, slots=True)
class StageRuns:
    """How often stages ran an RDD.

    Attributes:
        tasks: Number of tasks of each stage that computed it, by the RDD's id.
    """

    tasks: Mapping[int, tuple[int, ...]]

    def times(self, rdd: int, partitions: int) -> int | None:
        """How often all its partitions were computed; ``None`` where some were computed more often than others."""
        found = self.tasks.get(rdd, ())
        return max(1, len(found)) if all(tasks == partitions for tasks in found) else None


class PlanReader:
    """Reads plans.

    Args:
        jvm: The door to the JVM.
        runs: Of the query; ``None`` where it did not run, so that nothing was measured.
    """

    def __init__(self, jvm: Jvm, runs: StageRuns | None) -> None:
        self._jvm = jvm
        self._runs = runs

    def read(self, plan: JavaObject, times: int | None = 1) -> PlanNode:
        """A node and all below it.

        Args:
            plan: The node.
            times: How often its stage ran.
        """
        kind = self._jvm.class_name(plan)
        if kind == "AdaptiveSparkPlanExec":
            return self.read(plan.executedPlan(), times)
        is_reused = kind in ("ReusedExchangeExec", "ReusedSubqueryExec")
        children = [] if is_reused else self._children(plan, kind, times)
        # What the proxy of a scan of ours prints ends with its fingerprint.
        is_scan = kind == _SCAN
        return PlanNode(
            name=str(plan.nodeName()),
            text=str(plan.simpleString(_FIELDS)),
            metrics=() if self._runs is None else _metrics(plan),
            children=tuple(children),
            scan=str(plan.scan().toString()).rpartition("@")[2] if is_scan else None,
            times=times,
            is_filtered_at_run_time=is_scan and not plan.runtimeFilters().isEmpty(),
        )

    def _children(self, plan: JavaObject, kind: str, times: int | None) -> list[PlanNode]:
        inputs = [plan.plan()] if kind.endswith("QueryStageExec") else scala_items(plan.children())
        below = times
        if kind.endswith("ExchangeExec"):
            below = self._times_below(plan) if kind == _SHUFFLE else 1
        return [*(self.read(child, below) for child in inputs), *map(self.read, scala_items(plan.subqueries()))]

    def _times_below(self, shuffle: JavaObject) -> int | None:
        """A shuffle into ranges first runs its input to sample it, and where that is skewed some tasks once more."""
        if self._runs is None or self._jvm.class_name(shuffle.outputPartitioning()) != "RangePartitioning":
            return 1
        rdd = shuffle.inputRDD()
        return self._runs.times(int(rdd.id()), int(rdd.getNumPartitions()))


def scala_items(sequence: JavaObject) -> list[JavaObject]:
    """The items of a Scala sequence."""
    return [sequence.apply(index) for index in range(sequence.size())]


def _metrics(plan: JavaObject) -> tuple[PlanMetric, ...]:
    """Those that were counted: what is 0 may also be what never ran."""
    found = []
    for metric in scala_items(plan.metrics().values().toSeq()):
        value, name, kind = int(metric.value()), metric.name(), str(metric.metricType())
        if value > 0 and name.isDefined():
            # Spark keeps nanoseconds in longs.
            measured = value / 1e6 if kind == "nsTiming" else value
            found.append(PlanMetric(str(name.get()), measured, _UNITS.get(kind, MetricUnit.COUNT)))
    return tuple(found)
