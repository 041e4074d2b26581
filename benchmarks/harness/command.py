"""The command line that all benchmarks share."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.harness.figures import Figure, print_figures, write_figures
from benchmarks.harness.machine import machine_lines

__all__ = ["Size", "run_command"]


@dataclass(frozen=True, slots=True)
class Size:
    """How much a benchmark does.

    Attributes:
        small: Tiny tables and few rounds: shows that the command works, its figures mean nothing.
    """

    small: bool

    def of(self, full: int, small: int) -> int:
        """A number for each of the two sizes."""
        return small if self.small else full


def run_command(
    description: str,
    measure: Callable[[Size, Path], list[Figure]],
    arguments: Sequence[str] | None = None,
    *,
    parents: Sequence[argparse.ArgumentParser] = (),
) -> None:
    """Parses the command line, measures in a folder that is deleted afterwards, and prints.

    Args:
        description: For ``--help``.
        measure: Gets the size and an empty folder.
        arguments: Of the command line; ``None`` takes the process's own.
        parents: Have options of the benchmark's own, which it has parsed.
    """
    parser = argparse.ArgumentParser(description=description, parents=list(parents))
    parser.add_argument("--small", action="store_true", help="tiny tables, to see that it works")
    parser.add_argument("--json", type=Path, help="write the figures into this file instead of printing them")
    options = parser.parse_args(arguments)
    if options.json is None:
        print("\n".join(machine_lines()), flush=True)
    with tempfile.TemporaryDirectory(prefix="lakeport-benchmark-") as folder:
        figures = measure(Size(options.small), Path(folder))
    if options.json is None:
        print_figures(figures)
    else:
        write_figures(figures, options.json)
