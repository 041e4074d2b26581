"""``EXPLAIN ANALYZE query`` and ``EXPLAIN (TYPE ..., FORMAT ...) query``, which Trino has and Spark has not.

The request as it is read from a statement, the facts that answer it, and their text and JSON. No Spark here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from connector_spi.errors import InvalidArgumentError, NotSupportedError
from connector_spi.properties import closest
from lakeport.scan_facts import ScanDescription, ScanMetrics

__all__ = [
    "CallFacts",
    "ExplainRequest",
    "ExplainedQuery",
    "ExplainedScan",
    "PlanNode",
    "RunFacts",
    "StageFacts",
    "explain_request",
    "explained_json",
    "explained_text",
]

_FLAGS = re.IGNORECASE | re.DOTALL
_BLANK = r"(?:\s|--[^\n]*\n|/\*.*?\*/)"
_OPTIONS = r"\(\s*(?P<options>(?:TYPE|FORMAT)\s+\w+(?:\s*,\s*\w+\s+\w+)*)\s*\)"
_STATEMENT = re.compile(
    rf"{_BLANK}*EXPLAIN(?P<analyze>{_BLANK}+ANALYZE(?:{_BLANK}+VERBOSE\b)?)?{_BLANK}*(?:{_OPTIONS}{_BLANK}*)?"
    rf"(?P<query>.+?){_BLANK}*;?\s*",
    _FLAGS,
)
# EXPLAIN ANALYZE TABLE t COMPUTE STATISTICS is Spark's own: it explains the statement ANALYZE TABLE.
_SPARKS_ANALYZE = re.compile(rf"{_BLANK}*TABLES?\b", _FLAGS)
_TYPES = ("LOGICAL", "DISTRIBUTED", "VALIDATE", "IO")
_FORMATS = ("TEXT", "JSON")
_REFUSED_FORMATS = ("GRAPHVIZ",)
_ROWS = "number of output rows"


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """What is to be explained.

    Attributes:
        query: The statement behind ``EXPLAIN``.
        analyze: It is run.
        kind: ``LOGICAL``, ``DISTRIBUTED``, ``VALIDATE`` or ``IO``.
        json: The answer is JSON, else text.
    """

    query: str
    analyze: bool = False
    kind: str = "DISTRIBUTED"
    json: bool = False


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A node of Spark's physical plan.

    Attributes:
        name: Its operator.
        text: In one line.
        metrics: What Spark measured, by Spark's own names: plain numbers, bytes, and times in milliseconds.
        children: Its inputs, and the subqueries in it.
        scan: The fingerprint of our scan, of which it is a node.
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

    def scan_rows(self, fingerprint: str) -> int | None:
        """The rows that a scan gave to the plan above it; ``None`` where Spark did not count."""
        found = [int(n.metrics[_ROWS]) for n in self.walk() if n.scan == fingerprint and _ROWS in n.metrics]
        return sum(found) if found else None


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


def explain_request(text: str) -> ExplainRequest | None:
    """The request in a statement; ``None`` where the text is another one, such as Spark's own ``EXPLAIN``.

    Raises:
        InvalidArgumentError: An option that there is not.
        NotSupportedError: A format that is not written.
    """
    match = _STATEMENT.fullmatch(text)
    if match is None or (match.group("analyze") is None and match.group("options") is None):
        return None
    query = match.group("query")
    if match.group("analyze") is not None and _SPARKS_ANALYZE.match(query):
        return None
    given: dict[str, str] = {}
    for option in (match.group("options") or "").split(","):
        if option.strip():
            name, value = option.upper().split()
            if name not in ("TYPE", "FORMAT") or name in given:
                raise InvalidArgumentError(f"EXPLAIN has the options TYPE and FORMAT, each once; met {name}")
            given[name] = value
    kind, form = given.get("TYPE", "DISTRIBUTED"), given.get("FORMAT", "TEXT")
    if form in _REFUSED_FORMATS:
        raise NotSupportedError(f"EXPLAIN (FORMAT {form}) is not written; use FORMAT TEXT or FORMAT JSON")
    _check("TYPE", kind, _TYPES)
    _check("FORMAT", form, _FORMATS)
    if match.group("analyze") is not None and "TYPE" in given:
        raise InvalidArgumentError("EXPLAIN ANALYZE has no TYPE; use EXPLAIN ANALYZE (FORMAT JSON) query")
    return ExplainRequest(query, match.group("analyze") is not None, kind, form == "JSON")


def explained_text(query: ExplainedQuery, request: ExplainRequest) -> str:
    """The text that ``EXPLAIN`` shows."""
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
            lines.append(f"  {call.catalog}: {call.method} {call.count} in {call.seconds * 1000:.1f} ms")
    return "\n".join([*lines, "Plan", *_plan_lines(query.plan)])


def explained_json(query: ExplainedQuery, request: ExplainRequest) -> str:
    """The same as one JSON object; what was not counted is not in it."""
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


def _check(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidArgumentError(
            f"EXPLAIN ({option} {value}){closest(value, known)}; expected one of {', '.join(known)}"
        )


def _summary(run: RunFacts | None) -> Iterator[str]:
    if run is not None:
        yield f"{run.rows} row{_s(run.rows)} in {run.seconds:.3f} s, planned in {run.planning_seconds:.3f} s"


def _scan_lines(scan: ExplainedScan, query: ExplainedQuery) -> Iterator[str]:
    facts = scan.description.facts
    yield f"Scan {facts.name}"
    for name, text in scan.description.entries():
        yield f"  {name}: {text}" if name else f"  {text}"
    if query.run is None:
        return
    rows = query.plan.scan_rows(scan.fingerprint)
    if rows is not None:
        yield f"  rows given: {rows}"
    if facts.native:
        yield "  row groups and stripes: not counted, Spark's own reader does not report them"
    if scan.metrics is None:
        return
    yield f"  counted in {scan.metrics.tasks} of {facts.tasks} task{_s(facts.tasks)}" + (
        "" if scan.metrics.tasks == facts.tasks else ", the others were not read to their end"
    )
    for name, amount in scan.metrics.counts.items():
        yield f"    {name}: {amount}"


def _scan_json(scan: ExplainedScan, query: ExplainedQuery) -> dict[str, object]:
    answer = scan.description.as_json()
    if query.run is not None:
        rows = query.plan.scan_rows(scan.fingerprint)
        if rows is not None:
            answer["rowsGiven"] = rows
        if scan.metrics is not None:
            answer |= {"counts": dict(scan.metrics.counts), "tasksCounted": scan.metrics.tasks}
    return answer


def _stage_line(stage: StageFacts) -> str:
    took = "" if stage.seconds is None else f", {stage.seconds:.3f} s"
    own = f", read by Spark {stage.input_bytes} bytes" if stage.input_bytes else ""
    shuffled = f", shuffled {stage.shuffle_bytes} bytes" if stage.shuffle_bytes else ""
    return (
        f"  {stage.number}: {stage.tasks} task{_s(stage.tasks)}{took} "
        f"(tasks together {stage.task_seconds:.3f} s){own}{shuffled}"
    )


def _stage_json(stage: StageFacts) -> dict[str, object]:
    return {
        "stage": stage.number,
        "tasks": stage.tasks,
        "seconds": stage.seconds,
        "taskSeconds": stage.task_seconds,
        "inputBytes": stage.input_bytes,
        "shuffleWriteBytes": stage.shuffle_bytes,
    }


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
