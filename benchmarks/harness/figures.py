"""Figures, their aims, and the table that shows them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

__all__ = ["Figure", "print_figures", "read_figures", "write_figures"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured.

    Attributes:
        group: The benchmark.
        name: What was measured.
        value: The figure.
        unit: Its unit, such as ``s``, ``ms``, ``MB``, ``x`` for a ratio, ``calls``.
        at_most: The aim, in the same unit; ``None`` where there is none.
        note: How it came about, such as the medians behind a ratio.
    """

    group: str
    name: str
    value: float
    unit: str
    at_most: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """``met`` or ``missed``; empty without an aim."""
        if self.at_most is None:
            return ""
        return "met" if self.value <= self.at_most else "missed"


def print_figures(figures: Sequence[Figure]) -> None:
    """Prints a table with a line for each figure."""
    rows = [("benchmark", "figure", "value", "aim", "", "note")]
    for figure in figures:
        aim = "" if figure.at_most is None else f"<= {_number(figure.at_most)} {figure.unit}"
        value = f"{_number(figure.value)} {figure.unit}"
        rows.append((figure.group, figure.name, value, aim, figure.verdict, figure.note))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def write_figures(figures: Sequence[Figure], path: Path) -> None:
    """Writes figures as JSON."""
    path.write_text(json.dumps([asdict(figure) for figure in figures]))


def read_figures(path: Path) -> list[Figure]:
    """Reads what ``write_figures`` wrote."""
    return [Figure(**item) for item in json.loads(path.read_text())]


def _number(value: float) -> str:
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
