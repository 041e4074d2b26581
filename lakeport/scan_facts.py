"""What the scans and jobs of a statement read and skipped, for whoever shows it beside the rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from connector_spi.names import CatalogSchemaTableName
from connector_spi.splits import ScanSummary

__all__ = ["JobCounts", "ScanFacts", "ScanTotals", "scan_totals"]


@dataclass(frozen=True, slots=True)
class JobCounts:
    """What jobs have done.

    Attributes:
        tasks_done: Tasks that have ended well.
        tasks: All tasks of the stages that were submitted.
        rows: Rows that scans gave, of tasks that have ended and, some seconds late, of those that run.
        size_bytes: Bytes that Spark's own readers read, in the same way; Python tasks do not tell.
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
        tasks: Number of tasks.
        size_bytes: Of the splits, as they are stored.
        native: Spark's own reader reads it, else Python tasks.
    """

    name: CatalogSchemaTableName
    summary: ScanSummary
    splits: int
    tasks: int
    size_bytes: int
    native: bool


@dataclass(frozen=True, slots=True)
class ScanTotals:
    """The scans of a statement together; ``None`` where no scan knows.

    Attributes:
        size_bytes: Of all splits.
        partitions: Kept, and of how many.
        files: Kept, and of how many.
    """

    size_bytes: int
    partitions: tuple[int, int] | None
    files: tuple[int, int] | None


def scan_totals(scans: Iterable[ScanFacts]) -> ScanTotals | None:
    """Adds scans up; ``None`` for no scans. A total that one scan does not know counts what it kept."""
    found = list(scans)
    if not found:
        return None
    partitions = [(one.summary.partitions_kept, one.summary.partitions_total) for one in found]
    files = [(one.summary.files_kept, one.summary.files_total) for one in found]
    return ScanTotals(sum(one.size_bytes for one in found), _sum(partitions), _sum(files))


def _sum(pairs: list[tuple[int | None, int | None]]) -> tuple[int, int] | None:
    known = [(kept, kept if total is None else total) for kept, total in pairs if kept is not None]
    return (sum(kept for kept, _ in known), sum(total for _, total in known)) if known else None
