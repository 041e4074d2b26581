"""What ``EXPLAIN (FORMAT JSON)`` shows to programs."""

from __future__ import annotations

import json

from lakeport.sql.explain.facts import ExplainedQuery, ExplainedScan, PlanNode, StageFacts
from lakeport.sql.explain.request import ExplainRequest

__all__ = ["explained_json"]


def explained_json(query: ExplainedQuery, request: ExplainRequest) -> str:
    """What is known as one JSON object; what was not counted is not in it."""
    if request.kind == "LOGICAL":
        return json.dumps({"logicalPlan": query.logical}, indent=2)
    answer: dict[str, object] = {"scans": [_scan_json(scan, query) for scan in query.scans]}
    if request.kind != "IO":
        answer["metastoreCalls"] = [
            {"catalog": call.catalog, "method": call.method, "count": call.count, "seconds": call.seconds}
            for call in query.calls
        ]
        answer["plan"] = _plan_json(query.plan)
    if query.run is not None:
        run = query.run
        answer |= {"rows": run.rows, "seconds": run.seconds, "planningSeconds": run.planning_seconds}
        answer["stages"] = [_stage_json(stage) for stage in run.stages]
    return json.dumps(answer, indent=2, ensure_ascii=False)


def _scan_json(scan: ExplainedScan, query: ExplainedQuery) -> dict[str, object]:
    answer = scan.description.as_json()
    if query.run is not None:
        rows = query.rows_of(scan)
        if rows is not None:
            answer["rowsGiven"] = rows
        if scan.metrics is not None:
            answer |= {"counts": dict(scan.metrics.counts), "tasksCounted": scan.metrics.tasks}
            answer["timesRead"] = scan.metrics.times
    return answer


def _stage_json(stage: StageFacts) -> dict[str, object]:
    return {
        "stage": stage.number,
        "tasks": stage.tasks,
        "seconds": stage.seconds,
        "taskSeconds": stage.task_seconds,
        "inputBytes": stage.input_bytes,
        "shuffleWriteBytes": stage.shuffle_bytes,
    }


def _plan_json(node: PlanNode) -> dict[str, object]:
    return {
        "name": node.name,
        "text": node.text,
        "metrics": {metric.name: metric.value for metric in node.metrics},
        "children": [_plan_json(child) for child in node.children],
    }
