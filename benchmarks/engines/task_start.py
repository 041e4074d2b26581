"""What a task's Python costs before its first row: its process, its imports, a process used again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.data.tables import write_parquet
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.timing import alternate

_GROUP = "task_start"
_QUERY = "SELECT sum(quantity) FROM hive.bench.small"
_OURS, _SPARKS = "lakeport.spark.tasks.daemon", "pyspark.daemon"
_IMPORTED = (
    "pyspark.worker",
    "lakeport.spark.tasks.task",
    "connectors.hive.page_source",
    "connectors.hudi.page_source",
)
_SHOWN_PACKAGES = 6


def measure(size: Size, folder: Path) -> list[Figure]:
    """Queries of one task, by where its Python comes from, and what importing costs."""
    with open_lake(folder) as lake:
        lake.register("hive", "small", write_parquet(folder / "small", 1000, 1))
        contenders: dict[str, Callable[[], object]] = {"native": partial(_query, lake, _OURS, True, native=True)}
        for daemon in (_OURS, _SPARKS):
            contenders[f"{daemon}, used again"] = partial(_query, lake, daemon, True)
            contenders[f"{daemon}, new"] = partial(_query, lake, daemon, False)
        timings = alternate(contenders, size.of(15, 2), size.of(5, 1))
    figures = [
        Figure(
            _GROUP,
            f"query of one Python task, worker of {name}: above native",
            timings.difference(name, "native") * 1000,
            "ms",
            note=f"medians {timings.median(name) * 1000:.0f} ms, native {timings.median('native') * 1000:.0f} ms",
        )
        for name in contenders
        if name != "native"
    ]
    for daemon in (_OURS, _SPARKS):
        spent = timings.difference(f"{daemon}, new", f"{daemon}, used again") * 1000
        figures.append(Figure(_GROUP, f"a new worker of {daemon}: above one used again", spent, "ms"))
    return figures + _imports(size.of(5, 1))


def _query(lake: Lake, daemon: str, reuse: bool, native: bool = False) -> None:
    # Spark reads both for each task from the settings of the whole application.
    conf = lake.session.spark.sparkContext._jsc.sc().conf()
    conf.set("spark.python.daemon.module", daemon)
    conf.set("spark.python.worker.reuse", str(reuse).lower())
    lake.collect(_QUERY, native)


def _imports(rounds: int) -> list[Figure]:
    runs = [_import_times() for _ in range(rounds)]
    packages = {package for run in runs for package in run}
    medians = {package: median(run.get(package, 0.0) for run in runs) for package in packages}
    heaviest = sorted(medians, key=lambda package: -medians[package])[:_SHOWN_PACKAGES]
    note = ", ".join(f"{package} {medians[package]:.0f}" for package in heaviest)
    whole = median(sum(run.values()) for run in runs)
    return [Figure(_GROUP, "imports of a worker that is not preloaded", whole, "ms", note=note)]


def _import_times() -> dict[str, float]:
    """Milliseconds by top package, of what a task of ours imports in a new Python."""
    code = "; ".join(f"import {module}" for module in _IMPORTED)
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True)
    spent: dict[str, float] = {}
    for line in done.stderr.splitlines():
        own, _, name = line.removeprefix("import time:").split("|")
        if own.strip().isdigit():
            package = name.strip().partition(".")[0]
            spent[package] = spent.get(package, 0.0) + int(own) / 1000
    return spent


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
