"""Runs all benchmarks, each in a process of its own, and prints one table.

A benchmark with options of its own has them behind its name: ``python -m benchmarks tpch --folder tables``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness.figures import Figure, print_figures, read_figures
from benchmarks.harness.machine import machine_lines

_ACID = ("acid_scan", "acid_originals", "acid_deletes")
_PLANNING = ("planning", "hudi_planning", "planning_cache")
BENCHMARKS = (
    "query_overhead",
    "columns",
    "startup",
    "task_start",
    "task_parallelism",
    *_PLANNING,
    "many_splits",
    "many_queries",
    "queries_at_once",
    *_ACID,
    "hive_formats",
    "orc_places",
    "bzip2_splits",
    "hudi_merge_on_read",
    "hudi_merge_memory",
    "tpch",
    "late_reading",
    "footers",
    "inserts",
    "metastore_partitions",
    "arrow_threads",
    "shell",
)
"""Those of a whole run."""
_MODULES = {
    path.stem: f"benchmarks.{folder}.{path.stem}"
    for folder in ("engines", "hive", "hudi", "tpch")
    for path in sorted((Path(__file__).parent / folder).glob("[a-z]*.py"))
}


def main(arguments: Sequence[str]) -> int:
    """Runs them; the exit code is 1 when one of them failed, missed aims are no failure."""
    first, *others = arguments or [""]
    if first in _MODULES and any(other not in ("--small", "acid", *_MODULES) for other in others):
        return subprocess.run([sys.executable, "-m", _MODULES[first], *others], check=False).returncode
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny tables, to see that it works")
    parser.add_argument("only", nargs="*", choices=[[], "acid", *_MODULES], help="which to run; all without a name")
    options = parser.parse_args(arguments)
    asked = [name for word in options.only for name in (_ACID if word == "acid" else (word,))]
    print("\n".join(machine_lines()), flush=True)
    figures: list[Figure] = []
    failed = []
    for name in asked or BENCHMARKS:
        started = time.monotonic()
        found = _run(name, options.small)
        how = ", failed" if found is None else ""
        print(f"{name}: {time.monotonic() - started:.0f} s{how}", file=sys.stderr, flush=True)
        figures += found or []
        failed += [name] if found is None else []
    print_figures(figures)
    return 1 if failed else 0


def _run(name: str, small: bool) -> list[Figure] | None:
    with tempfile.TemporaryDirectory(prefix="lakeport-figures-") as folder:
        path = Path(folder, "figures.json")
        command = [sys.executable, "-m", _MODULES[name], "--json", str(path), *(["--small"] if small else [])]
        done = subprocess.run(command, check=False)
        return read_figures(path) if done.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
