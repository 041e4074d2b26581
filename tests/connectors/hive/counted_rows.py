"""Rows of all types that have statistics, and what those of each column are."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa

from catalog.metastore.model import ColumnStatistics

__all__ = ["FOUND", "ROWS"]

ROWS = pa.table(
    {
        "n": pa.array([3, None, 1, 3], pa.int32()),
        "yes": pa.array([True, None, False, True]),
        "f": pa.array([1.5, -2.0, None, 1.5]),
        "odd": pa.array([1.0, float("nan"), None, 2.0]),
        "d": pa.array([Decimal("1.50"), None, Decimal("-7.25"), Decimal("1.50")], pa.decimal128(10, 2)),
        "day": pa.array([date(2024, 2, 29), None, date(1999, 1, 1), date(2024, 2, 29)]),
        "at": pa.array([datetime(2024, 1, 1, 5), None, datetime(2000, 1, 1), datetime(2024, 1, 1, 5)],
                       pa.timestamp("us")),
        "s": pa.array(["é", None, "abc", "é"]),
        "raw": pa.array([b"", None, b"12345", b""]),
        "tags": pa.array([[1], None, [], [1]], pa.list_(pa.int32())),
    }
)  # fmt: skip
FOUND = [
    ColumnStatistics("n", "int", 1, 2, 1, 3),
    ColumnStatistics("yes", "boolean", 1, true_count=2, false_count=1),
    ColumnStatistics("f", "double", 1, 2, -2.0, 1.5),
    ColumnStatistics("odd", "double", 1, 3),
    ColumnStatistics("d", "decimal(10,2)", 1, 2, Decimal("-7.25"), Decimal("1.50")),
    ColumnStatistics("day", "date", 1, 2, date(1999, 1, 1), date(2024, 2, 29)),
    ColumnStatistics("at", "timestamp", 1, 2, datetime(2000, 1, 1), datetime(2024, 1, 1, 5)),
    ColumnStatistics("s", "string", 1, 2, average_length=7 / 3, max_length=3),
    ColumnStatistics("raw", "binary", 1, 2, average_length=5 / 3, max_length=5),
]
