"""Reading a table with no Spark: one thread against one for each core, and what the threads have of the cores.

DuckDB over one thread that reads when it is asked, and over one that reads ahead meanwhile, take turns, too.
"""

from __future__ import annotations

import resource
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Protocol

import duckdb
import pyarrow as pa

from benchmarks.data.tables import write_hudi, write_parquet
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import open_lake
from benchmarks.harness.turns import take_turns
from lakeport.arrow.parallel_read import ParallelRead, default_threads

_GROUP = "arrow_threads"


class Arrow(Protocol):
    """Opens a table."""

    def __call__(self, name: str, *, threads: int, ordered: bool = True) -> pa.RecordBatchReader:
        """The rows."""


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
            figures += _read_ahead(lake.session.arrow, name, size.of(5, 1))
    return figures


def _read_ahead(arrow: Arrow, name: str, rounds: int) -> list[Figure]:
    taken = take_turns(
        {
            "asked": lambda: _grouped(arrow(name, threads=1)),
            "ahead": lambda: _grouped(_ahead(arrow(name, threads=1))),
        },
        rounds,
    )
    assert sorted(taken["asked"].answer) == sorted(taken["ahead"].answer)
    figures = []
    for what in ("seconds", "cpu"):
        times = {how: getattr(one, what) for how, one in taken.items()}
        ratio = median(one / max(other, 0.01) for one, other in zip(times["ahead"], times["asked"], strict=True))
        note = f"{taken['ahead'].note} against {taken['asked'].note}"
        figures.append(
            Figure(_GROUP, f"{name} in DuckDB, read ahead: of read when asked, {what}", ratio, "x", note=note)
        )
    return figures


def _grouped(rows: pa.RecordBatchReader) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection, rows:
        connection.register("rows", rows)
        return connection.execute("SELECT quantity % 10, count(*), sum(id) FROM rows GROUP BY 1").fetchall()


def _ahead(rows: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """The same, read by a thread of its own into a queue of 16 MB."""
    return pa.RecordBatchReader.from_batches(rows.schema, ParallelRead([rows], lambda one: one, 1))


def _read(arrow: Arrow, name: str, threads: int, ordered: bool) -> tuple[float, float]:
    """Seconds by the clock, and of all cores together."""
    cpu, started = _cpu_seconds(), time.perf_counter()
    for _ in arrow(name, threads=threads, ordered=ordered):
        pass
    return time.perf_counter() - started, _cpu_seconds() - cpu


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    run_command(__doc__ or "", measure)
