"""A table that fits the screen: long texts are cut, and rows that are still too wide get one line per column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import pyarrow as pa

from lakeport.shell.output.cells import cut, printable, shown_width
from lakeport.shell.output.settings import ShellSettings
from lakeport.shell.output.tables import (
    aligned_head,
    aligned_lines,
    cell_rows,
    is_one_text,
    sides,
    write_texts,
    write_vertical_rows,
)

__all__ = ["ScreenTable", "fitted_widths"]

_LEAST_TEXT = 10
"""Minimum width of cut texts; numbers, times and column names are never cut."""


def fitted_widths(widths: list[int], least: list[int], available: int) -> list[int] | None:
    """The widths of columns so that a line takes at most ``available``: the widest are cut first.

    Args:
        widths: Widths of the values.
        least: Minimum width of each column, at most its width.
        available: Columns of the screen.

    Returns:
        A width for each column; ``None`` if even the minimum widths do not fit.
    """
    room = available - 3 * len(widths) + 1
    if sum(widths) <= room:
        return widths
    if sum(least) > room:
        return None
    low, high = 0, max(widths)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(max(one, min(width, middle)) for width, one in zip(widths, least, strict=True)) <= room:
            low = middle
        else:
            high = middle - 1
    return [max(one, min(width, low)) for width, one in zip(widths, least, strict=True)]


@dataclass(slots=True)
class ScreenTable:
    """Writes one result for a screen; a ``ResultFormat``.

    Attributes:
        width: Columns of the screen; ``None`` is no screen, and nothing is cut.
        settings: How to show NULL, and whether rows are shown one column on each line.
        left_out: After writing: number of columns that did not fit.
        is_cut: After writing: whether a value was cut.
    """

    width: int | None
    settings: ShellSettings
    left_out: int = field(default=0, init=False)
    is_cut: bool = field(default=False, init=False)

    def __call__(self, schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO) -> int:
        """Writes the rows, without their number."""
        if is_one_text(schema):
            return write_texts(batches, out)
        portions = cell_rows(schema, batches, self.settings.null)
        if self.settings.expanded == "on":
            return write_vertical_rows(schema, portions, out)
        first = next(portions)
        head = [printable(name) for name in schema.names]
        widths = [max(map(shown_width, column)) for column in zip(head, *first, strict=True)]
        fitting: list[int] | None = widths
        if self.width is not None:
            least = [
                min(width, max(shown_width(name), _LEAST_TEXT)) if _may_be_cut(kind) else width
                for width, name, kind in zip(widths, head, schema.types, strict=True)
            ]
            fitting = fitted_widths(widths, least, self.width)
            if fitting is None and self.settings.expanded == "auto" and first:
                return write_vertical_rows(schema, _with_first(first, portions), out)
            if fitting is None:
                fitting = self._as_many_as_fit(least, self.width)
        layout = _Layout(head, widths, fitting or widths)
        return self._write_aligned(schema, layout, _with_first(first, portions), out)

    def _as_many_as_fit(self, least: list[int], available: int) -> list[int]:
        shown = 1
        while shown < len(least) and sum(least[: shown + 1]) + 3 * (shown + 1) - 1 <= available:
            shown += 1
        self.left_out = len(least) - shown
        return least[:shown]

    def _write_aligned(
        self, schema: pa.Schema, layout: _Layout, portions: Iterator[list[tuple[str, ...]]], out: BinaryIO
    ) -> int:
        head, widths, fitting = layout.head, layout.widths, layout.fitting
        shown = len(fitting)
        limits = [fit if fit < width else None for fit, width in zip(fitting, widths, strict=False)]
        self.is_cut = any(limit is not None for limit in limits)
        out.write(aligned_head(list(_cut_row(head, limits)), fitting).encode())
        where = sides(schema)[:shown]
        count = 0
        for rows in portions:
            kept = rows
            if self.is_cut or self.left_out:
                kept = [_cut_row(row, limits) for row in rows]
            out.write(aligned_lines(kept, fitting, where).encode())
            count += len(rows)
        return count


@dataclass(frozen=True, slots=True)
class _Layout:
    """Printable names of the columns, the widths of their values, and the widths that fit the screen."""

    head: list[str]
    widths: list[int]
    fitting: list[int]


def _cut_row(row: Sequence[str], limits: list[int | None]) -> tuple[str, ...]:
    """The cells that fit, each cut to its limit."""
    return tuple(cell if limit is None else cut(cell, limit) for cell, limit in zip(row, limits, strict=False))


def _with_first(first: list[tuple[str, ...]], rest: Iterator[list[tuple[str, ...]]]) -> Iterator[list[tuple[str, ...]]]:
    yield first
    yield from rest


def _may_be_cut(data_type: pa.DataType) -> bool:
    """Whether values may be cut: a cut number or time would be a different value."""
    types = pa.types
    return bool(types.is_string(data_type) or types.is_binary(data_type) or types.is_nested(data_type))
