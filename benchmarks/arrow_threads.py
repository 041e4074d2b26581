"""Reading a table with no Spark: one thread against one for each core, and what the threads have of the cores."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.command import Size, run_command
from benchmarks.figures import Figure
from benchmarks.lake import open_lake
from benchmarks.tables import write_hudi, write_parquet
from lakeport.arrow.parallel_read import default_threads

_GROUP = "arrow_threads"


def measure(size: Size, folder: Path) -> list[Figure]:
    """Rows are read and dropped; each way takes turns with the others, the first turn is not counted."""
    rows, files = size.of(20_000_000, 1000), size.of(16, 4)
    parquet = write_parquet(folder / "parquet", rows, files)
    hudi = write_hudi(folder / "hudi", rows, files)
    figures: list[Figure] = []
    with open_lake(folder) as lake:
        lake.register("hive", "files", parquet)
        lake.register("hudi", "slices", hudi)
        for name in ("hive.bench.files", "hudi.bench.slices"):
            for threads in sorted({1, default_threads()}):
                for ordered in (True, False)[: 1 if threads == 1 else 2]:
                    run = partial(_read, lake.session.arrow, name, threads, ordered)
                    taken = [run() for _ in range(1 + size.of(3, 1))][1:]
                    wall, cpu = min(taken)
                    how = f"{name}, {threads} threads, {'in order' if ordered else 'as they come'}"
                    figures.append(Figure(_GROUP, how, wall, "s", note=f"{rows:,} rows in {files} files"))
                    figures.append(Figure(_GROUP, f"{how}: cores busy", cpu / wall, "x"))
    return figures


def _read(arrow: Callable[..., object], name: str, threads: int, ordered: bool) -> tuple[float, float]:
    """Seconds by the clock, and of all cores together."""
    cpu, started = _cpu_seconds(), time.perf_counter()
    for _ in arrow(name, threads=threads, ordered=ordered):  # type: ignore[attr-defined]
        pass
    return time.perf_counter() - started, _cpu_seconds() - cpu


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
