"""What is known of a query, as text for people and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lakeport.spark.explain.query_analysis import AnalysedScan
from lakeport.spark.explain.running import ExplainedQuery, PlanNode, scan_rows
from lakeport.sql.explain_statement import ExplainRequest

__all__ = ["explained_json", "explained_text"]


def explained_text(query: ExplainedQuery, request: ExplainRequest) -> str:
    """The text that ``EXPLAIN`` shows."""
    if request.kind == "LOGICAL":
        return query.logical
    lines = list(_summary(query))
    for scan in query.scans:
        lines += _scan_lines(scan, query)
    if request.kind == "IO":
        return "\n".join(lines or ["no table of a catalog of Lakeport is read"])
    if query.stages:
        lines.append("Stages")
        for stage in query.stages:
            took = "" if stage.seconds is None else f", {stage.seconds:.3f} s"
            own = f", read by Spark {stage.input_bytes} bytes" if stage.input_bytes else ""
            shuffled = f", shuffled {stage.shuffle_bytes} bytes" if stage.shuffle_bytes else ""
            lines.append(
                f"  {stage.number}: {stage.tasks} task{_s(stage.tasks)}{took} "
                f"(tasks together {stage.task_seconds:.3f} s){own}{shuffled}"
            )
    if query.calls:
        lines.append("Metastore calls")
        for call in query.calls:
            lines.append(f"  {call.catalog}: {call.method} {call.count} in {call.seconds * 1000:.1f} ms")
    return "\n".join([*lines, "Plan", *_plan_lines(query.plan)])


def explained_json(query: ExplainedQuery, request: ExplainRequest) -> str:
    """The same as one JSON object; what was not counted is not in it."""
    if request.kind == "LOGICAL":
        return json.dumps({"logicalPlan": query.logical}, indent=2)
    told: dict[str, object] = {"scans": [_scan_json(scan, query) for scan in query.scans]}
    if request.kind != "IO":
        told["metastoreCalls"] = [
            {"catalog": call.catalog, "method": call.method, "count": call.count, "seconds": call.seconds}
            for call in query.calls
        ]
        told["plan"] = _plan_json(query.plan)
    if query.ran:
        told |= {"rows": query.rows, "seconds": query.seconds, "planningSeconds": query.planning_seconds}
        told["stages"] = [
            {
                "stage": stage.number,
                "tasks": stage.tasks,
                "seconds": stage.seconds,
                "taskSeconds": stage.task_seconds,
                "inputBytes": stage.input_bytes,
                "shuffleWriteBytes": stage.shuffle_bytes,
            }
            for stage in query.stages
        ]
    return json.dumps(told, indent=2, ensure_ascii=False)


def _summary(query: ExplainedQuery) -> Iterator[str]:
    if query.ran and query.rows is not None:
        yield f"{query.rows} row{_s(query.rows)} in {query.seconds or 0:.3f} s, planned in " + (
            f"{query.planning_seconds or 0:.3f} s"
        )


def _scan_lines(scan: AnalysedScan, query: ExplainedQuery) -> Iterator[str]:
    description = scan.description
    yield f"Scan {description.name}"
    for name, text in description.facts():
        yield f"  {name}: {text}" if name else f"  {text}"
    if not query.ran:
        return
    rows = scan_rows(query.plan, scan.identity)
    if rows is not None:
        yield f"  rows given: {rows}"
    if description.native:
        yield "  row groups and stripes: not counted, Spark's own reader does not tell"
    if scan.counts is None:
        return
    tasks = description.work[1]
    yield f"  counted in {scan.tasks_told} of {tasks} task{_s(tasks)}" + (
        "" if scan.tasks_told == tasks else ", the others were not read to their end"
    )
    for name, amount in scan.counts.items():
        yield f"    {name}: {amount}"


def _scan_json(scan: AnalysedScan, query: ExplainedQuery) -> dict[str, object]:
    told = scan.description.as_json()
    if query.ran:
        rows = scan_rows(query.plan, scan.identity)
        if rows is not None:
            told["rowsGiven"] = rows
        if scan.counts is not None:
            told |= {"counts": scan.counts, "tasksCounted": scan.tasks_told}
    return told


def _plan_lines(node: PlanNode, depth: int = 1) -> Iterator[str]:
    metrics = ", ".join(f"{name}: {value:g}" for name, value in node.metrics.items())
    yield "  " * depth + (node.name if node.scan else node.text) + (f" [{metrics}]" if metrics else "")
    for child in node.children:
        yield from _plan_lines(child, depth + 1)


def _plan_json(node: PlanNode) -> dict[str, object]:
    return {
        "name": node.name,
        "text": node.text,
        "metrics": node.metrics,
        "children": [_plan_json(child) for child in node.children],
    }


def _s(count: int) -> str:
    return "" if count == 1 else "s"
