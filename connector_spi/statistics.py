"""What is known of a table's data without reading it."""

from __future__ import annotations

from dataclasses import dataclass

from connector_spi.predicate import Value
from connector_spi.serializable import Serializable

__all__ = ["ColumnStatistics", "TableStatistics"]


@dataclass(frozen=True, slots=True)
class ColumnStatistics(Serializable):
    """Statistics of a column; ``None`` is unknown.

    Attributes:
        null_fraction: Share of rows that are NULL, 0.0 to 1.0.
        distinct_values: Number of different values that are not NULL.
        size_bytes: Bytes of all values.
        low: Smallest value.
        high: Largest value.
        quantiles: Values that part the rows that are not NULL into groups of equal size, the smallest and the largest
            included: numbers, days since 1970 of dates, seconds since 1970 of timestamps. Empty is unknown.
    """

    null_fraction: float | None = None
    distinct_values: float | None = None
    size_bytes: int | None = None
    low: Value | None = None
    high: Value | None = None
    quantiles: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class TableStatistics(Serializable):
    """Statistics of what a handle would read; ``None`` is unknown, never zero.

    Attributes:
        row_count: Rows.
        size_bytes: Bytes.
        columns: By column name.
    """

    row_count: float | None = None
    size_bytes: int | None = None
    columns: tuple[tuple[str, ColumnStatistics], ...] = ()
