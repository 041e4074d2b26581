"""From what tasks have counted to statistics of a table's columns, with those of the rows before. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa

from catalog.metastore.model import ColumnStatistics
from connectors.hive.write.statistics.distinct_values import DistinctValues
from connectors.hive.write.statistics.written_columns import WrittenColumn

__all__ = ["added_to", "of_rows"]

_Bound = int | float | Decimal | date | datetime
_Choose = Callable[[_Bound, _Bound], _Bound]


def of_rows(parts: Sequence[WrittenColumn], hive_type: str, kind: pa.DataType, rows: int) -> ColumnStatistics:
    """The statistics of one column of all rows of a write.

    Args:
        parts: What was counted of it, in each file with rows.
        hive_type: Hive's text of its type.
        kind: Its type in Arrow.
        rows: Rows of all files.
    """
    nulls = sum(part.nulls for part in parts)
    present = rows - nulls
    name = parts[0].name.lower()
    trues = [part.true_count for part in parts if part.true_count is not None]
    if trues:
        return ColumnStatistics(name, hive_type, nulls, true_count=sum(trues), false_count=present - sum(trues))
    distinct = [part.distinct for part in parts if part.distinct is not None]
    # It is an estimate, and may be above what there is.
    different = min(DistinctValues.count(distinct, kind), present) if distinct else None
    sizes = [part.text_bytes for part in parts if part.text_bytes is not None]
    if sizes:
        longest = max(part.max_length or 0 for part in parts)
        average = sum(sizes) / present if present else 0.0
        return ColumnStatistics(
            name, hive_type, nulls, distinct_count=different, average_length=average, max_length=longest
        )
    low, high = _bounds(parts)
    return ColumnStatistics(name, hive_type, nulls, distinct_count=different, low=low, high=high)


def added_to(old: ColumnStatistics, old_rows: int, new: ColumnStatistics, new_rows: int) -> ColumnStatistics:
    """The statistics of rows that are there and of rows that are added to them.

    Different values are those of the part with the most, as in Hive and Trino: which of them are the same is not kept.

    Args:
        old: Of the rows that are there.
        old_rows: How many they are.
        new: Of the rows that are added.
        new_rows: How many they are.
    """
    old_present, new_present = _present(old, old_rows), _present(new, new_rows)
    lengths = [one for one in (old.max_length, new.max_length) if one is not None]
    average = None
    if old.average_length is not None and new.average_length is not None:
        size = old.average_length * old_present + new.average_length * new_present
        average = size / max(1, old_present + new_present)
    different = [one.distinct_count for one in (old, new) if one.distinct_count is not None]
    return ColumnStatistics(
        new.column,
        new.type,
        _sum(old.null_count, new.null_count),
        distinct_count=max(different) if len(different) == 2 else None,
        low=_bound((old.low, old_present), (new.low, new_present), min),
        high=_bound((old.high, old_present), (new.high, new_present), max),
        average_length=average,
        max_length=max(lengths) if len(lengths) == 2 else None,
        true_count=_sum(old.true_count, new.true_count),
        false_count=_sum(old.false_count, new.false_count),
    )


def _bounds(parts: Sequence[WrittenColumn]) -> tuple[_Bound | None, _Bound | None]:
    low: _Bound | None = None
    high: _Bound | None = None
    for part in parts:
        if part.low is None or part.high is None:
            if not part.is_null:
                return None, None
            continue
        low = part.low if low is None else min(low, part.low)  # type: ignore[assignment]
        high = part.high if high is None else max(high, part.high)  # type: ignore[assignment]
    return low, high


def _bound(old: tuple[_Bound | None, int], new: tuple[_Bound | None, int], choose: _Choose) -> _Bound | None:
    """The bound of both; ``None`` where one of them has values, and no bound."""
    known = [bound for bound, present in (old, new) if present]
    if not known or any(bound is None for bound in known):
        return None
    try:
        return choose(*known) if len(known) == 2 else known[0]  # type: ignore[arg-type]
    except TypeError:
        # The column had another type.
        return None


def _present(column: ColumnStatistics, rows: int) -> int:
    return max(0, rows - (column.null_count or 0))


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
