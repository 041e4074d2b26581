"""What people read of an explained query: true totals with their units."""

from __future__ import annotations

from connector_spi.names import CatalogSchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.splits import ScanSummary
from lakeport.scan_facts import PushdownFacts, ScanDescription, ScanFacts, ScanMetrics
from lakeport.sql.explain.facts import (
    ExplainedQuery,
    ExplainedScan,
    MetricUnit,
    PlanMetric,
    PlanNode,
    RunFacts,
    StageFacts,
)
from lakeport.sql.explain.request import ExplainRequest
from lakeport.sql.explain.text import explained_text

NAME = CatalogSchemaTableName("hive", "s", "t")
_STAGE = StageFacts(number=7, tasks=1, seconds=0.5, task_seconds=0.75, input_bytes=0, shuffle_bytes=3 << 20)


def rows(count: int) -> PlanMetric:
    return PlanMetric("number of output rows", count, MetricUnit.COUNT)


def plan(times: int | None) -> PlanNode:
    """A sort of a scan, as Spark runs it: what is below the shuffle is run to sample it, and then once more."""
    scan = PlanNode("BatchScan hive.s.t", "BatchScan hive.s.t[a#1L] ...", (rows(2468),), (), scan="f", times=times)
    stage = PlanNode("WholeStageCodegen (1)", "*(1) WholeStageCodegen", (), (scan,), times=times)
    sizes = PlanMetric("shuffle bytes written", 3 << 20, MetricUnit.BYTES)
    text = "Exchange rangepartitioning(a#1L ASC NULLS FIRST, 8), ENSURE_REQUIREMENTS, [plan_id=12]"
    exchange = PlanNode("Exchange", text, (sizes,), (stage,))
    spilled = PlanMetric("spill size", 67108864, MetricUnit.BYTES)
    return PlanNode("Sort", "Sort [a#1L ASC NULLS FIRST], true, 0", (spilled, rows(1234)), (exchange,))


def query(times: int | None) -> ExplainedQuery:
    summary = ScanSummary("write id 9", 2, 3650, 4, 4)
    facts = ScanFacts(NAME, summary, splits=4, tasks=2, size_bytes=2_500_000, native=False)
    description = ScanDescription(facts, PushdownFacts(1, 3, TupleDomain.all(), limit=5000))
    metrics = ScanMetrics(2, 2, {"stripes read": 1200, "bytes read, where readers report them": 2_500_000})
    run = RunFacts(1234, 1.5, 0.25, (_STAGE,))
    return ExplainedQuery((ExplainedScan("f", description, metrics),), plan(times), "", (), run)


def test_totals_of_a_scan_that_ran_twice() -> None:
    assert explained_text(query(2), ExplainRequest("")).splitlines() == [
        "1,234 rows in 1.500 s, planned in 0.250 s",
        "Scan hive.s.t",
        "  snapshot: write id 9",
        "  columns: 1 of 3",
        "  filter pushed: none",
        "  filter left to Spark: none",
        "  limit pushed: 5,000",
        "  partitions: 2 of 3,650",
        "  files: 4 of 4",
        "  splits: 4 in 2 tasks",
        "  size: 2.4 MB",
        "  reader: Python tasks, as columns",
        "  rows given: 1,234",
        "  read more than once: Spark samples the rows before it sorts them; numbers are of one reading",
        "  counted in 2 of 2 tasks",
        "    stripes read: 1,200",
        "    bytes read, where readers report them: 2.4 MB",
        "Stages",
        "  7: 1 task, 0.500 s (tasks together 0.750 s), shuffled 3.0 MB",
        "Plan",
        "  Sort [a ASC NULLS FIRST], true, 0 [1,234 rows, spilled 64.0 MB]",
        "    Exchange rangepartitioning(a ASC NULLS FIRST, 8) [shuffled 3.0 MB]",
        "      Scan hive.s.t [1,234 rows]",
    ]


def test_no_number_is_shown_where_none_is_exact() -> None:
    """Where the sample is skewed Spark runs some tasks once more."""
    lines = explained_text(query(None), ExplainRequest("")).splitlines()
    assert not [line for line in lines if line.startswith("  rows given")]
    assert lines[-1] == "      Scan hive.s.t"


def test_the_scans_alone() -> None:
    lines = explained_text(query(2), ExplainRequest("", kind="IO")).splitlines()
    assert "Plan" not in lines
    assert "Scan hive.s.t" in lines
