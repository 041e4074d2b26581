"""From nothing to the first rows: the first query after start and the tenth, each start in a new process.

For the engine duckdb it is the command ``lakeport sql`` up to its answer, with bytecode as an installed package has it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.data.tables import write_parquet
from benchmarks.harness.command import Size, run_command
from benchmarks.harness.figures import Figure
from benchmarks.harness.lake import open_lake
from lakeport.connection import connect

_QUERIES = 10
_CONTENDERS = {
    "Spark's own reader": ("view", "lakeport.spark.tasks.daemon"),
    "native": ("native", "lakeport.spark.tasks.daemon"),
    "Python tasks": ("python", "lakeport.spark.tasks.daemon"),
    "Python tasks, pyspark.daemon": ("python", "pyspark.daemon"),
    "native, no class compiled": ("native", "lakeport.spark.tasks.daemon"),
    "Python tasks, no class compiled": ("python", "lakeport.spark.tasks.daemon"),
}
_UNCOMPILED = "no class compiled"
"""The Java classes are compiled in this process; else they come from the user's cache."""

# pyarrow imports pandas where it is installed; Lakeport does not need it.
_NO_PANDAS = """
class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, NoPandas())
"""
_PROGRAM = """
import sys, time
{before}
from lakeport.shell.main import main
code = main()
print(time.process_time(), time.clock_gettime(time.CLOCK_MONOTONIC), file=sys.stderr)
sys.exit(code)
"""
_IMPORTS = {"no pandas": _NO_PANDAS, "pandas installed": ""}


def measure(size: Size, folder: Path) -> list[Figure]:
    """Medians over new processes that take turns."""
    table = write_parquet(folder / "small", 1000, 1)
    taken: dict[str, list[list[float]]] = {name: [] for name in _CONTENDERS}
    rounds = size.of(4, 1)
    for number in range(rounds):
        for name, arguments in _CONTENDERS.items():
            home = folder / f"{number}-{name}"
            home.mkdir()
            cache = (home if _UNCOMPILED in name else folder) / "cache"
            found = _start(table, home, arguments, cache)
            if number or rounds == 1:  # the first fills the cache
                taken[name].append(found)
    figures = []
    for name, runs in taken.items():
        started, first, tenth = (median(run[index] for run in runs) for index in (0, 1, _QUERIES))
        figures.append(Figure("startup", f"{name}: session ready", started, "s"))
        figures.append(Figure("startup", f"{name}: first query", first, "s"))
        figures.append(Figure("startup", f"{name}: tenth query", tenth, "s"))
    return [*figures, *_commands(size, folder, table)]


def _commands(size: Size, folder: Path, table: Path) -> list[Figure]:
    """``lakeport sql --engine duckdb`` from the start of its process to its answer, in turns."""
    home = folder / "commands"
    home.mkdir()
    (home / "catalogs").mkdir()
    (home / "catalogs" / "hive.properties").write_text(
        f"connector.name=hive\nhive.metastore=embedded\nhive.metastore.embedded.path={home / 'metastore.db'}\n"
    )
    with connect(catalogs=home / "catalogs", engine="duckdb") as session:
        session.sql(f"CALL hive.system.register_table('bench', 'small', '{table}')")
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in _IMPORTS}
    for number in range(size.of(9, 2)):
        for name, before in _IMPORTS.items():
            found = _command(home, before)
            if number:  # the first writes the bytecode
                taken[name].append(found)
    return [
        Figure("startup", f"lakeport sql --engine duckdb, {name}: {what}", median(one[at] for one in runs), "s")
        for name, runs in taken.items()
        for at, what in enumerate(("CPU", "wall"))
    ]


def _command(home: Path, before: str) -> tuple[float, float]:
    """Seconds of the processor and of the clock of one command."""
    text = "SELECT count(*) FROM hive.bench.small"
    program = _PROGRAM.format(before=before)
    command = [sys.executable, "-c", program, "sql", "--engine", "duckdb", "--catalogs", str(home / "catalogs"), text]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(home / "bytecode")
    begun = time.clock_gettime(time.CLOCK_MONOTONIC)
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert " 1000\n" in done.stdout, done.stdout
    processor, ended = map(float, done.stderr.split()[-2:])
    return processor, ended - begun


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


def _start(table: Path, home: Path, arguments: tuple[str, str], cache: Path) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.engines.startup", "--queries", str(table), str(home), *arguments]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    taken: list[float] = json.loads(done.stdout.splitlines()[-1])
    return taken


if __name__ == "__main__":
    if sys.argv[1:2] == ["--queries"]:
        print(json.dumps(run_queries(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], sys.argv[5])))
    else:
        run_command(__doc__ or "", measure)
