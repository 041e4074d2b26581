"""Which parts of a table can hold its first rows in an order, by what is known of each part. Driver side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cmp_to_key, partial

import pyarrow as pa

from connector_spi.optional.top_n import SortItem
from connector_spi.predicate import Value
from connectors.toolkit.read.pruning import ColumnBounds

__all__ = ["has_exact_order", "holds_first_rows"]


def has_exact_order(data_type: pa.DataType) -> bool:
    """Whether bounds that footers give exactly are in the order of the engine: see ``toolkit.read.aggregation``."""
    types = pa.types
    tests = (types.is_boolean, types.is_signed_integer, types.is_date32, types.is_decimal128)
    return any(test(data_type) for test in tests)


def holds_first_rows(parts: Sequence[ColumnBounds | None], count: int, item: SortItem) -> list[bool]:
    """For each part, whether one of the first ``count`` rows of all parts together can be in it.

    So many rows of some parts lie at or before a value, for sure, that no row behind it is among the first ones. Rows
    with the very value stay, as the order may go on by another column.

    Args:
        parts: What is known of the column in each part, all of it exactly; ``None`` where something is unknown.
        count: How many rows are wanted.
        item: The first column of the order.
    """
    order = cmp_to_key(partial(_compare, item))
    found = [None if bounds is None else _runs(bounds, item) for bounds in parts]
    runs = sorted((run for known in found if known is not None for run in known), key=lambda run: order(run[1]))
    seen = 0
    for _, last, rows in runs:
        seen += rows
        if seen >= count:
            limit = order(last)
            return [known is None or any(order(first) <= limit for first, _, _ in known) for known in found]
    return [True] * len(parts)


def _runs(bounds: ColumnBounds, item: SortItem) -> list[tuple[Value | None, Value | None, int]] | None:
    """First and last value, in the order, and number of rows: of the NULLs of a part, and of its other rows."""
    nulls, rows = bounds.null_count, bounds.row_count
    if nulls is None or rows is None:
        return None
    found: list[tuple[Value | None, Value | None, int]] = [(None, None, nulls)] if nulls else []
    if rows > nulls:
        if bounds.low is None or bounds.high is None:
            return None
        ends = (bounds.low, bounds.high) if item.ascending else (bounds.high, bounds.low)
        found.append((*ends, rows - nulls))
    return found


def _compare(item: SortItem, left: Value | None, right: Value | None) -> int:
    if left is None or right is None:
        unequal = (left is not None) - (right is not None)
        return unequal if item.nulls_first else -unequal
    ordered = (left > right) - (left < right)  # type: ignore[operator]
    return ordered if item.ascending else -ordered
