"""A table of many small files: time from submit to the first task, and the memory of the driver."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.data.tables import copy_file, write_parquet
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.java import JavaMemory
from benchmarks.harness.lake import Lake, open_lake
from benchmarks.harness.machine import resident_megabytes

_GROUP = "many_splits"
_QUERY = "SELECT count(*), sum(quantity) FROM {table}"


@dataclass(frozen=True, slots=True)
class _Run:
    """Seconds from submit to the first task and to the rows."""

    first_task: float
    rows: float


def measure(size: Size, folder: Path) -> list[Figure]:
    """The three readers take turns; the view's files are listed anew each time, as ours are."""
    files = size.of(10_000, 40)
    source = write_parquet(folder / "source", 100, 1) / "part-00000.parquet"
    table = folder / "table"
    copy_file(source, (table / f"part-{number:05}.parquet" for number in range(files)))
    runs: dict[str, list[_Run]] = {"spark": [], "native": [], "python": []}
    grown: dict[str, tuple[float, float, float]] = {}
    with open_lake(folder) as lake:
        lake.register("hive", "files", table)
        memory = JavaMemory(lake.session.spark)
        for number in range(1 + size.of(2, 1)):
            for reader, taken in runs.items():
                before = (resident_megabytes(os.getpid()), memory.resident_megabytes())
                taken.append(_run(lake, reader, table, number))
                heap = memory.heap_megabytes()
                after = (resident_megabytes(os.getpid()), memory.resident_megabytes())
                if number == 0:
                    grown[reader] = (after[0] - before[0], after[1] - before[1], heap)
    figures = []
    for reader, taken in runs.items():
        python, java, heap = grown[reader]
        name = f"{files:,} files, {reader}"
        figures += [
            Figure(_GROUP, f"{name}: submit to first task", median(run.first_task for run in taken[1:]), "s"),
            Figure(_GROUP, f"{name}: submit to rows", median(run.rows for run in taken[1:]), "s"),
            Figure(_GROUP, f"{name}: driver's Python grew by", python, "MB", note="resident, first query"),
            Figure(_GROUP, f"{name}: Java heap in use after", heap, "MB", note=f"resident grew by {java:.0f} MB"),
        ]
    return figures


def _run(lake: Lake, reader: str, folder: Path, number: int) -> _Run:
    spark = lake.session.spark
    group = f"{reader}-{number}"
    spark.sparkContext.setJobGroup(group, group)
    # Java's clock and Python's are one on the same machine; task times have milliseconds.
    submitted = time.time()
    if reader == "spark":
        lake.view("files", folder)
    lake.collect(_QUERY.format(table="files" if reader == "spark" else "hive.bench.files"), reader == "native")
    rows = time.time()
    store = spark.sparkContext._jsc.sc().statusStore()
    tracker = spark.sparkContext.statusTracker()
    launched = [
        first
        for job in tracker.getJobIdsForGroup(group)
        if (info := tracker.getJobInfo(job)) is not None
        for stage in info.stageIds
        if (first := _first_launch(store, stage)) is not None
    ]
    # Listing many files is a job of Spark's own, which runs no task of the scan: the last stage with most tasks is.
    _, scan = max(launched)
    return _Run(scan - submitted, rows - submitted)


def _first_launch(store: object, stage: int) -> tuple[int, float] | None:
    """Number of tasks of a stage, and when the first was launched, seconds since 1970."""
    attempt = store.lastStageAttempt(stage)  # type: ignore[attr-defined]
    launched = attempt.firstTaskLaunchedTime()
    return (int(attempt.numTasks()), launched.get().getTime() / 1000) if launched.isDefined() else None


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
