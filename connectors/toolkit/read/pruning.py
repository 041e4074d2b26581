"""Which parts of a file to read, by column statistics. On any doubt a part is kept (invariant I3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from connector_spi.errors import InvalidArgumentError
from connector_spi.handles import ColumnHandle
from connector_spi.predicate import Domain, Range, TupleDomain, Value, ValueSet
from connector_spi.scan_counters import count, is_counting

__all__ = ["MOST_FILTER_VALUES", "ColumnBounds", "count_parts", "may_match"]

MOST_FILTER_VALUES = 10_000
"""Of a filter of a table of files: bounds are looked up in them, and they travel to each task."""


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """What statistics say of a column in a file, stripe or row group. ``None`` is unknown.

    Attributes:
        low: A value below or equal to every value.
        high: A value above or equal to every value; for floats NaN may come on top.
        null_count: Number of NULLs.
        row_count: Number of rows.
    """

    low: Value | None = None
    high: Value | None = None
    null_count: int | None = None
    row_count: int | None = None

    def union(self, other: ColumnBounds) -> ColumnBounds:
        """Of the rows of both, where all is known of both: ``None`` as a bound says that there is no value."""
        lows = [bound for bound in (self.low, other.low) if bound is not None]
        highs = [bound for bound in (self.high, other.high) if bound is not None]
        nulls = (self.null_count or 0) + (other.null_count or 0)
        rows = (self.row_count or 0) + (other.row_count or 0)
        return ColumnBounds(min(lows, default=None), max(highs, default=None), nulls, rows)


def enclosing(parts: Sequence[ColumnBounds]) -> ColumnBounds:
    """Of the rows of all parts, as far as all of them say it."""
    with_values = [one for one in parts if one.null_count is None or one.null_count != one.row_count]
    lows = [one.low for one in with_values if one.low is not None]
    highs = [one.high for one in with_values if one.high is not None]
    known = len(lows) == len(highs) == len(with_values)
    nulls = [one.null_count for one in parts if one.null_count is not None]
    rows = [one.row_count for one in parts if one.row_count is not None]
    return ColumnBounds(
        min(lows, default=None) if known else None,
        max(highs, default=None) if known else None,
        sum(nulls) if len(nulls) == len(parts) else None,
        sum(rows) if len(rows) == len(parts) else None,
    )


def may_match(domain: Domain, bounds: ColumnBounds) -> bool:
    """Whether a row of the column may be in the domain; true on doubt.

    Args:
        domain: What is wanted.
        bounds: What is there; low and high are values of the domain's type, else they count as unknown.
    """
    nulls, rows = bounds.null_count, bounds.row_count
    if domain.null_allowed and nulls != 0:
        return True
    if rows is not None and nulls is not None and nulls >= rows:
        return domain.null_allowed and rows > 0
    present = _value_set(domain.type, bounds)
    return present is None or domain.values.overlaps(present)


def count_parts(
    what: str,
    parts: tuple[int, int],
    predicate: TupleDomain[ColumnHandle],
    matching: Callable[[TupleDomain[ColumnHandle]], Sequence[int]],
) -> None:
    """Counts for ``EXPLAIN ANALYZE`` the parts read and skipped, and those that the statistics of one column exclude.

    Args:
        what: Name of the parts in the plural.
        parts: How many the range of the file has, and how many of them may hold rows of the predicate.
        predicate: What was asked.
        matching: The parts that may hold rows of another predicate; called only where counts are kept.
    """
    if not is_counting():
        return
    asked, kept = parts
    count(f"{what} read", kept)
    count(f"{what} skipped", asked - kept)
    if kept == asked:
        return
    for column in predicate.domains or {}:
        left = matching(predicate.keep(lambda other, column=column: other == column))  # type: ignore[misc]
        if len(left) < asked:
            count(f"{what} that the statistics of {column.name} exclude", asked - len(left))


def _value_set(arrow: pa.DataType, bounds: ColumnBounds) -> ValueSet | None:
    # A NaN in the data is not in the statistics of most writers, and it sorts above all numbers.
    high = None if pa.types.is_floating(arrow) else bounds.high
    low = bounds.low
    if isinstance(low, float) and low != low:
        low = None
    if low is None and high is None:
        return None
    try:
        return ValueSet.of_ranges(arrow, [Range(arrow, low, low is not None, high, high is not None)])
    except (InvalidArgumentError, TypeError, ValueError, ArithmeticError):
        return None
