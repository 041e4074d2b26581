"""Plans a query, runs it where it is to be run, and says what was planned and counted."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError
from pyspark import SparkContext

from lakeport.spark.bridge.jvm import Jvm
from lakeport.spark.explain.plan import PlanReader, StageRuns, scala_items
from lakeport.sql.explain.calls import metastore_calls
from lakeport.sql.explain.facts import ExplainedQuery, RunFacts, StageFacts
from lakeport.sql.explain.observer import QueryObserver
from lakeport.transactions.statement import Statement

__all__ = ["explain_query", "planned_query"]

_WAIT_MILLIS = 2000
"""For what Spark's listeners have not heard yet of stages that have ended."""
_COMMANDS = "org.apache.spark.sql.execution.CommandExecutionMode"


def planned_query(jvm: Jvm, spark: JavaObject, text: str) -> JavaObject:
    """Spark's ``QueryExecution`` of a statement, analysed; it runs nothing, not even where the statement is a command.

    Args:
        jvm: The door to the JVM.
        spark: Spark's session.
        text: The statement.

    Raises:
        PySparkException: Spark's own: the statement cannot be analysed.
    """
    state = spark.sessionState()
    parsed = state.sqlParser().parsePlan(text)
    execution = state.executePlan(parsed, jvm.cls(_COMMANDS).SKIP())
    execution.assertAnalyzed()
    return execution


def explain_query(
    jvm: Jvm, execution: JavaObject, statement: Statement, observer: QueryObserver, *, begun: float
) -> ExplainedQuery:
    """Plans a query, and runs it if the observer wants metrics; its rows are counted and dropped.

    Args:
        jvm: The door to the JVM.
        execution: Spark's ``QueryExecution``.
        statement: Its tables' statement.
        observer: Knows its scans.
        begun: ``time.perf_counter()`` before its analysis.
    """
    plan = execution.executedPlan()
    planned = time.perf_counter()
    run, runs = None, None
    if observer.wants_metrics:
        ran = _run(jvm.context, execution, statement.query_id)
        run = RunFacts(ran.rows, ran.seconds, planned - begun, tuple(stage for stage, _ in ran.stages))
        runs = _stage_runs(ran)
    root = PlanReader(jvm, runs).read(plan)
    logical = str(execution.optimizedPlan().toString()).rstrip()
    return ExplainedQuery(observer.scans(), root, logical, metastore_calls(statement), run)


@dataclass(frozen=True, slots=True)
class _Run:
    rows: int
    seconds: float
    stages: tuple[tuple[StageFacts, tuple[int, ...]], ...]
    """Each with the ids of the RDDs that it computed."""


def _run(context: SparkContext, execution: JavaObject, query_id: str) -> _Run:
    tag, begun = f"lakeport-explain-{query_id}", time.perf_counter()
    context._jsc.sc().addJobTag(tag)
    try:
        rows = int(execution.toRdd().count())
    finally:
        context._jsc.sc().removeJobTag(tag)
    return _Run(rows, time.perf_counter() - begun, tuple(_stages(context, tag)))


def _stage_runs(ran: _Run) -> StageRuns:
    tasks: defaultdict[int, list[int]] = defaultdict(list)
    for stage, rdds in ran.stages:
        for rdd in rdds:
            tasks[rdd].append(stage.tasks)
    return StageRuns({rdd: tuple(counts) for rdd, counts in tasks.items()})


def _stages(context: SparkContext, tag: str) -> Iterator[tuple[StageFacts, tuple[int, ...]]]:
    spark = context._jsc.sc()
    with contextlib.suppress(Py4JError):  # what the listeners have heard is shown
        spark.listenerBus().waitUntilEmpty(_WAIT_MILLIS)
    store = spark.statusStore()
    seen: set[int] = set()
    for job in sorted(int(job) for job in spark.statusTracker().getJobIdsForTag(tag)):
        try:
            stages = [int(stage) for stage in scala_items(store.job(job).stageIds())]
        except Py4JError:
            continue  # forgotten, or not heard of
        for stage in sorted(set(stages) - seen):
            seen.add(stage)
            data = store.lastStageAttempt(stage)
            if str(data.status()) in ("COMPLETE", "FAILED"):
                yield _stage(stage, data), tuple(int(rdd) for rdd in scala_items(data.rddIds()))


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
