"""Runs ``EXPLAIN ANALYZE`` and ``EXPLAIN (TYPE ..., FORMAT ...)``: what was planned, and what was counted."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import DataFrame

from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.explain.query_analysis import AnalysedScan, QueryAnalysis
from lakeport.transactions.statement import Statement

__all__ = ["CallFacts", "ExplainedQuery", "PlanNode", "StageFacts", "explain_query"]

_SCAN = "BatchScanExec"
_ROWS = "number of output rows"
_WAIT_MILLIS = 2000
"""For what Spark's listeners have not heard yet of stages that have ended."""


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A node of Spark's physical plan.

    Attributes:
        name: Its operator.
        text: In one line.
        metrics: What Spark measured, by Spark's own names: plain numbers, bytes, and times in milliseconds.
        children: Its inputs, and the subqueries in it.
        scan: What identifies our scan, of which it is a node.
    """

    name: str
    text: str
    metrics: dict[str, float]
    children: tuple[PlanNode, ...]
    scan: str | None = None

    def walk(self) -> Iterator[PlanNode]:
        """The node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class StageFacts:
    """What Spark tells of a stage that ran.

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
class ExplainedQuery:
    """All that is known of a query.

    Attributes:
        scans: Of our tables.
        plan: Spark's physical plan; with ``ran`` the final one.
        logical: Spark's optimized logical plan.
        calls: Of metastores.
        ran: The query ran.
        rows: Of its result.
        seconds: From its first task's planning to its last row.
        planning_seconds: Analysis, and planning until then.
        stages: That ran.
    """

    scans: tuple[AnalysedScan, ...]
    plan: PlanNode
    logical: str
    calls: tuple[CallFacts, ...]
    ran: bool = False
    rows: int | None = None
    seconds: float | None = None
    planning_seconds: float | None = None
    stages: tuple[StageFacts, ...] = field(default=())


@runtime_checkable
class _CallCount(Protocol):
    count: int
    seconds: float


def explain_query(
    jvm: Jvm, frame: DataFrame, statement: Statement, analysis: QueryAnalysis, *, run: bool, begun: float
) -> ExplainedQuery:
    """Plans a query, and runs it if asked; its rows are counted and dropped.

    Args:
        jvm: The door to the JVM.
        frame: The query.
        statement: Its tables' statement.
        analysis: Has heard of its scans.
        run: Whether to run it.
        begun: ``time.perf_counter()`` before its analysis.
    """
    execution = frame._jdf.queryExecution()
    plan = execution.executedPlan()
    planned = time.perf_counter()
    if not run:
        found = _node(jvm, plan)
        return ExplainedQuery(tuple(analysis.scans()), found, _logical(execution), _calls(statement))
    tag = f"lakeport-explain-{statement.query_id}"
    jvm.context._jsc.sc().addJobTag(tag)
    try:
        rows = int(execution.toRdd().count())
    finally:
        jvm.context._jsc.sc().removeJobTag(tag)
    ended = time.perf_counter()
    return ExplainedQuery(
        tuple(analysis.scans()),
        _node(jvm, plan),
        _logical(execution),
        _calls(statement),
        True,
        rows,
        ended - planned,
        planned - begun,
        tuple(_stages(jvm.context, tag)),
    )


def scan_rows(plan: PlanNode, identity: str) -> int | None:
    """The rows that a scan gave to the plan above it; ``None`` where Spark did not count."""
    found = [int(node.metrics[_ROWS]) for node in plan.walk() if node.scan == identity and _ROWS in node.metrics]
    return sum(found) if found else None


def _logical(execution: JavaObject) -> str:
    return str(execution.optimizedPlan().toString()).rstrip()


def _node(jvm: Jvm, plan: JavaObject) -> PlanNode:
    kind = jvm.class_name(plan)
    if kind == "AdaptiveSparkPlanExec":
        return _node(jvm, plan.executedPlan())
    inner = [plan.plan()] if kind.endswith("QueryStageExec") else _items(plan.children())
    is_reused = kind in ("ReusedExchangeExec", "ReusedSubqueryExec")
    children = [] if is_reused else [_node(jvm, child) for child in (*inner, *_items(plan.subqueries()))]
    text = str(plan.simpleString(25))
    scan = str(plan.scan().toString()) if kind == _SCAN else None
    return PlanNode(str(plan.nodeName()), text, _metrics(jvm, plan), tuple(children), scan)


def _metrics(jvm: Jvm, plan: JavaObject) -> dict[str, float]:
    """Those that were counted: what is 0 may also be what never ran."""
    found: dict[str, float] = {}
    for metric in _items(plan.metrics().values().toSeq()):
        value = int(metric.value())
        name = metric.name()
        if value > 0 and name.isDefined():
            found[str(name.get())] = value / 1e6 if str(metric.metricType()) == "nsTiming" else value
    return found


def _stages(context: SparkContext, tag: str) -> Iterator[StageFacts]:
    spark = context._jsc.sc()
    with contextlib.suppress(Py4JError):  # what the listeners have heard is told
        spark.listenerBus().waitUntilEmpty(_WAIT_MILLIS)
    store = spark.statusStore()
    seen: set[int] = set()
    for job in sorted(int(job) for job in spark.statusTracker().getJobIdsForTag(tag)):
        try:
            stages = [int(stage) for stage in _items(store.job(job).stageIds())]
        except Py4JError:
            continue  # forgotten, or not heard of
        for stage in sorted(set(stages) - seen):
            seen.add(stage)
            data = store.lastStageAttempt(stage)
            if str(data.status()) in ("COMPLETE", "FAILED"):
                yield _stage(stage, data)


def _stage(number: int, data: JavaObject) -> StageFacts:
    first, last = data.firstTaskLaunchedTime(), data.completionTime()
    seconds = None
    if first.isDefined() and last.isDefined():
        seconds = (int(last.get().getTime()) - int(first.get().getTime())) / 1000
    return StageFacts(
        number,
        int(data.numCompleteTasks()),
        seconds,
        int(data.executorRunTime()) / 1000,
        int(data.inputBytes()),
        int(data.shuffleWriteBytes()),
    )


def _calls(statement: Statement) -> tuple[CallFacts, ...]:
    """What the transactions of the statement say that they called; of connectors that count nothing, nothing."""
    found = []
    for access in statement.accesses():
        by_method = getattr(getattr(access.transaction, "calls", None), "by_method", None)
        for method, calls in (by_method() if by_method is not None else {}).items():
            if isinstance(calls, _CallCount):
                found.append(CallFacts(access.catalog, method, calls.count, calls.seconds))
    return tuple(found)


def _items(sequence: JavaObject) -> list[JavaObject]:
    return [sequence.apply(index) for index in range(sequence.size())]
