"""From nothing to the first rows: the first query after start and the tenth, each start in a new process."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.command import Size, run_command
from benchmarks.figures import Figure
from benchmarks.lake import open_lake
from benchmarks.tables import write_parquet

_QUERIES = 10
_CONTENDERS = {
    "Spark's own reader": ("view", "lakeport.spark.tasks.daemon"),
    "native": ("native", "lakeport.spark.tasks.daemon"),
    "Python tasks": ("python", "lakeport.spark.tasks.daemon"),
    "Python tasks, pyspark.daemon": ("python", "pyspark.daemon"),
}


def measure(size: Size, folder: Path) -> list[Figure]:
    """Medians over new processes that take turns."""
    table = write_parquet(folder / "small", 1000, 1)
    taken: dict[str, list[list[float]]] = {name: [] for name in _CONTENDERS}
    for number in range(size.of(3, 1)):
        for name, arguments in _CONTENDERS.items():
            home = folder / f"{number}-{len(taken[name])}-{arguments[0]}-{arguments[1]}"
            home.mkdir()
            taken[name].append(_start(table, home, arguments))
    figures = []
    for name, runs in taken.items():
        started, first, tenth = (median(run[index] for run in runs) for index in (0, 1, _QUERIES))
        figures.append(Figure("startup", f"{name}: session ready", started, "s"))
        figures.append(Figure("startup", f"{name}: first query", first, "s"))
        figures.append(Figure("startup", f"{name}: tenth query", tenth, "s"))
    return figures


def run_queries(table: Path, home: Path, reader: str, daemon: str) -> list[float]:
    """Seconds until the session is ready, then of each query; in this process.

    Args:
        table: Folder of Parquet files.
        home: Empty folder.
        reader: ``view`` for Spark's own, ``native`` or ``python``.
        daemon: Module of the process that Python workers are forked from.
    """
    begun = time.perf_counter()
    with open_lake(home, {"spark.python.daemon.module": daemon}) as lake:
        _ = lake.session.spark
        taken = [time.perf_counter() - begun]
        name = "small" if reader == "view" else "hive.bench.small"
        if reader != "view":
            lake.register("hive", "small", table)
        for number in range(_QUERIES):
            begun = time.perf_counter()
            if number == 0 and reader == "view":
                lake.view(name, table)
            lake.collect(f"SELECT count(*), sum(quantity) FROM {name} WHERE id >= 10", reader == "native")
            taken.append(time.perf_counter() - begun)
    return taken


def _start(table: Path, home: Path, arguments: tuple[str, str]) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.startup", "--queries", str(table), str(home), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    taken: list[float] = json.loads(done.stdout.splitlines()[-1])
    return taken


if __name__ == "__main__":
    if sys.argv[1:2] == ["--queries"]:
        print(json.dumps(run_queries(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5])))
    else:
        run_command(__doc__ or "", measure)
