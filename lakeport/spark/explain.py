"""Runs ``EXPLAIN ANALYZE`` and ``EXPLAIN (TYPE ..., FORMAT ...)``: what was planned, and what was counted."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import DataFrame

from lakeport.scan_facts import ObservedScan
from lakeport.spark.bridge.jvm import Jvm
from lakeport.sql.explain import CallFacts, ExplainedQuery, ExplainedScan, PlanNode, RunFacts, StageFacts
from lakeport.transactions.statement import Statement

__all__ = ["QueryObserver", "explain_query"]

_SCAN = "BatchScanExec"
_WAIT_MILLIS = 2000
"""For what Spark's listeners have not heard yet of stages that have ended."""


@runtime_checkable
class _CallCount(Protocol):
    count: int
    seconds: float


class QueryObserver:
    """Collects the scans of one statement.

    Args:
        runs: The statement is run, so that tasks count; only scans that were started are shown then.
    """

    def __init__(self, *, runs: bool) -> None:
        self._runs = runs
        self._built: dict[int, ObservedScan] = {}
        self._started: set[int] = set()
        self._lock = threading.Lock()

    @property
    def wants_metrics(self) -> bool:
        """Whether tasks are to count what they read."""
        return self._runs

    def scan_built(self, scan: ObservedScan) -> None:
        """A scan was built."""
        with self._lock:
            self._built[id(scan)] = scan

    def scan_started(self, scan: ObservedScan) -> None:
        """Its tasks were planned to run."""
        with self._lock:
            self._started.add(id(scan))

    def scans(self) -> tuple[ExplainedScan, ...]:
        """The scans, in the order in which they were built."""
        shown = [scan for key, scan in self._built.items() if not self._runs or key in self._started]
        return tuple(ExplainedScan(scan.fingerprint, scan.described(), scan.metrics()) for scan in shown)

    def close(self) -> None:
        """Releases what the tasks report to."""
        for scan in self._built.values():
            scan.stop_counting()


def explain_query(
    jvm: Jvm, frame: DataFrame, statement: Statement, observer: QueryObserver, *, begun: float
) -> ExplainedQuery:
    """Plans a query, and runs it if the observer wants metrics; its rows are counted and dropped.

    Args:
        jvm: The door to the JVM.
        frame: The query.
        statement: Its tables' statement.
        observer: Knows its scans.
        begun: ``time.perf_counter()`` before its analysis.
    """
    execution = frame._jdf.queryExecution()
    plan = execution.executedPlan()
    planned = time.perf_counter()
    run = _run(jvm, execution, statement.query_id, planned - begun) if observer.wants_metrics else None
    return ExplainedQuery(observer.scans(), _node(jvm, plan), _logical(execution), _calls(statement), run)


def _run(jvm: Jvm, execution: JavaObject, query_id: str, planning_seconds: float) -> RunFacts:
    tag, begun = f"lakeport-explain-{query_id}", time.perf_counter()
    jvm.context._jsc.sc().addJobTag(tag)
    try:
        rows = int(execution.toRdd().count())
    finally:
        jvm.context._jsc.sc().removeJobTag(tag)
    seconds = time.perf_counter() - begun
    return RunFacts(rows, seconds, planning_seconds, tuple(_stages(jvm.context, tag)))


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
    # What the proxy of a scan of ours prints ends with its fingerprint.
    scan = str(plan.scan().toString()).rpartition("@")[2] if kind == _SCAN else None
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
    with contextlib.suppress(Py4JError):  # what the listeners have heard is shown
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
        number=number,
        tasks=int(data.numCompleteTasks()),
        seconds=seconds,
        task_seconds=int(data.executorRunTime()) / 1000,
        input_bytes=int(data.inputBytes()),
        shuffle_bytes=int(data.shuffleWriteBytes()),
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
