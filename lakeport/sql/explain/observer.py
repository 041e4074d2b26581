"""Collects the scans of a statement that is explained."""

from __future__ import annotations

import threading

from lakeport.scan_facts import ObservedScan
from lakeport.sql.explain.facts import ExplainedScan

__all__ = ["QueryObserver"]


class QueryObserver:
    """Collects the scans of one statement.

    Args:
        runs: The statement is run, so that tasks count; only scans that were started are shown then.
    """

    def __init__(self, *, runs: bool) -> None:
        self._runs = runs
        self._built: dict[int, ObservedScan] = {}
        self._started: set[int] = set()
        self._lock = threading.Lock()

    @property
    def wants_metrics(self) -> bool:
        """Whether tasks are to count what they read."""
        return self._runs

    def scan_built(self, scan: ObservedScan) -> None:
        """A scan was built."""
        with self._lock:
            self._built[id(scan)] = scan

    def scan_started(self, scan: ObservedScan) -> None:
        """Its tasks were planned to run."""
        with self._lock:
            self._started.add(id(scan))

    def scans(self) -> tuple[ExplainedScan, ...]:
        """The scans, in the order in which they were built."""
        shown = [scan for key, scan in self._built.items() if not self._runs or key in self._started]
        return tuple(_explained(scan) for scan in shown)

    def close(self) -> None:
        """Releases what the tasks report to."""
        for scan in self._built.values():
            scan.stop_counting()


def _explained(scan: ObservedScan) -> ExplainedScan:
    described = scan.described()
    # What tasks counted is of rows that are hidden, too.
    metrics = None if described.facts.summary.is_confidential else scan.metrics()
    return ExplainedScan(scan.fingerprint, described, metrics)
