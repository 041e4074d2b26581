"""What the scans and jobs of a statement read and skipped: for ``EXPLAIN``, and to be shown beside the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from connector_spi.handles import ColumnHandle
from connector_spi.names import CatalogSchemaTableName
from connector_spi.predicate import TupleDomain
from connector_spi.splits import ScanSummary
from lakeport.predicate_text import domain_text
from lakeport.units import count_text, size_text

__all__ = [
    "SPARK",
    "JobCounts",
    "ObservedScan",
    "PushdownFacts",
    "ScanDescription",
    "ScanFacts",
    "ScanMetrics",
    "ScanObserver",
    "ScanTotals",
    "kept_text",
    "scan_totals",
]


SPARK = "Spark"
"""The engine whose scans have tasks."""


@dataclass(frozen=True, slots=True)
class JobCounts:
    """What jobs have done.

    Attributes:
        tasks_done: Tasks that have ended well.
        tasks: All tasks of the stages that were submitted.
        rows: Rows that scans gave, of tasks that have ended and, some seconds late, of those that run.
        size_bytes: Bytes that Spark's own readers read, in the same way; Python tasks report none.
    """

    tasks_done: int = 0
    tasks: int = 0
    rows: int = 0
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ScanFacts:
    """One scan that was planned to run.

    Attributes:
        name: The table.
        summary: What the connector skipped.
        splits: Number of splits.
        tasks: Number of tasks; of DuckDB, of threads.
        size_bytes: Of the splits, as they are stored.
        native: The engine's own reader reads it, else Python.
        rows_reason: Why tasks hand over row by row; ``None`` where they hand over columns.
        engine: As people write it.
    """

    name: CatalogSchemaTableName
    summary: ScanSummary
    splits: int
    tasks: int
    size_bytes: int
    native: bool
    rows_reason: str | None = None
    engine: str = SPARK

    @property
    def shared_out(self) -> str:
        """What reads the splits at once, in words; nothing where DuckDB does as it likes."""
        if self.engine == SPARK:
            return f" in {count_text(self.tasks, 'task')}"
        return "" if self.native else f" in {count_text(self.tasks, 'thread')}"

    @property
    def reader(self) -> str:
        """Who reads, in words."""
        if self.native:
            return f"native ({self.engine})"
        if self.engine != SPARK:
            return "Lakeport, as Arrow"
        if self.rows_reason is None:
            return "Python tasks, as columns"
        return f"Python tasks, row by row ({self.rows_reason})"


@dataclass(frozen=True, slots=True)
class PushdownFacts:
    """Who does what of a query on one table.

    Attributes:
        columns_read: Number of columns that are read.
        columns_total: Number of visible columns of the table.
        pushed: The filter that the connector got.
        checked: Predicates that tasks check, in SQL.
        left: Predicates that the engine checks again, in SQL; ``None`` where its plan shows them.
        aggregated: What tasks aggregate; ``None`` for nothing.
        limit: Rows that are wanted in all; ``None`` where no limit was pushed.
        first_rows: The order in which tasks choose the first rows; ``None`` for all rows.
        connector: What the connector does beside choosing by ``pushed``: names and texts.
    """

    columns_read: int
    columns_total: int
    pushed: TupleDomain[ColumnHandle]
    checked: tuple[str, ...] = ()
    left: tuple[str, ...] | None = ()
    aggregated: str | None = None
    limit: int | None = None
    first_rows: str | None = None
    connector: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ScanDescription:
    """What a scan is going to read, and why no more.

    Attributes:
        facts: What is read.
        pushdown: Who filters and aggregates.
    """

    facts: ScanFacts
    pushdown: PushdownFacts

    def entries(self) -> list[tuple[str, str]]:
        """Names and texts, as EXPLAIN shows them; a note has no name."""
        facts, pushdown, summary = self.facts, self.pushdown, self.facts.summary
        entries = [("snapshot", summary.snapshot)] if summary.snapshot else []
        entries.append(("columns", f"{pushdown.columns_read} of {pushdown.columns_total}"))
        entries.append(("filter pushed", domain_text(pushdown.pushed)))
        if pushdown.checked:
            entries.append(("filter checked in tasks", " AND ".join(pushdown.checked)))
        if pushdown.left is not None:
            entries.append((f"filter left to {facts.engine}", " AND ".join(pushdown.left) or "none"))
        if pushdown.aggregated is not None:
            entries.append(("aggregated in tasks", pushdown.aggregated))
        if pushdown.limit is not None:
            entries.append(("limit pushed", f"{pushdown.limit:,}"))
        if pushdown.first_rows is not None:
            entries.append(("first rows chosen in tasks", pushdown.first_rows))
        entries += pushdown.connector
        if summary.partitions_total is not None or summary.partitions_kept is not None:
            entries.append(("partitions", kept_text(summary.partitions_kept, summary.partitions_total)))
        if summary.files_kept is not None:
            entries.append(("files", kept_text(summary.files_kept, summary.files_total)))
        if not summary.is_confidential:
            entries.append(("splits", f"{facts.splits:,}{facts.shared_out}"))
            entries.append(("size", size_text(facts.size_bytes)))
        entries.append(("reader", facts.reader))
        return [*entries, *(("", note) for note in summary.notes)]

    def text(self) -> str:
        """One line."""
        entries = (f"{name}: {text}" if name else text for name, text in self.entries())
        return ", ".join([str(self.facts.name), *entries])

    def as_json(self) -> dict[str, object]:
        """The same for programs; numbers that are not known are left out."""
        facts, pushdown, summary = self.facts, self.pushdown, self.facts.summary
        numbers = {
            "partitionsKept": summary.partitions_kept,
            "partitionsTotal": summary.partitions_total,
            "filesKept": summary.files_kept,
            "filesTotal": summary.files_total,
        }
        if not summary.is_confidential:
            numbers |= {"splits": facts.splits, "tasks": facts.tasks, "plannedBytes": facts.size_bytes}
        return {
            "table": {"catalog": facts.name.catalog, "schema": facts.name.schema, "table": facts.name.table},
            "snapshot": summary.snapshot,
            "columnsRead": pushdown.columns_read,
            "columnsTotal": pushdown.columns_total,
            "filterPushed": domain_text(pushdown.pushed),
            "filterCheckedInTasks": list(pushdown.checked),
            **({} if pushdown.left is None else {f"filterLeftTo{facts.engine}": list(pushdown.left)}),
            "aggregatedInTasks": pushdown.aggregated,
            "limitPushed": pushdown.limit,
            "firstRowsInTasks": pushdown.first_rows,
            "byConnector": dict(pushdown.connector),
            **{name: number for name, number in numbers.items() if number is not None},
            "reader": "native" if facts.native else "python",
            "rowsReason": facts.rows_reason,
            "notes": list(summary.notes),
        }


@dataclass(frozen=True, slots=True)
class ScanMetrics:
    """What the tasks of a scan counted while they read.

    Attributes:
        tasks: How many of them reported; one that was not read to its end does not.
        times: How often Spark read a task to its end: twice where it samples rows before it sorts them.
        counts: Sums over the tasks, each counted once, by names in words.
    """

    tasks: int
    times: int
    counts: Mapping[str, int]


class ObservedScan(Protocol):
    """A scan that an observer may ask until the statement has ended."""

    @property
    def fingerprint(self) -> str:
        """What identifies the scan; equal scans share it."""

    def described(self) -> ScanDescription:
        """What it is going to read."""

    def metrics(self) -> ScanMetrics | None:
        """What its tasks counted so far; ``None`` where they do not count."""

    def stop_counting(self) -> None:
        """Releases what the tasks report to."""


class ScanObserver(Protocol):
    """Who wants to know of the scans of one statement. Called from several threads."""

    @property
    def wants_metrics(self) -> bool:
        """Whether tasks are to count what they read."""

    def scan_built(self, scan: ObservedScan) -> None:
        """A scan was built; it may never run."""

    def scan_started(self, scan: ObservedScan) -> None:
        """Its tasks were planned to run."""


@dataclass(frozen=True, slots=True)
class ScanTotals:
    """The scans of a statement together; ``None`` where no scan knows.

    Attributes:
        size_bytes: Of all splits.
        partitions: Kept, and of how many; ``None`` of how many where a scan does not know.
        files: In the same way.
    """

    size_bytes: int
    partitions: tuple[int, int | None] | None
    files: tuple[int, int | None] | None


def scan_totals(scans: Iterable[ScanFacts]) -> ScanTotals | None:
    """Adds scans up, but for those whose counts are not shown; ``None`` for no scans."""
    found = [one for one in scans if not one.summary.is_confidential]
    if not found:
        return None
    partitions = [(one.summary.partitions_kept, one.summary.partitions_total) for one in found]
    files = [(one.summary.files_kept, one.summary.files_total) for one in found]
    return ScanTotals(sum(one.size_bytes for one in found), _sum(partitions), _sum(files))


def kept_text(kept: int | None, total: int | None) -> str:
    """``3 of 3,650``; a number that is not known is a question mark."""
    return " of ".join("?" if number is None else f"{number:,}" for number in (kept, total))


def _sum(pairs: list[tuple[int | None, int | None]]) -> tuple[int, int | None] | None:
    known = [(kept, total) for kept, total in pairs if kept is not None]
    if not known:
        return None
    totals = [total for _, total in known if total is not None]
    return sum(kept for kept, _ in known), sum(totals) if len(totals) == len(known) else None
