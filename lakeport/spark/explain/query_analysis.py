"""The scans of a statement that is explained, and what their tasks count."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol

from pyspark import SparkContext

from lakeport.spark.explain.description import ScanDescription
from lakeport.spark.tasks.counters import TASKS_TOLD, TaskCounters, forget_counters, new_counters
from lakeport.transactions.statement import Statement

__all__ = ["AnalysedScan", "ExplainedScan", "QueryAnalysis", "analysis_of"]


class ExplainedScan(Protocol):
    """A scan that can be asked."""

    def toString(self) -> str:
        """What Java knows it by."""

    def described(self) -> ScanDescription:
        """What it is going to read."""


@dataclass(frozen=True, slots=True)
class AnalysedScan:
    """One scan.

    Attributes:
        identity: What Java knows the scan by; equal scans share it.
        description: What was planned.
        was_read: Its tasks were handed to Spark.
        counts: What its tasks told; ``None`` where Spark's own reader read, or nothing was counted.
        tasks_told: How many of them told.
    """

    identity: str
    description: ScanDescription
    was_read: bool
    counts: dict[str, int] | None
    tasks_told: int


class QueryAnalysis:
    """Hears of the scans of one statement.

    Args:
        context: For accumulators; ``None`` where the statement is not run, so that nothing is counted.
    """

    def __init__(self, context: SparkContext | None) -> None:
        self._context = context
        self._scans: dict[int, ExplainedScan] = {}
        self._read: set[int] = set()
        self._counters: dict[int, TaskCounters] = {}
        self._lock = threading.Lock()

    def built(self, scan: ExplainedScan) -> None:
        """A scan was built."""
        with self._lock:
            self._scans[id(scan)] = scan

    def read(self, scan: ExplainedScan) -> None:
        """Its tasks were planned to run."""
        with self._lock:
            self._read.add(id(scan))

    def counters(self, scan: ExplainedScan) -> TaskCounters | None:
        """Where its tasks count."""
        if self._context is None:
            return None
        with self._lock:
            if id(scan) not in self._counters:
                self._counters[id(scan)] = new_counters(self._context)
            return self._counters[id(scan)]

    def scans(self) -> list[AnalysedScan]:
        """All scans, in the order in which they were built; of a statement that ran, those that were read."""
        shown = [key for key in self._scans if self._context is None or key in self._read]
        return [self._scan(key) for key in shown]

    def close(self) -> None:
        """Frees the accumulators."""
        for counters in self._counters.values():
            forget_counters(counters)

    def _scan(self, key: int) -> AnalysedScan:
        scan, counters = self._scans[key], self._counters.get(key)
        counts = None if counters is None else dict(counters.value)
        told = 0 if counts is None else counts.pop(TASKS_TOLD, 0)
        return AnalysedScan(scan.toString(), scan.described(), key in self._read, counts, told)


def analysis_of(statement: Statement) -> QueryAnalysis | None:
    """Who wants to hear of the statement's scans."""
    return statement.analysis if isinstance(statement.analysis, QueryAnalysis) else None
