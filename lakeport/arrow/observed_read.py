"""A read with no Spark that ``EXPLAIN`` shows."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from connector_spi.names import CatalogSchemaTableName
from connector_spi.scan_counters import ScanCounts, counting
from lakeport.arrow.stream import close_batches
from lakeport.planning.pushed_work import taken_over
from lakeport.planning.scan_plan import PlannedSplits, ScanPlan, plan_splits
from lakeport.scan_facts import PushdownFacts, ScanDescription, ScanFacts, ScanMetrics

__all__ = ["ObservedRead", "described_scan"]

_ENGINE = "DuckDB"


class ObservedRead:
    """One read, which may never run; its splits are planned once, on first need.

    Args:
        name: The table.
        plan: With all that was pushed.
        visible: Number of the table's visible columns.
        threads: How many splits are read at a time.
    """

    def __init__(self, name: CatalogSchemaTableName, plan: ScanPlan, visible: int, threads: int) -> None:
        self._name = name
        self._plan = plan
        self._visible = visible
        self._threads = threads
        self._splits: PlannedSplits | None = None
        self._counts: ScanCounts | None = None
        self._is_ended = False

    @property
    def fingerprint(self) -> str:
        """What identifies the read."""
        return str(id(self))

    def planned(self) -> PlannedSplits:
        """The splits."""
        if self._splits is None:
            self._splits = plan_splits(self._plan)
        return self._splits

    def described(self) -> ScanDescription:
        """What it is going to read."""
        return described_scan(self._name, self._plan, self.planned(), self._visible, self._threads)

    def counted(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches; what reading them counts is kept."""
        counts = self._counts = ScanCounts()
        try:
            while True:
                # Set for each batch: whoever takes it may count something else meanwhile.
                with counting(counts):
                    batch = next(batches, None)
                if batch is None:
                    self._is_ended = True
                    return
                counts.add(f"rows given to {_ENGINE}", batch.num_rows)
                yield batch
        finally:
            close_batches(batches)

    def metrics(self) -> ScanMetrics | None:
        """What was counted so far; ``None`` where it did not run."""
        if self._counts is None:
            return None
        return ScanMetrics(int(self._is_ended), 1, self._counts.as_mapping())

    def stop_counting(self) -> None:
        """Nothing is to be released."""


def described_scan(
    name: CatalogSchemaTableName, plan: ScanPlan, splits: PlannedSplits, visible: int, threads: int | None
) -> ScanDescription:
    """What a scan with no Spark is going to read.

    Args:
        name: The table.
        plan: With all that was pushed.
        splits: Its splits.
        visible: Number of the table's visible columns.
        threads: How many splits are read at a time; ``None``: DuckDB reads the files itself.
    """
    count = len(splits.splits)
    facts = ScanFacts(
        name=name,
        summary=splits.summary,
        splits=count,
        tasks=count if threads is None else min(threads, count),
        size_bytes=splits.size_bytes,
        native=threads is None,
        engine=_ENGINE,
    )
    pushdown = PushdownFacts(
        columns_read=len(plan.columns),
        columns_total=visible,
        pushed=plan.pushed,
        left=None,
        limit=plan.limit,
        connector=taken_over(plan),
    )
    return ScanDescription(facts, pushdown)
