"""``EXPLAIN`` of queries by DuckDB: what was planned, and what was counted."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping

from lakeport.duckdb.planning import QueryPlan
from lakeport.duckdb.tables.query_tables import NativeTable
from lakeport.scan_facts import ScanMetrics
from lakeport.sql.explain.calls import metastore_calls
from lakeport.sql.explain.facts import ExplainedQuery, ExplainedScan, MetricUnit, PlanMetric, PlanNode, RunFacts
from lakeport.sql.explain.observer import QueryObserver
from lakeport.sql.explain.request import ExplainRequest
from lakeport.transactions.statement import Statement

__all__ = ["explain_query"]

_NATIVE = "READ_PARQUET"
# No query has it: ``range`` is no function that may be used.
_RANGE = "RANGE"
_WRAPPERS = ("RESULT_COLLECTOR", "EXPLAIN_ANALYZE")
_LEFT_OUT = ("Function", "Estimated Cardinality", "Filename(s)", "Total Files Read")


def explain_query(
    plan: QueryPlan, request: ExplainRequest, statement: Statement, observer: QueryObserver, *, begun: float
) -> ExplainedQuery:
    """Says what a query reads; of ``EXPLAIN ANALYZE`` after a run, whose rows are counted and dropped.

    Args:
        plan: The query.
        request: What is asked.
        statement: In the transactions of its tables.
        observer: Of its reads.
        begun: ``time.perf_counter()`` before the query was parsed.
    """
    planned = time.perf_counter()
    if request.kind == "LOGICAL":
        return ExplainedQuery((), PlanNode("", "", (), ()), plan.planned.logical(), ())
    if not request.analyze:
        for show in plan.shows:
            show()
    document = json.loads(plan.planned.explained(run=request.analyze))
    took = time.perf_counter() - planned
    root = _node(_root(document))
    run = None
    if request.analyze:
        run = RunFacts(root.rows or 0, took, planned - begun, ())
    scans = (*(_native_scan(one, plan, document, run) for one in plan.natives), *observer.scans())
    for catalog in plan.catalogs:
        statement.access(catalog)
    return ExplainedQuery(scans, root, "", metastore_calls(statement), run)


def _native_scan(table: NativeTable, plan: QueryPlan, document: object, run: RunFacts | None) -> ExplainedScan:
    metrics = None
    if run is not None:
        paths = set(table.files.paths.values())
        nodes = [one for one in _all(_root(document)) if _kind(one) == _NATIVE and _files(one) & paths]
        others = [one for one in plan.natives if one is not table]
        metrics = _native_metrics(nodes, document if not others else None)
    return ExplainedScan(str(id(table)), table.described(), metrics)


def _native_metrics(nodes: list[dict[str, object]], alone: object) -> ScanMetrics | None:
    """What DuckDB counted; the bytes it counts for all of its own reads together."""
    if not nodes:
        return None
    read = sum(_number(one, "row_groups_scanned") for one in nodes)
    total = sum(_number(one, "total_row_groups_to_scan") for one in nodes)
    counts = {
        "rows given to DuckDB": sum(_rows(one) or 0 for one in nodes),
        "files read": sum(int(str(_facts(one).get("Total Files Read", 0))) for one in nodes),
        "row groups read": read,
        "row groups skipped": total - read,
    }
    if isinstance(alone, dict) and isinstance(alone.get("io"), dict):
        counts["bytes read"] = int(alone["io"]["total_bytes_read"])
    return ScanMetrics(1, 1, counts)


def _root(document: object) -> dict[str, object]:
    """The first node of the query; before DuckDB 2.0 the nodes have other names."""
    found = document[0] if isinstance(document, list) else document
    while isinstance(found, dict) and (_kind(found) in _WRAPPERS or "operator" in found or not _kind(found)):
        below = found.get("operator") or found.get("children")
        if not isinstance(below, list) or not below:
            break
        found = below[0]
    return found if isinstance(found, dict) else {}


def _node(found: Mapping[str, object]) -> PlanNode:
    rows = _rows(found)
    name = _kind(found)
    about = _facts(found).get("Estimated Cardinality")
    estimate = f"~{about} rows" if rows is None and about is not None else ""
    facts = [f"{key}: {_text(value)}" for key, value in _facts(found).items() if key not in _LEFT_OUT and value]
    return PlanNode(
        name=name,
        text=" ".join((name, "; ".join(filter(None, (estimate, *facts))))).strip(),
        metrics=() if rows is None else (PlanMetric("number of output rows", rows, MetricUnit.COUNT),),
        children=tuple(_node(one) for one in _children(found)),
    )


def _all(found: dict[str, object]) -> Iterator[dict[str, object]]:
    yield found
    for child in _children(found):
        yield from _all(child)


def _kind(found: Mapping[str, object]) -> str:
    names = (_facts(found).get("Function"), *(found.get(key) for key in ("name", "operator_name", "type")))
    return next((str(name).strip() for name in names if name), "")


def _facts(found: Mapping[str, object]) -> dict[str, object]:
    facts = found.get("extra_info")
    return facts if isinstance(facts, dict) else {}


def _children(found: Mapping[str, object]) -> list[dict[str, object]]:
    below = found.get("children")
    return [_without_nothing(one) for one in below] if isinstance(below, list) else []


def _without_nothing(found: dict[str, object]) -> dict[str, object]:
    """The first part of a view of ``sized_view``, whose other part is there for DuckDB's estimates alone."""
    below = found.get("children")
    if _kind(found) != "UNION" or not isinstance(below, list) or len(below) != 2:
        return found
    return below[0] if any(_kind(one) == _RANGE for one in _all(below[1])) else found


def _rows(found: Mapping[str, object]) -> int | None:
    counted = found.get("intermediate_rows", found.get("operator_cardinality"))
    return counted if isinstance(counted, int) else None


def _number(found: Mapping[str, object], name: str) -> int:
    value = found.get(name)
    return value if isinstance(value, int) else 0


def _files(found: Mapping[str, object]) -> set[str]:
    return {name.strip() for name in str(_facts(found).get("Filename(s)", "")).split(",")}


def _text(value: object) -> str:
    return " ".join((", ".join(map(str, value)) if isinstance(value, list) else str(value)).split())
