"""What a footer says exactly of a range of a file. Executor side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from connectors.toolkit.read.pruning import ColumnBounds

__all__ = ["RangeSummary"]


@dataclass(frozen=True, slots=True)
class RangeSummary:
    """Rows of a range, and what is in its columns.

    Attributes:
        rows: Number of rows.
        columns: By name: the least and the greatest value, ``None`` where there is none, and the number of NULLs.
    """

    rows: int
    columns: Mapping[str, ColumnBounds]
