"""Runs benchmarks of this checkout and of another one in turn, and prints the ratio of each figure.

``python -m benchmarks.compare ../before query_overhead acid_scan``: the other checkout runs in its own environment.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from benchmarks.harness.figures import Figure, print_figures, read_figures
from benchmarks.harness.machine import machine_lines

_LOWER_IS_BETTER = frozenset({"s", "ms", "x", "MB", "calls"})


def main() -> int:
    """Prints one line for each figure; the exit code is 1 when a benchmark failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument("other", type=Path, help="another checkout, with its .venv")
    parser.add_argument("only", nargs="+", help="which benchmarks to run")
    parser.add_argument("--rounds", type=int, default=2, help="how often each is run")
    parser.add_argument("--small", action="store_true", help="tiny tables, to see that it works")
    options = parser.parse_args()
    print("\n".join(machine_lines()), flush=True)
    other = options.other.resolve()
    ours, theirs = (Path(sys.executable), Path.cwd()), (other / ".venv" / "bin" / "python", other)
    ratios: list[Figure] = []
    for name in options.only:
        rounds = [
            (_run(*ours, name=name, small=options.small), _run(*theirs, name=name, small=options.small))
            for _ in range(options.rounds)
        ]
        ratios += _ratios([mine for mine, _ in rounds], [other for _, other in rounds])
    print_figures(ratios)
    return 0


def _ratios(mine: list[list[Figure]], others: list[list[Figure]]) -> list[Figure]:
    """The median of each figure here by the median there, where a smaller one is better."""
    here, there = _medians(mine), _medians(others)
    return [
        Figure(group, name, value / other, "x", note=f"{value:.4g} {unit} here, {other:.4g} {unit} there")
        for (group, name), (value, unit) in here.items()
        if unit in _LOWER_IS_BETTER and (other := there.get((group, name), (0.0, unit))[0])
    ]


def _medians(rounds: list[list[Figure]]) -> dict[tuple[str, str], tuple[float, str]]:
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    units = {}
    for figure in (figure for figures in rounds for figure in figures):
        values[figure.group, figure.name].append(figure.value)
        units[figure.group, figure.name] = figure.unit
    return {key: (statistics.median(found), units[key]) for key, found in values.items()}


def _run(python: Path, checkout: Path, *, name: str, small: bool) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="lakeport-figures-") as folder:
        path = Path(folder, "figures.json")
        [found] = (checkout / "benchmarks").rglob(f"{name}.py")
        module = ".".join(found.relative_to(checkout).with_suffix("").parts)
        command = [str(python), "-m", module, "--json", str(path), *(["--small"] if small else [])]
        subprocess.run(command, check=True, cwd=checkout)
        return read_figures(path)


if __name__ == "__main__":
    sys.exit(main())
