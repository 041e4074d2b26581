"""What ``EXPLAIN`` says of a scan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from connector_spi.handles import ColumnHandle
from connector_spi.names import CatalogSchemaTableName
from connector_spi.predicate import Domain, Range, TupleDomain
from connector_spi.splits import ScanSummary
from lakeport.spark.tasks.partial_aggregate import PartialAggregation

__all__ = ["ScanDescription", "ScanTexts", "domain_text"]

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


@dataclass(frozen=True, slots=True)
class ScanDescription:
    """What a scan is going to read.

    Attributes:
        name: The table.
        summary: What the connector skipped.
        columns: Columns read, columns of the table.
        pushed: The filter that the connector got.
        texts: Predicates.
        aggregation: What the tasks aggregate.
        work: Splits, tasks, bytes.
        native: Spark's own reader, else Python tasks.
    """

    name: CatalogSchemaTableName
    summary: ScanSummary
    columns: tuple[int, int]
    pushed: TupleDomain[ColumnHandle]
    texts: ScanTexts
    aggregation: PartialAggregation | None
    work: tuple[int, int, int]
    native: bool

    def facts(self) -> list[tuple[str, str]]:
        """Names and texts, as EXPLAIN shows them; a note has no name."""
        summary = self.summary
        splits, tasks, size = self.work
        facts = [("snapshot", summary.snapshot)] if summary.snapshot else []
        facts.append(("columns", f"{self.columns[0]} of {self.columns[1]}"))
        facts.append(("filter pushed", domain_text(self.pushed)))
        if self.texts.checked:
            facts.append(("filter checked in tasks", " AND ".join(self.texts.checked)))
        facts.append(("filter left to Spark", " AND ".join(self.texts.left) or "none"))
        if self.aggregation is not None:
            facts.append(("aggregated in tasks", _aggregated(self.aggregation)))
        if summary.partitions_total is not None or summary.partitions_kept is not None:
            facts.append(("partitions", _kept(summary.partitions_kept, summary.partitions_total)))
        if summary.files_kept is not None:
            facts.append(("files", _kept(summary.files_kept, summary.files_total)))
        facts += [("splits", f"{splits} in {tasks} tasks"), ("bytes", str(size))]
        facts.append(("reader", "native (Spark)" if self.native else "Python tasks"))
        return [*facts, *(("", note) for note in summary.notes)]

    def text(self) -> str:
        """One line."""
        return ", ".join([str(self.name), *(f"{name}: {text}" if name else text for name, text in self.facts())])

    def as_json(self) -> dict[str, object]:
        """The same for programs; numbers that are not known are left out."""
        summary = self.summary
        splits, tasks, size = self.work
        numbers = {
            "partitionsKept": summary.partitions_kept,
            "partitionsTotal": summary.partitions_total,
            "filesKept": summary.files_kept,
            "filesTotal": summary.files_total,
        }
        return {
            "table": {"catalog": self.name.catalog, "schema": self.name.schema, "table": self.name.table},
            "snapshot": summary.snapshot,
            "columnsRead": self.columns[0],
            "columnsTotal": self.columns[1],
            "filterPushed": domain_text(self.pushed),
            "filterCheckedInTasks": list(self.texts.checked),
            "filterLeftToSpark": list(self.texts.left),
            "aggregatedInTasks": None if self.aggregation is None else _aggregated(self.aggregation),
            **{name: number for name, number in numbers.items() if number is not None},
            "splits": splits,
            "tasks": tasks,
            "plannedBytes": size,
            "reader": "native" if self.native else "python",
            "notes": list(summary.notes),
        }


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
        shown = ", ".join(map(_literal, discrete[:_SHOWN_VALUES]))
        more = f", ... {len(discrete)} values" if len(discrete) > _SHOWN_VALUES else ""
        text = f"{name} = {shown}" if len(discrete) == 1 else f"{name} IN ({shown}{more})"
    else:
        ranges = domain.values.ranges() or ()
        shown = " OR ".join(_range(name, item) for item in ranges[:_SHOWN_VALUES])
        text = shown + (f" OR ... {len(ranges)} ranges" if len(ranges) > _SHOWN_VALUES else "")
    return f"({text} OR {name} IS NULL)" if domain.null_allowed else text


def _range(name: str, item: Range) -> str:
    low = None if item.low is None else f"{name} {'>=' if item.low_inclusive else '>'} {_literal(item.low)}"
    high = None if item.high is None else f"{name} {'<=' if item.high_inclusive else '<'} {_literal(item.high)}"
    return " AND ".join(part for part in (low, high) if part) or "true"


def _literal(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value}'"
    if isinstance(value, date):
        return f"DATE '{value}'"
    return str(value)
