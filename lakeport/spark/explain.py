"""The line of a scan in ``EXPLAIN``."""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.handles import ColumnHandle
from connector_spi.names import CatalogSchemaTableName
from connector_spi.predicate import Domain, Range, TupleDomain
from connector_spi.splits import ScanSummary
from lakeport.spark.partial_aggregate import PartialAggregation

__all__ = ["ScanTexts", "describe_scan", "domain_text"]

_SHOWN_VALUES = 5


@dataclass(frozen=True, slots=True)
class ScanTexts:
    """Predicates in SQL.

    Attributes:
        checked: Those that tasks check.
        left: Those that Spark checks again.
    """

    checked: tuple[str, ...]
    left: tuple[str, ...]


def describe_scan(
    name: CatalogSchemaTableName,
    summary: ScanSummary,
    columns: tuple[int, int],
    pushed: TupleDomain[ColumnHandle],
    texts: ScanTexts,
    aggregation: PartialAggregation | None,
    work: tuple[int, int, int],
    native: bool,
) -> str:
    """One line about a scan.

    Args:
        name: The table.
        summary: What the connector skipped.
        columns: Columns read, columns of the table.
        pushed: The filter that the connector got.
        texts: Predicates.
        aggregation: What the tasks aggregate.
        work: Splits, tasks, bytes.
        native: Spark's own reader, else Python tasks.
    """
    splits, tasks, size = work
    parts = [f"{name}"]
    if summary.snapshot:
        parts.append(f"snapshot: {summary.snapshot}")
    parts.append(f"columns: {columns[0]} of {columns[1]}")
    parts.append(f"filter pushed: {domain_text(pushed)}")
    if texts.checked:
        parts.append(f"filter checked in tasks: {' AND '.join(texts.checked)}")
    parts.append(f"filter left to Spark: {' AND '.join(texts.left) or 'none'}")
    if aggregation is not None:
        parts.append(f"aggregated in tasks: {_aggregated(aggregation)}")
    if summary.partitions_total is not None or summary.partitions_kept is not None:
        parts.append(f"partitions: {_kept(summary.partitions_kept, summary.partitions_total)}")
    if summary.files_kept is not None:
        parts.append(f"files: {_kept(summary.files_kept, summary.files_total)}")
    parts.append(f"splits: {splits} in {tasks} tasks")
    parts.append(f"bytes: {size}")
    parts.append(f"reader: {'native (Spark)' if native else 'Python tasks'}")
    parts.extend(summary.notes)
    return ", ".join(parts)


def domain_text(predicate: TupleDomain[ColumnHandle]) -> str:
    """A predicate in SQL-like words."""
    if predicate.domains is None:
        return "never true"
    if predicate.is_all:
        return "none"
    return " AND ".join(_one(column.name, domain) for column, domain in predicate.domains.items())


def _aggregated(aggregation: PartialAggregation) -> str:
    functions = ", ".join(map(str, aggregation.aggregates)) or "distinct"
    return f"{functions} by {', '.join(aggregation.keys)}" if aggregation.keys else functions


def _kept(kept: int | None, total: int | None) -> str:
    return f"{'?' if kept is None else kept} of {'?' if total is None else total}"


def _one(name: str, domain: Domain) -> str:
    if domain.is_only_null:
        return f"{name} IS NULL"
    discrete = domain.values.discrete_values()
    if domain.values.is_all:
        return f"{name} IS NOT NULL"
    if discrete is not None:
        shown = ", ".join(repr(value) for value in discrete[:_SHOWN_VALUES])
        more = f", ... {len(discrete)} values" if len(discrete) > _SHOWN_VALUES else ""
        text = f"{name} = {shown}" if len(discrete) == 1 else f"{name} IN ({shown}{more})"
    else:
        ranges = domain.values.ranges() or ()
        shown = " OR ".join(_range(name, item) for item in ranges[:_SHOWN_VALUES])
        text = shown + (f" OR ... {len(ranges)} ranges" if len(ranges) > _SHOWN_VALUES else "")
    return f"({text} OR {name} IS NULL)" if domain.null_allowed else text


def _range(name: str, item: Range) -> str:
    low = None if item.low is None else f"{name} {'>=' if item.low_inclusive else '>'} {item.low!r}"
    high = None if item.high is None else f"{name} {'<=' if item.high_inclusive else '<'} {item.high!r}"
    return " AND ".join(part for part in (low, high) if part) or "true"
