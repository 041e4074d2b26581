"""What ``EXPLAIN`` shows to people: scans, stages, calls of metastores, and the plan."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lakeport.scan_facts import SPARK
from lakeport.sql.explain.facts import ExplainedQuery, ExplainedScan, PlanNode, RunFacts, StageFacts
from lakeport.sql.explain.request import ExplainRequest
from lakeport.units import count_text, size_text

__all__ = ["explained_text"]

_LONGEST_NODE = 96
_WRAPPERS = frozenset(
    ("AdaptiveSparkPlan", "AQEShuffleRead", "BroadcastQueryStage", "ColumnarToRow", "InputAdapter", "ResultQueryStage")
    + ("ShuffleQueryStage", "TableCacheQueryStage", "WholeStageCodegen")
)
"""Nodes that say how Spark runs what is below them, and nothing of the query."""
_INTERNALS = (
    (re.compile(r"#\d+L?"), ""),
    (re.compile(r",? *\[plan_id=\d+\]"), ""),
    (re.compile(r",? *(?:ENSURE_REQUIREMENTS|REPARTITION_BY_NUM|REPARTITION_BY_COL|REBALANCE_\w+)\b"), ""),
)
_SHOWN = {"shuffle bytes written": "shuffled", "spill size": "spilled", "data size": "broadcast"}


def explained_text(query: ExplainedQuery, request: ExplainRequest) -> str:
    """The text of what is known."""
    if request.kind == "LOGICAL":
        return query.logical
    lines = list(_summary(query.run))
    for scan in query.scans:
        lines += _scan_lines(scan, query)
    if request.kind == "IO":
        return "\n".join(lines or ["no table of a catalog of Lakeport is read"])
    if query.run is not None and query.run.stages:
        lines += ["Stages", *map(_stage_line, query.run.stages)]
    if query.calls:
        lines.append("Metastore calls")
        for call in query.calls:
            lines.append(f"  {call.catalog}: {call.method} {call.count:,} in {call.seconds * 1000:.1f} ms")
    return "\n".join([*lines, "Plan", *_plan_lines(query.plan)])


def _summary(run: RunFacts | None) -> Iterator[str]:
    if run is not None:
        yield f"{count_text(run.rows, 'row')} in {run.seconds:.3f} s, planned in {run.planning_seconds:.3f} s"


def _scan_lines(scan: ExplainedScan, query: ExplainedQuery) -> Iterator[str]:
    facts = scan.description.facts
    yield f"Scan {facts.name}"
    for name, text in scan.description.entries():
        yield f"  {name}: {text}" if name else f"  {text}"
    if any(node.is_filtered_at_run_time for node in query.nodes_of(scan)):
        yield "  filtered again at run time, by the other side of the join"
    if query.run is None:
        return
    rows = query.rows_of(scan)
    if rows is not None:
        yield f"  rows given: {rows:,}"
    times = max([1, *(node.times or 2 for node in query.nodes_of(scan))])
    if times > 1:
        yield "  read more than once: Spark samples the rows before it sorts them; numbers are of one reading"
    if facts.native and facts.engine == SPARK:
        yield "  row groups and stripes: not counted, Spark's own reader does not report them"
    yield from _counted_lines(scan)


def _counted_lines(scan: ExplainedScan) -> Iterator[str]:
    metrics, tasks = scan.metrics, scan.description.facts.tasks
    if metrics is None:
        return
    if scan.description.facts.engine != SPARK:
        yield "  counted" + ("" if metrics.tasks else ", not read to its end")
    else:
        yield f"  counted in {metrics.tasks:,} of {count_text(tasks, 'task')}" + (
            "" if metrics.tasks == tasks else ", the others were not read to their end"
        )
    for name, amount in metrics.counts.items():
        yield f"    {name}: {size_text(amount) if name.startswith('bytes ') else format(amount, ',')}"


def _stage_line(stage: StageFacts) -> str:
    took = "" if stage.seconds is None else f", {stage.seconds:.3f} s"
    own = f", read by Spark {size_text(stage.input_bytes)}" if stage.input_bytes else ""
    shuffled = f", shuffled {size_text(stage.shuffle_bytes)}" if stage.shuffle_bytes else ""
    return (
        f"  {stage.number}: {count_text(stage.tasks, 'task')}{took} "
        f"(tasks together {stage.task_seconds:.3f} s){own}{shuffled}"
    )


def _plan_lines(node: PlanNode, depth: int = 1) -> Iterator[str]:
    if node.name.partition(" ")[0] in _WRAPPERS:
        for child in node.children:
            yield from _plan_lines(child, depth)
        return
    found = ", ".join(_measured(node))
    yield "  " * depth + _node_text(node) + (f" [{found}]" if found else "")
    for child in node.children:
        yield from _plan_lines(child, depth + 1)


def _node_text(node: PlanNode) -> str:
    if node.scan is not None:
        return node.name.replace("BatchScan", "Scan", 1)
    text = node.text
    for pattern, replacement in _INTERNALS:
        text = pattern.sub(replacement, text)
    return text if len(text) <= _LONGEST_NODE else text[: _LONGEST_NODE - 3] + "..."


def _measured(node: PlanNode) -> Iterator[str]:
    if node.rows is not None:
        yield count_text(node.rows, "row")
    for metric in node.metrics:
        # What is shuffled has a data size, too, before it is compressed.
        if metric.name in _SHOWN and (metric.name != "data size" or node.name == "BroadcastExchange"):
            yield f"{_SHOWN[metric.name]} {size_text(metric.value)}"
