"""Many queries in one session: what is left of them in py4j's pool and in memory."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from benchmarks.command import Size, run_command
from benchmarks.figures import Figure
from benchmarks.java import JavaMemory, proxies_alive
from benchmarks.lake import Lake, open_lake
from benchmarks.machine import resident_megabytes
from benchmarks.tables import write_parquet
from benchmarks.timing import seconds

_GROUP = "many_queries"
_WARM_UP = 100
_MOST_LEFT = 50
_MOST_MEGABYTES = 50.0


def measure(size: Size, folder: Path) -> list[Figure]:
    """Native and Python reading take turns; all is compared with the state after a warm-up."""
    queries, warm_up = size.of(1000, 6), size.of(_WARM_UP, 2)
    with open_lake(folder) as lake:
        lake.register("hive", "small", write_parquet(folder / "small", 1000, 1))
        memory = JavaMemory(lake.session.spark)
        _queries(lake, warm_up)
        before = _state(lake, memory)
        spent = seconds(partial(_queries, lake, queries))
        uncollected = proxies_alive(lake.session.spark)
        after = _state(lake, memory)
    name = f"{queries:,} queries"
    note = f"after {warm_up} queries of warm-up"
    pool = f"{before[0]:.0f} before, {uncollected} after the queries, {after[0]:.0f} after System.gc()"
    return [
        Figure(_GROUP, f"{name}: mean of a query", spent / queries * 1000, "ms"),
        Figure(_GROUP, f"{name}: proxies left", after[0] - before[0], "proxies", _MOST_LEFT, pool),
        Figure(_GROUP, f"{name}: driver's Python grew by", after[1] - before[1], "MB", _MOST_MEGABYTES, note),
        Figure(_GROUP, f"{name}: Java's heap grew by", after[2] - before[2], "MB", _MOST_MEGABYTES, note),
        Figure(_GROUP, f"{name}: Java's process grew by", after[3] - before[3], "MB", note="resident, with free heap"),
    ]


def _queries(lake: Lake, count: int) -> None:
    for number in range(count):
        lake.collect(f"SELECT sum(quantity) FROM hive.bench.small WHERE id > {number}", number % 2 == 0)


def _state(lake: Lake, memory: JavaMemory) -> tuple[float, float, float, float]:
    heap = memory.heap_megabytes()
    proxies = proxies_alive(lake.session.spark)
    return proxies, resident_megabytes(os.getpid()), heap, memory.resident_megabytes()


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
