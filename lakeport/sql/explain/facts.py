"""What is known of a query that is explained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from lakeport.scan_facts import ScanDescription, ScanMetrics

__all__ = [
    "CallFacts",
    "ExplainedQuery",
    "ExplainedScan",
    "MetricUnit",
    "PlanMetric",
    "PlanNode",
    "RunFacts",
    "StageFacts",
]

_ROWS = "number of output rows"


class MetricUnit(Enum):
    """What a number of Spark's counts."""

    COUNT = "count"
    BYTES = "bytes"
    MILLISECONDS = "milliseconds"


@dataclass(frozen=True, slots=True)
class PlanMetric:
    """A number that Spark measured of one node.

    Attributes:
        name: Spark's own name.
        value: In ``unit``.
        unit: What it counts.
    """

    name: str
    value: float
    unit: MetricUnit


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A node of Spark's physical plan.

    Attributes:
        name: Its operator.
        text: In one line.
        metrics: What Spark measured; nothing of a query that did not run.
        children: Its inputs, and the subqueries in it.
        scan: The fingerprint of our scan, of which it is a node.
        times: How often Spark ran it: before it sorts rows over several tasks, it runs what is below to sample them.
            ``None`` where a part of it ran more often than the others.
        is_filtered_at_run_time: The other side of a join prunes it while the query runs.
    """

    name: str
    text: str
    metrics: tuple[PlanMetric, ...]
    children: tuple[PlanNode, ...]
    scan: str | None = None
    times: int | None = 1
    is_filtered_at_run_time: bool = False

    @property
    def rows(self) -> int | None:
        """The rows that it gave in one run; ``None`` where Spark did not count, or nothing exact is known."""
        found = next((metric.value for metric in self.metrics if metric.name == _ROWS), None)
        return None if found is None or self.times is None else int(found) // self.times

    def walk(self) -> Iterator[PlanNode]:
        """The node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class StageFacts:
    """What Spark reports of a stage that ran.

    Attributes:
        number: Its id.
        tasks: Number of tasks.
        seconds: From the first task's start to the last one's end; ``None`` where Spark does not say.
        task_seconds: What the tasks ran, added up.
        input_bytes: Read by Spark's own readers.
        shuffle_bytes: Written for the next stage.
    """

    number: int
    tasks: int
    seconds: float | None
    task_seconds: float
    input_bytes: int
    shuffle_bytes: int


@dataclass(frozen=True, slots=True)
class CallFacts:
    """The calls of one method of a catalog's metastore.

    Attributes:
        catalog: The catalog.
        method: What was called.
        count: How often.
        seconds: In all.
    """

    catalog: str
    method: str
    count: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ExplainedScan:
    """One scan of a query.

    Attributes:
        fingerprint: What identifies the scan; equal scans share it.
        description: What was planned.
        metrics: What its tasks counted; ``None`` where Spark's own reader read, or nothing was counted.
    """

    fingerprint: str
    description: ScanDescription
    metrics: ScanMetrics | None


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A query that ran.

    Attributes:
        rows: Of its result.
        seconds: From its first task's planning to its last row.
        planning_seconds: Analysis, and planning until then.
        stages: That ran.
    """

    rows: int
    seconds: float
    planning_seconds: float
    stages: tuple[StageFacts, ...]


@dataclass(frozen=True, slots=True)
class ExplainedQuery:
    """All that is known of a query.

    Attributes:
        scans: Of our tables.
        plan: Spark's physical plan; of a query that ran the final one.
        logical: Spark's optimized logical plan.
        calls: Of metastores.
        run: How it ran; ``None`` where it was only planned.
    """

    scans: tuple[ExplainedScan, ...]
    plan: PlanNode
    logical: str
    calls: tuple[CallFacts, ...]
    run: RunFacts | None = None

    def nodes_of(self, scan: ExplainedScan) -> list[PlanNode]:
        """The nodes of the plan that are this scan."""
        return [node for node in self.plan.walk() if node.scan == scan.fingerprint]

    def rows_of(self, scan: ExplainedScan) -> int | None:
        """The rows that a scan gave to the plan above it; ``None`` where that is not known."""
        found = [node.rows for node in self.nodes_of(scan) if node.metrics]
        known = [rows for rows in found if rows is not None]
        return sum(known) if known and len(known) == len(found) else None
