"""The rows that benchmarks of writing write: TPC-H's lineitem."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from benchmarks.data.tpch_tables import make_lineitem
from benchmarks.harness.command import Size

__all__ = ["LineitemOptions"]


@dataclass(frozen=True, slots=True)
class LineitemOptions:
    """What of it is written, and how often.

    Attributes:
        folder: Where the rows are kept; ``None`` to delete them afterwards.
        scale: TPC-H's scale factor; ``None`` for 1, which is 6 M rows.
        rounds: Rounds that count; ``None`` for those of the benchmark.
    """

    folder: Path | None
    scale: float | None
    rounds: int | None

    @staticmethod
    def parser() -> argparse.ArgumentParser:
        """The options of the command line, as a parent of others."""
        parser = argparse.ArgumentParser(add_help=False)
        parser.add_argument("--folder", type=Path, help="where the rows are kept, and made when they are not there")
        parser.add_argument("--scale", type=float, help="TPC-H's scale factor; 1 by default")
        parser.add_argument("--rounds", type=int, help="how often each writer writes")
        return parser

    @classmethod
    def parse(cls) -> LineitemOptions:
        """Those of the process's command line."""
        given, _ = cls.parser().parse_known_args()
        return cls(given.folder, given.scale, given.rounds)

    def make(self, size: Size, folder: Path) -> Path:
        """The directory of their Parquet files.

        Args:
            size: Tiny tables, or not.
            folder: Where they are made if they are not kept.
        """
        scale = self.scale or (0.01 if size.small else 1)
        return make_lineitem((self.folder or folder) / f"scale-{scale}", scale)
