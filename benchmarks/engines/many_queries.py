"""Many queries in one session: what is left of them in py4j, in threads and in memory."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.data.tables import write_parquet
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.java import JavaMemory, proxies_alive
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.machine import resident_megabytes
from benchmarks.harness.timing import seconds

_GROUP = "many_queries"
_WARM_UP = 100
_MOST_LEFT = 50
_MOST_MEGABYTES = 50.0
_SETTINGS = {
    # What Spark itself remembers of the last thousand jobs is not ours.
    "spark.ui.retainedJobs": "10",
    "spark.ui.retainedStages": "10",
    "spark.ui.retainedTasks": "100",
    "spark.sql.ui.retainedExecutions": "10",
}


@dataclass(frozen=True, slots=True)
class _State:
    """After garbage was collected on both sides; megabytes."""

    proxies: int
    threads: int
    python: float
    heap: float
    java: float
    arrow: int


def measure(size: Size, folder: Path) -> list[Figure]:
    """Native and Python reading take turns; all is compared with the state after a warm-up."""
    queries, warm_up = size.of(1000, 6), size.of(_WARM_UP, 2)
    with open_lake(folder, _SETTINGS) as lake:
        lake.register("hive", "small", write_parquet(folder / "small", 1000, 1))
        memory = JavaMemory(lake.session.spark)
        _queries(lake, warm_up)
        before = _state(lake, memory)
        spent = seconds(partial(_queries, lake, queries))
        uncollected = proxies_alive(lake.session.spark)
        after = _state(lake, memory)
    name = f"{queries:,} queries"
    pool = f"{before.proxies} before, {uncollected} after the queries, {after.proxies} after System.gc()"
    threads = f"one for each connection that Java calls back through: {before.threads} before, {after.threads} after"
    warm = f"after {warm_up} queries of warm-up"
    python, heap, java = (
        after.python - before.python,
        after.heap - before.heap,
        after.java - before.java,
    )
    return [
        Figure(_GROUP, f"{name}: mean of a query", spent / queries * 1000, "ms"),
        Figure(
            _GROUP,
            f"{name}: proxies left",
            value=after.proxies - before.proxies,
            unit="proxies",
            at_most=_MOST_LEFT,
            note=pool,
        ),
        Figure(
            _GROUP,
            f"{name}: threads left",
            value=after.threads - before.threads,
            unit="threads",
            at_most=_MOST_LEFT,
            note=threads,
        ),
        Figure(_GROUP, f"{name}: driver's Python grew by", value=python, unit="MB", at_most=_MOST_MEGABYTES, note=warm),
        Figure(_GROUP, f"{name}: Java's heap grew by", value=heap, unit="MB", at_most=_MOST_MEGABYTES, note=warm),
        Figure(_GROUP, f"{name}: Java's process grew by", java, "MB", note="resident, with free heap"),
        Figure(_GROUP, f"{name}: Arrow in Java keeps", value=after.arrow - before.arrow, unit="bytes", at_most=0),
    ]


def _queries(lake: Lake, count: int) -> None:
    for number in range(count):
        lake.collect(f"SELECT sum(quantity) FROM hive.bench.small WHERE id > {number}", number % 2 == 0)


def _state(lake: Lake, memory: JavaMemory) -> _State:
    heap = memory.heap_megabytes()
    return _State(
        proxies_alive(lake.session.spark),
        threading.active_count(),
        resident_megabytes(os.getpid()),
        heap,
        memory.resident_megabytes(),
        memory.arrow_bytes(),
    )


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
